// The ledger of a project, the newest first, with filters that stand in the address.

const KINDS = ['', 'start', 'pickup', 'checkpoint', 'wrap', 'handoff', 'release', 'note', 'remember', 'decision', 'research', 'methodology', 'other'];
const SPANS = [['', 'ever'], ['1', 'a day'], ['7', 'a week'], ['30', '30 days']];

const ledger = {
  title: 'Ledger',
  questions: ([id, kind = '', identity = '', text = '', days = '', session = ''], state) => {
    state.since ??= days ? Date.now() - Number(days) * 86400000 : null;
    const isWanted = (event) => event.project_id === id && (!kind || event.kind === kind) && (!session || event.session_id?.startsWith(session)) && (!identity || event.identity.toLowerCase() === identity.toLowerCase());
    return { pages: pages((before) => question(at(id, '/ledger'), { newest: true, brief: true, limit: 60, kind, by: identity, text, session, since_ms: state.since, before }, before ? null : isWanted), state) };
  },
  draw: (data, [id, kind = '', identity = '', text = '', days = '', session = ''], state) => {
    const all = data.pages.filter(Boolean);
    const [newest = [], ...older] = all.map((one) => [...one.items].reverse());
    // Older pages follow the rows that are shown, and not those that came since.
    if (!state.rows?.length) state.earlier = all[0].earlier;
    const next = older.length ? all.at(-1).earlier : state.earlier;
    return [h('div.row', {}, h('h1', {}, 'Ledger'), h('span.meta', {}, toProject(id), session ? ` · session ${session.slice(0, 13)}` : '')),
      projectTabs(id, 'ledger'), filters(id, { kind, identity, text, days, session }),
      newest.length || older.length ? feed(state, newest, older.flat()) : empty('No entry that was looked at fits these filters.'),
      next ? h('p', {}, button('Show older', () => { state.cursors = [...(state.cursors || []), next]; draw(); }, 'more')) : null];
  },
};

const ledgerAt = (id, parts) => `#/ledger/${[id, ...parts].map(part).join('/').replace(/\/+$/, '')}`;

/** A labelled control of a form that narrows a list. */
const filter = (name, label, control) => h('span.filter', {}, h('label', { for: `by-${name}` }, label), control);

/** What narrows the ledger. It is sent as a whole, so that typing asks for nothing. */
function filters(id, now) {
  const options = (rows, chosenOne) => rows.map(([value, word]) => h('option', { value, selected: value === chosenOne }, word));
  return h('form.filters', {
    onsubmit: (event) => {
      event.preventDefault();
      const given = Object.fromEntries(new FormData(event.target));
      location.hash = ledgerAt(id, [given.kind, given.identity.trim(), given.text.trim(), given.days, now.session]);
    },
  },
  filter('kind', 'Kind', h('select', { id: 'by-kind', name: 'kind' }, options(KINDS.map((one) => [one, one || 'all']), now.kind))),
  filter('identity', 'Identity', h('input', { id: 'by-identity', name: 'identity', value: now.identity, autocomplete: 'off' })),
  filter('text', 'Words', h('input', { id: 'by-text', name: 'text', value: now.text, autocomplete: 'off' })),
  filter('days', 'Since', h('select', { id: 'by-days', name: 'days' }, options(SPANS, now.days))),
  h('button.main', { type: 'submit' }, 'Narrow'));
}
