// What needs a person, over all projects: what is for the one who looks, then the oldest.

const inboxPage = (project, cursor, section) => question(project ? at(project, '/attention') : '/attention', { waiting: true, identity: me(), limit: 40, cursor, section }, onMatters(project));

// The sections of the inbox, with their headings.
const SECTIONS = { mine: 'For you', concern: 'Needs attention', waiting: 'Waiting for somebody' };

/** The first page of all sections, and the further pages of each that were opened so far. */
const inboxQuestions = (state, project) => ({
  first: inboxPage(project),
  ...Object.fromEntries(Object.keys(SECTIONS).map((name) => [name, (state[name] || []).map((cursor) => inboxPage(project, cursor, name))])),
});

const inbox = {
  title: 'Inbox',
  questions: (_, state, data) => ({
    ...inboxQuestions(state),
    open: question('/sessions', { all: true, open: true, limit: 60 }, onSessions()),
    projects: data.open && !data.open.items.length && data.first && !data.first.total ? question('/projects', {}, () => true) : null,
  }),
  draw: (data, _, state) => {
    if (data.projects && !data.projects.items.length) {
      return [h('h1', {}, 'No project yet'), empty(h('p', {}, 'Run '), h('code', {}, 'baton init'), h('p', {}, 'in a repository, or '), h('code', {}, 'baton demo'), h('p', {}, 'to see a hand-off.'))];
    }
    const working = data.open.items.filter((one) => one.fresh);
    const isMore = Boolean(data.open.next || data.open.more);
    return [h('div.row', {}, h('h1', {}, 'Inbox'), h('span.push', {}, button(whoWords(), askName, 'quiet more'))), matters(data, state), h('h2', {}, working.length || !isMore ? `At work (${working.length}${isMore ? ' and more' : ''})` : 'At work'),
      working.length ? h('ul.grid', { key: 'at work' }, working.map((one) => works(one, one.project_id)))
        : isMore ? h('p', {}, 'The sessions that were heard of longest ago are silent. ', h('a', { href: '#/agents' }, 'Agents'), ' lists all that are open.') : empty('Nobody is at work.')];
  },
};

/** Under which name one looks. Who may only look acts under none, and may choose whose matters come first. */
function whoWords() {
  if (me()) return `I am ${me()}`;
  return canWrite() ? 'Say who you are…' : 'Whose come first…';
}

/** Whose matters come first. */
function askName() {
  ask('Whose inbox is it?', [h('p', {}, canWrite() ? 'What is addressed to this name comes first; the page acts under it.' : 'What is addressed to this name comes first. Your token may only look.'), nameField()], 'Use it', async ({ identity }) => {
    if (!isName(identity)) throw new Problem(422, { message: `“${identity}” is not an identity`, hint: 'Use 1 to 64 letters, digits, “.”, “_” and “-”, beginning with a letter or digit.' });
    setMe(identity);
    draw();
  });
}

/** So many matters of one's own are counted at most. */
const MOST_OWN = 500;

const FRESH = new Set(['baton_waiting', 'handoff_waiting', 'message_waiting', 'answer_waiting']);

/** Matters in their sections, with exact totals, and the rest of each behind a button of its own. */
function matters(data, state) {
  const { first } = data;
  const keyOf = (one) => one.reason + one.id;
  const own = new Set([...first.mine, ...joinedItems(data.mine)].map(keyOf));
  const parts = {
    mine: first.mine,
    concern: first.items.filter((one) => !FRESH.has(one.reason) && !own.has(keyOf(one))),
    waiting: first.items.filter((one) => FRESH.has(one.reason) && !own.has(keyOf(one))),
  };
  const section = ([name, title]) => {
    // What moved from one page to another since it was read is shown once.
    const rows = [...new Map([...parts[name], ...joinedItems(data[name])].map((one) => [keyOf(one), one])).values()];
    const total = Math.max(first.sections[name], rows.length);
    if (!total) return null;
    const last = data[name].filter(Boolean).at(-1);
    const next = last ? last.next : name === 'mine' ? first.mine_next : first.next;
    // The server counts what is somebody's own up to a number: from there on there may be more.
    const plus = name === 'mine' && total >= MOST_OWN ? '+' : '';
    const left = total - rows.length;
    return [h('h2', { key: `heading ${name}` }, `${title} (${total}${plus})`), rows.length ? h('ul.matters', { key: `matters ${name}` }, rows.map(matter)) : null,
      next && left ? h('p', { key: `more ${name}` }, h('button.more', { type: 'button', 'aria-label': `Show more (${left}${plus} more): ${title}`, onclick: () => { state[name] = [...(state[name] || []), next]; draw(); } }, `Show more (${left}${plus} more)`)) : null];
  };
  const sections = Object.entries(SECTIONS).map(section);
  return sections.some(Boolean) ? sections : [h('h2', {}, 'Waiting for somebody (0)'), empty('Nothing waits. When an agent wraps its session, its baton appears here.')];
}

