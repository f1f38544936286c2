// One project: the way of the baton, what waits, tasks by role and state, mail, decisions, the ledger as it grows.

/** The newest entries of an answer, the newest first. */
const newestRows = (answer) => answer.items.slice(-FEED_ROWS).reverse();

/** New entries of the ledger come with the events: nothing is asked for. */
function addToLedger(event) {
  for (const one of shown) {
    if (one.ledgerOf !== event.project_id) continue;
    const held = answers.get(one.key);
    if (!held?.data || held.data.items.some((row) => row.seq === event.seq)) continue;
    held.data.items.push(event);
    if (held.data.items.length > FEED_ROWS * 2) held.data.items.splice(0, FEED_ROWS);
    countNew(() => newestRows(held.data));
  }
}

const project = {
  title: 'Project',
  questions: ([id], state) => {
    const ledger = question(at(id, '/ledger'), { limit: FEED_ROWS, brief: true, newest: true });
    ledger.ledgerOf = id;
    return {
      show: question(at(id, ''), {}, on(new Set(['other']), id)),
      history: question(at(id, '/sessions'), { limit: 60 }, onSessions(id)),
      ...inboxQuestions(state, id),
      // What can be done with a hand-off the server says, here as in every list.
      handoffs: question(at(id, '/handoffs'), { actions: true, identity: me(), limit: 200 }, onWaiting(id), { optional: true }),
      card: question(at(id, '/status'), {}, on(new Set(['handoff', 'change']), id)),
      board: question(at(id, '/board'), {}, onTasks(id)),
      leases: question(at(id, '/leases'), {}, onLeases(id)),
      mail: question(at(id, '/threads'), { limit: 20 }, onChange(id)),
      decisions: question(at(id, '/ledger'), { limit: 20, newest: true, kind: 'decision' }, (event) => event.project_id === id && event.kind === 'decision'),
      ledger,
    };
  },
  draw: (data, [id], view) => {
    const offered = new Map((data.handoffs?.items || []).map((one) => [one.handoff_id, one]));
    const { show, history, card, board, leases, mail, decisions, ledger } = data;
    const about = [show.phase, ...(show.focus || [])].filter(Boolean).join(' · ');
    const working = history.items.filter((one) => !one.released_at && one.fresh);
    return [
      h('div.row', {}, h('h1', {}, show.name ? `${show.name} (${id})` : id), h('span.push', {}, deed('New task', () => newTask(id)), ' ', deed('Write…', () => write(id), 'quiet'))),
      projectTabs(id, 'project'),
      about ? h('p.meta', {}, about) : null,
      matters(data, view),
      h('h2', {}, 'The way of the baton'),
      history.items.length ? timeline(id, history.items, view) : empty('No session yet. ', h('code', {}, 'baton start'), ' begins one.'),
      history.more ? h('p.quiet', {}, 'Only the newest sessions are drawn. ', h('a', { href: `#/sessions/${part(id)}` }, 'All sessions'), ' · ', h('a', { href: `#/batons//${part(id)}` }, 'all batons')) : null,
      card.sent?.length ? [h('h2', {}, `Sent hand-offs (${card.sent.length})`), h('ul.grid', { key: 'sent' }, card.sent.map((one) => sentHandoff(one, offered.get(one.handoff_id))))] : null,
      working.length ? [h('h2', {}, `At work (${working.length})`), h('ul.grid', { key: 'at work' }, working.map((one) => works(one, id)))] : null,
      leases.items.length ? [h('h2', { id: 'paths', tabindex: -1 }, `Paths (${leases.items.length})`), h('ul.feed', { key: 'paths' }, leases.items.map(path))] : null,
      h('div.row', {}, h('h2', {}, 'Tasks by role and state'), h('span.meta', {}, h('a', { href: `#/tasks/${part(id)}` }, 'all tasks'))), boardOf(id, board.items, view),
      mail.items.length ? [h('div.row', {}, h('h2', {}, 'Mail'), mail.more ? h('span.meta', {}, h('a', { href: `#/mailbox/${part(id)}` }, 'all threads')) : null), h('ul.grid', { key: 'mail' }, mail.items.map((one) => letters(id, one)))] : null,
      decisions.items.length ? [h('div.row', {}, h('h2', {}, 'Decisions'), h('span.meta', {}, h('a', { href: decisionsAt(id) }, 'all decisions'), ' · ', h('a', { href: decisionsAt() }, 'of all projects'))), h('ul.feed', { key: 'decisions' }, [...decisions.items].reverse().map(entry))] : null,
      h('div.row', {}, h('h2', {}, 'Ledger'), h('span.meta', {}, h('a', { href: ledgerAt(id, []) }, 'filter it'), canOperate() ? [' · ', h('a', { href: `#/shares/${part(id)}` }, 'shares')] : null)), feed(view, newestRows(ledger)),
    ];
  },
};

