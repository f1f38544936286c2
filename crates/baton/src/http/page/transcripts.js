// Sessions of other tools on the server's machine: found by filters and words, read beside the hand-off that would be made of one.

/** The tools whose sessions were seen, for the filter. */
const toolsSeen = new Set();
/** In which tools a session goes on. */
const STARTED = [/*AGENTS*/];
const LAST = 200;
let typing = 0;

const transcripts = {
  title: 'Transcripts',
  questions: ([agents = '', project = '', days = ''], state) => {
    state.since ??= days ? Date.now() - Number(days) * 86400000 : null;
    const narrowed = { agents, project, since_ms: state.since };
    const words = (state.words || '').trim();
    return {
      found: question('/transcripts', { ...narrowed, limit: 200 }, on(new Set(['other']))),
      projects: question('/projects', {}),
      // What was said is indexed by the first search; the next ones only look.
      search: words.length > 2 ? question('/transcripts/search', { ...narrowed, query: words, limit: 50, no_refresh: state.isIndexed || null }, null, { optional: true }) : null,
    };
  },
  draw: ({ found, projects, search }, [agents = '', project = '', days = ''], view) => {
    if (search?.items) view.isIndexed = true;
    found.items.forEach((one) => toolsSeen.add(one.agent));
    const wanted = (view.words || '').trim().toLowerCase();
    const text = (one) => `${one.title || ''} ${one.agent} ${one.cwd || ''} ${one.branch || ''} ${one.id}`.toLowerCase();
    const named = found.items.filter((one) => text(one).includes(wanted));
    const keys = new Set(named.map((one) => one.agent + one.id));
    const said = (search?.items || []).filter((one) => !keys.has(one.agent + one.id));
    return [
      h('h1', {}, 'Transcripts'), h('h2.hidden', {}, 'List'),
      h('p.meta', {}, `${found.total} sessions of coding agents on the server’s machine, newest first.`),
      narrowing({ agents, project, days }, projects.items, view),
      named.length ? h('ul.grid', {}, named.map((one) => sessionCard(one))) : null,
      said.length ? [h('h2', {}, `Said in (${search.total})`), h('ul.grid', {}, said.map((one) => sessionCard(one, one.snippet)))] : null,
      search?.error ? trouble(search.error) : null,
      named.length || said.length ? null : empty(found.items.length ? 'No session has these words, in its title or in what was said.' : 'No session of a coding agent was found here.'),
    ];
  },
};

function sessionCard(one, snippet) {
  return h('li.card', { key: one.agent + one.id, 'data-row': true },
    h('h3', {}, h('a', { href: `#/transcript/${part(one.agent)}/${part(one.id)}` }, one.title || one.id)),
    snippet ? h('p', {}, snippet) : null,
    h('p.meta', {}, chip(one.agent), ' ', one.cwd || '', one.branch ? ` · ${one.branch}` : '', ' · ', ago(one.updated_at || one.created_at)));
}

/** Filters that stand in the address, and words that are searched as they are typed. */
function narrowing(now, known, view) {
  const options = (rows, chosenOne) => rows.map(([value, word]) => h('option', { value, selected: value === chosenOne }, word));
  const go = (given) => { location.hash = `#/transcripts/${[given.agents, given.project, given.days].map(part).join('/').replace(/\/+$/, '')}`; };
  const choice = (name, label, rows) => h('span.filter', {}, h('label', { for: `by-${name}` }, label),
    h('select', { id: `by-${name}`, name, onchange: (event) => go({ ...now, [name]: event.target.value }) }, options(rows, now[name])));
  const tools = [...new Set([...toolsSeen, now.agents].filter(Boolean))].sort();
  return h('form.filters', { onsubmit: (event) => event.preventDefault() },
    h('span.filter', {}, h('label', { for: 'narrow' }, 'Words'), h('input', {
      id: 'narrow', type: 'search', autocomplete: 'off', value: view.words || '',
      oninput: (event) => { view.words = event.target.value; clearTimeout(typing); typing = setTimeout(draw, 250); },
    })),
    choice('agents', 'Tool', [['', 'all'], ...tools.map((one) => [one, one])]),
    choice('project', 'Project', [['', 'all'], ...known.map((one) => [one.project_id, one.project_id])]),
    choice('days', 'Since', SPANS));
}

const transcript = {
  title: 'Transcript',
  questions: ([agent, id], state) => ({
    made: question(`/transcripts/${part(id)}/handoff`, { agent }),
    read: question(`/transcripts/${part(id)}`, { agent, last: state.last || LAST }),
  }),
  draw: ({ made, read }, [agent, id], state) => [
    h('div.row', {}, h('h1', {}, read.title || 'Transcript'), h('span.push', {}, button('Assign…', () => assign(agent, made), 'main'))),
    h('p.meta', {}, chip(agent), ` ${id} · about ${made.tokens || '?'} tokens handed over`),
    h('div.row', {}, h('label', { for: 'go-on-in' }, 'Continue in'), h('select', { id: 'go-on-in', onchange: (event) => { state.tool = event.target.value; draw(); } }, STARTED.map((one) => h('option', { value: one, selected: one === (state.tool || STARTED[0]) }, one))),
      command(`baton continue ${id} --in ${state.tool || STARTED[0]}`)),
    h('div.beside', {},
      h('section', {}, h('h2', {}, 'What the next agent would get'), documentOf(made.document, 'Hand-off document')),
      h('section', {}, h('h2', {}, 'The conversation'),
        read.left_out ? h('p', {}, button(`Show earlier (${read.left_out} more)`, () => { state.last = (state.last || LAST) * 4; draw(); }, 'more')) : null,
        h('div.talk', { tabindex: 0, role: 'region', 'aria-label': 'The conversation' }, h('ol', {}, read.messages.map(spoken))))),
  ],
};

/** What was said; what tools did is folded. */
function spoken(one) {
  const key = `${one.line} ${one.role} ${one.text.length}`;
  const name = one.subagent ? `${one.role} of ${one.subagent}` : one.role;
  if (one.role !== 'tool' && one.role !== 'result') return h('li', { key, class: one.role }, h('span.meta', {}, name), h('p', {}, one.text));
  return h('li', { key, class: one.role }, h('details', {}, h('summary', {}, h('span.meta', {}, name), ' ', h('code', {}, one.text.split('\n', 1)[0].slice(0, 120))), h('pre', {}, one.text)));
}

/** Makes a baton of the session, for somebody or for whoever comes first; what it says is shown before it is sent. */
async function assign(agent, made) {
  const known = (await api('GET', '/projects')).items.map((one) => one.project_id);
  const likely = known.length === 1 ? known[0] : '';
  ask('Assign this session', [
    h('p', {}, 'A baton is made of it and waits in the project. Without a name and a role it is for whoever comes first.'),
    nameField(),
    field('Project', 'project', { value: likely, required: true, list: 'known-projects', autocomplete: 'off' }),
    h('datalist', { id: 'known-projects' }, known.map((one) => h('option', { value: one }))),
    field('For: a name or a tool', 'to', { maxlength: 64 }), field('Or a role', 'role', { maxlength: 64 }),
    h('p', {}, 'What will be handed over:'), documentOf(made.document, 'What will be handed over'),
  ], 'Assign', async ({ identity, project, to, role }, send) => {
    const left = await send('POST', `/transcripts/${part(made.id)}/import`, { agent, project, to, role });
    notice(left.imported_before ? 'This session was assigned before, as it is now.' : `The baton waits for ${to || role || 'whoever comes first'}.`);
    location.hash = batonAt(left.project_id, left.baton_id);
  });
}