const joinedItems = (pagesOf) => pagesOf.filter(Boolean).flatMap((one) => one.items);

const mailOf = (one) => `#/mail/${part(one.project_id)}/${one.id}`;

/** The kind of a message that waits, from the word before its subject. */
const kindOf = (one) => (/^(Question|Blocker): /.exec(one.subject || '')?.[1].toLowerCase() || 'message');

/** What a message to the viewer is: only a question waits for an answer. */
const saidToMe = (one) => ({ question: `${one.from} waits for your answer`, blocker: `${one.from} tells you of a blocker` }[kindOf(one)] || `${one.from} wrote to you`);

/** A question that was read: who asked waits for an answer. */
const unansweredTitle = (one) => (isMe(one.to) ? saidToMe(one) : isMe(one.from) ? `${one.to} has read your ${kindOf(one)} and not answered` : `${one.to} has read ${one.from}’s ${kindOf(one)} and not answered`);

/** One's own hand-off says to whom it goes, another's from whom it comes. */
function offerTitle(one) {
  const [project, name] = (one.from || '').split('/');
  return isMe(name) && project ? `Hand-off to ${one.to ? `${one.project_id}/${one.to}` : one.project_id}` : `Hand-off from ${one.from}`;
}

const REASONS = {
  session_silent: ['silent', 'bad', (one) => `${one.from} is silent`, (one) => sessionAt(one.project_id, one.id)],
  session_quiet: ['quiet', 'gold', (one) => `${one.from} is at work and says nothing`, (one) => sessionAt(one.project_id, one.id)],
  handoff_failed: ['failed', 'bad', (one) => `Hand-off to ${one.to} failed`, (one) => `#/handoff/${one.id}`],
  handoff_stuck: ['stuck', 'bad', (one) => `Hand-off to ${one.to} is stuck`, (one) => `#/handoff/${one.id}`],
  handoff_starving: ['starving', 'gold', offerTitle, (one) => `#/handoff/${one.id}`],
  handoff_waiting: ['offered', 'gold', offerTitle, (one) => `#/handoff/${one.id}`],
  handoff_returned: ['came back', 'bad', (one) => `Hand-off to ${one.to} came back`, (one) => `#/handoff/${one.id}`],
  baton_starving: ['starving', 'gold', (one) => `Baton from ${one.from}`, (one) => batonAt(one.project_id, one.id)],
  baton_waiting: ['open', 'gold', (one) => `Baton from ${one.from}`, (one) => batonAt(one.project_id, one.id)],
  message_unread: ['unread', 'bad', (one) => (isMe(one.to) ? saidToMe(one) : `${one.to} has not read ${one.from}’s ${kindOf(one)}`), mailOf],
  message_waiting: ['new', 'gold', (one) => (isMe(one.to) ? saidToMe(one) : `${one.from} wrote to ${one.to}`), mailOf],
  answer_late: ['no answer', 'bad', unansweredTitle, mailOf],
  answer_waiting: ['read', 'gold', unansweredTitle, mailOf],
  ack_late: ['late', 'bad', (one) => (isMe(one.to) ? `${one.from} waits for your acknowledgement` : `${one.to} has not acknowledged ${one.from}’s message`), mailOf],
  task_retried: ['retried', 'bad', (one) => (one.blocked ? `Task ${one.id} failed again and again, and is blocked` : `Task ${one.id} fails again and again`), (one) => `#/task/${part(one.project_id)}/${part(one.id)}`],
  task_blocked: ['blocked P0', 'bad', (one) => `Task ${one.id} cannot go on`, (one) => `#/task/${part(one.project_id)}/${part(one.id)}`],
  working_copy_shared: ['one copy', 'bad', (one) => `${listed(one.agents || [one.to, one.from])} are at work in one working copy`, (one) => sessionAt(one.project_id, one.id)],
  lease_conflict: ['conflict', 'bad', (one) => `${one.from} and ${one.to} work on the same files`, (one) => `#/project/${part(one.project_id)}/paths`],
};