/** Who works on which paths, since when, and what for. */
function path(one) {
  return h('li', { key: one.lease_id }, h('span.meta', {}, 'since ', ago(one.taken_at)), h('strong', {}, one.holder),
    h('span', {}, h('code', {}, one.pattern), ' ', one.why || '', ' ', chip(one.advisory ? `${one.mode}, advisory` : one.mode),
      h('span.meta', {}, ` until ${new Date(one.expires_at).toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' })}`, [one.branch, one.folder?.split('/').at(-1)].filter(Boolean).map((place) => ` · ${place}`).join(''))));
}

/** What words are that came beside a hand-off. */
const LATE = { result: 'Late result', reason: 'Late reason', remark: 'Remark' };

/** A hand-off that the project sent: who has it or ended it, why it stands where it stands, and the command that helps. */
function sentHandoff(one, known) {
  // Two answers, one of which may be older: what could be done in another state is not offered.
  const offers = known?.state === one.state ? rowOffers(known) : null;
  const answered = one.state === 'completed' || one.state === 'declined';
  return h('li.card', { key: one.handoff_id, 'data-row': true },
    h('div.row', {}, state(one.state), h('h3', {}, h('a', { href: `#/handoff/${part(one.handoff_id)}` }, one.subject || one.handoff_id.slice(0, 13))),
      offers ? h('span.push', {}, offers) : null),
    one.why ? h(one.state === 'failed' ? 'p.error' : 'p.words', {}, answered ? `“${one.why}”` : errorText(one.why)) : null,
    one.late ? h('p.words', {}, `${LATE[one.late.kind ?? 'result']} of ${one.late.by}${one.late.result ? `: “${one.late.result}”` : ''}`) : null,
    h('p.meta', {}, 'to ', toProject(one.to_project_id), one.ended_by || one.holder ? ` · by ${one.ended_by ? actorOf(one.ended_by, one.ended_by_type) : one.holder}${one.in_place_of ? ` in ${one.in_place_of}’s place` : ''}` : '', one.replaced_by ? [' · ', h('a', { href: `#/handoff/${part(one.replaced_by)}` }, 'left anew')] : null, ' · ', ago(one.updated_at)),
    one.help ? h('details.help', {}, h('summary', {}, 'In a terminal'), command(one.help)) : null);
}

/** All sessions of a project, page by page. */
const sessions = {
  title: 'Sessions',
  questions: ([id], state) => ({ pages: pages((cursor) => question(at(id, '/sessions'), { limit: 60, cursor }, onSessions(id)), state) }),
  draw: (data, [id], state) => {
    const found = joined(data.pages);
    return [h('h1', {}, 'Sessions'), h('h2.hidden', {}, 'List'), h('p.meta', {}, toProject(id)), projectTabs(id, 'sessions'),
      h('ul.grid', {}, found.items.map((one) => works(one, id))),
      found.next ? h('p', {}, button('Show more', () => { state.cursors = [...(state.cursors || []), found.next]; draw(); }, 'more')) : null];
  },
};

const words = (delta) => delta.summary ?? ([delta.body?.text || delta.body?.what || delta.body?.summary, delta.body?.why ? `(${delta.body.why})` : ''].filter(Boolean).join(' '));

/** Where what an entry of the ledger is about is read: its own thing, else the session that wrote it. */
function placeOfEntry({ project_id: project, delta_id: id, kind, about, session_id: session }) {
  if (kind === 'wrap') return batonAt(project, id);
  if (about?.handoff_id) return `#/handoff/${part(about.handoff_id)}`;
  if (about?.task_id) return `#/task/${part(project)}/${part(about.task_id)}`;
  if (about?.memory_id) return memoryAt(project, about.memory_id);
  if (about?.baton_id) return batonAt(project, about.baton_id);
  return session ? sessionAt(project, session) : null;
}

function entry(delta) {
  const href = placeOfEntry(delta);
  const kind = chip(delta.kind);
  return h('li', { key: delta.delta_id, 'data-row': true }, h('span.meta', {}, ago(delta.created_at)), h('span', {}, href ? h('a', { href, 'aria-label': `${delta.kind} of ${delta.identity}` }, kind) : kind, ' '),
    h('span', {}, h('strong', {}, delta.identity), ' ', words(delta) || ''));
}

function newTask(id) {
  ask('New task', [nameField(), field('Title', 'title', { required: true, maxlength: 500 }), field('Description', 'description', {}, 'textarea'),
    field('Role', 'agent_role', { placeholder: 'implementation, testing, …' })], 'Create', async (given, send) => {
    const made = await send('POST', at(id, '/tasks'), given);
    notice(`Task ${made.id} was created.`);
    location.hash = `#/task/${part(id)}/${part(made.id)}`;
  });
}