/** Names as a sentence has them. */
const listed = (names) => [names.slice(0, -1).join(', '), names.at(-1)].filter(Boolean).join(' and ');

/** Why a task waits, with a link to what it waits for. */
function detailWithLink({ detail, blocker, project_id: project }) {
  const [before, ...after] = detail.split(blocker.id);
  return [before, h('a', { href: `#/task/${part(project)}/${part(blocker.id)}` }, blocker.id), after.join(blocker.id)];
}

/** One matter: its reason, its words, its age, and what helps. */
function matter(one) {
  const [word, tone, title, href] = REASONS[one.reason] || ['?', '', () => one.reason, () => '#/'];
  const act = deeds(one, href(one));
  const chipWord = /_starving$/.test(one.reason) && isMe(one.to) ? 'waits for you' : one.blocked ? 'blocked' : word;
  return h('li.card.matter', { key: one.reason + one.id, 'data-row': true },
    h('div.row', {}, chip(chipWord, tone), h('h3', {}, h('a', { href: href(one) }, title(one))), h('span.push', {}, act)),
    one.subject ? h('p.words', { title: one.subject }, withInstants(one.subject)) : null,
    one.detail ? h('p.error', {}, one.blocker ? detailWithLink(one) : errorText(one.detail)) : null,
    h('p.meta', {}, toProject(one.project_id), ' · ', one.to && /^(baton|task|message|answer|ack|handoff_waiting)/.test(one.reason) && !isMe(one.to) ? `for ${one.to} · ` : '', ago(one.since)),
    h('details.help', {}, h('summary', {}, 'In a terminal'), command(one.help)));
}

const letterOf = (one) => ({ message_id: one.id, from: one.from, to: one.to, subject: one.subject });

/** What can be done about a matter, the first thing first; what offers nothing is read. */
const deeds = (one, href) => rowOffers(one) || button('Open', () => { location.hash = href; });

const dot = (one) => chip(one.live ? 'live' : one.fresh ? 'quiet' : 'silent', one.live ? 'good' : one.fresh ? '' : 'bad');
const whereabouts = (one) => (one.place ? [one.place.branch, one.place.root?.split('/').at(-1)].filter(Boolean).join(' in ') : '');

function works(one, project) {
  return h('li.card', { key: one.session_id, 'data-row': true },
    h('div.row', {}, h('h3', {}, h('a', { href: sessionAt(project, one.session_id) }, one.identity)), dot(one)),
    one.last_checkpoint ? h('p.words', {}, one.last_checkpoint.summary) : null,
    (one.tasks || []).map((task) => h('p.words', {}, h('a', { href: `#/task/${part(project)}/${part(task.id)}` }, task.title))),
    h('p.meta', {}, toProject(project), ` · ${toolOf(one) || 'unknown tool'} · last heard `, ago(one.last_heartbeat), whereabouts(one) ? ` · ${whereabouts(one)}` : ''));
}

/** What a session wrote in each of the last hours, as a line; in words for who does not see it. */
function spark(counts) {
  const most = Math.max(...counts, 1);
  const all = counts.reduce((sum, one) => sum + one, 0);
  const entries = (count) => `${count} ${count === 1 ? 'entry' : 'entries'}`;
  const words = all ? `${entries(all)} in the last ${counts.length} hours, ${counts.at(-1)} in the last one` : 'wrote nothing in the last 12 hours';
  const points = counts.map((count, index) => `${2 + (index * 68) / Math.max(1, counts.length - 1)},${16 - (count / most) * 14}`).join(' ');
  return s('svg.spark', { viewBox: '0 0 72 18', width: 72, height: 18, role: 'img', 'aria-label': words }, s('title', {}, words), s('polyline.rate', { points }));
}

const brief = (count) => (count < 1000 ? String(count) : count < 1e6 ? `${(count / 1e3).toFixed(1)}k` : `${(count / 1e6).toFixed(1)}M`);

/** The tokens that a tool told of. */
function cost(tokens) {
  const { input = 0, cache_read: read = 0, cache_write: written = 0, output = 0 } = tokens;
  return h('span', { title: `${input} read, ${read} from a cache, ${written} into a cache, ${output} written` }, brief(input + read + written + output));
}

/** A row for each agent that has an open session. */
const agents = {
  title: 'Agents',
  questions: (_, state) => ({ pages: pages((cursor) => question('/sessions', { all: true, open: true, limit: 100, cursor }, onSessions()), state) }),
  draw: (data, _, state) => {
    const found = joined(data.pages);
    const row = (one) => h('tr', { key: one.session_id, 'data-row': true },
      h('td', {}, h('a', { href: sessionAt(one.project_id, one.session_id) }, one.identity)), h('td', {}, dot(one)),
      h('td.minor', {}, toProject(one.project_id)), h('td.minor', {}, toolOf(one)), h('td.minor', {}, whereabouts(one)),
      h('td', {}, one.baton_id ? h('div', {}, toBaton(one.project_id, one.baton_id, 'a baton')) : null, (one.tasks || []).map((task) => h('div', {}, h('a', { href: `#/task/${part(one.project_id)}/${part(task.id)}` }, task.title))), one.leases?.length ? h('div', {}, one.leases.map((pattern, index) => [index ? ', ' : '', h('code', {}, pattern)])) : null,
        (one.handoffs || []).map((accepted) => h('div', {}, h('a', { href: `#/handoff/${part(accepted.handoff_id)}` }, `hand-off ${accepted.subject}`)))),
      h('td', {}, one.last_checkpoint?.summary || '', one.last_checkpoint ? h('span.meta', {}, ' ', ago(one.last_checkpoint.at)) : null),
      h('td', {}, h('span.narrow', {}, 'heard '), ago(one.last_heartbeat)),
      h('td.figures', {}, spark(one.activity || [])), h('td.figures', {}, one.tokens ? [cost(one.tokens), h('span.narrow', {}, ' tokens')] : null),
      h('td.figures', {}, rowOffers(asRow(one))));
    return [h('h1', {}, 'Agents'), h('p.meta', {}, 'Every open session: silent ones first, then who saved longest ago, as it was when you came. ', button('Sort again (n)', showNew, 'quiet more')),
      found.items.length ? h('div.scroll', { tabindex: 0, role: 'region', 'aria-label': 'Agents' }, h('table.list.agents', {},
        h('thead', {}, h('tr', {}, ['Agent', 'State', 'Project', 'Tool', 'Place', 'Holds', 'Last checkpoint', 'Heard of', 'Last 12 hours', 'Tokens', 'Actions'].map((one) => h('th', { scope: 'col' }, one)))),
        h('tbody', {}, [...new Map(found.items.map((one) => [one.session_id, one])).values()].map(row)))) : empty('Nobody is at work.'),
      found.next ? h('p', {}, button('Show more', () => { state.cursors = [...(state.cursors || []), found.next]; draw(); }, 'more')) : null];
  },
};

const chosen = (base, states, current) => h('p.tabs', { role: 'group', 'aria-label': 'State' }, states.map(([key, word]) => h('a.tab', { href: `#/${base}/${key}`, 'aria-current': key === current ? 'true' : null }, word)));

const projects = {
  title: 'Projects',
  questions: () => ({ overview: question('/overview', { limit: 200 }, (event) => event.kind !== 'note' && (SESSION_EVENTS.has(event.kind) || event.kind === 'other')), known: question('/projects', {}, (event) => event.kind === 'other') }),
  draw: ({ overview, known }, _params, _view, names = new Map(known.items.map((one) => [one.project_id, one.name]))) => [h('h1', {}, 'Projects'), h('h2.hidden', {}, 'List'), h('ul.grid', {}, overview.items.map((card) => h('li.card', { key: card.project_id, 'data-row': true },
    h('h3', {}, toProject(card.project_id, names.get(card.project_id)), names.get(card.project_id) ? ` (id ${card.project_id})` : ''),
    h('p.meta', {}, card.is_isolated ? 'isolated' : `${counted(card.sessions.length, 'open session')} · ${counted(card.open_tasks, 'open task')}`),
    card.last_wrap ? h('p', {}, card.last_wrap.last_wrapped_summary) : null))),
  overview.total > overview.items.length ? h('p.quiet', {}, `${overview.total - overview.items.length} more projects: search finds them.`) : null],
};
