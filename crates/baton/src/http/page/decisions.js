// What was decided, in all projects or in one, by the day: the newest first.

const onDecisions = (project) => (event) => event.kind === 'decision' && (!project || event.project_id === project);

/** The day of an instant in words, in the reader's calendar. */
function calendarDay(text) {
  const day = new Date(text);
  const now = new Date();
  const before = new Date(now.getFullYear(), now.getMonth(), now.getDate() - 1);
  if (day.toDateString() === now.toDateString()) return 'Today';
  if (day.toDateString() === before.toDateString()) return 'Yesterday';
  return day.toLocaleDateString([], { weekday: 'long', day: 'numeric', month: 'long', year: 'numeric' });
}

/** When something was: how long ago, and of what is older than a day its day and time. */
function whenOf(text) {
  const at = new Date(text);
  if (Date.now() - at < 86400000) return ago(text);
  return h('time.fixed', { datetime: text, title: at.toLocaleString() }, at.toLocaleString([], { day: 'numeric', month: 'short', year: at.getFullYear() === new Date().getFullYear() ? undefined : 'numeric', hour: '2-digit', minute: '2-digit' }));
}

const decisionsAt = (project) => listAt('decisions', [project || '']);

function decided(one) {
  const href = placeOfEntry(one);
  const { what, why, rejected } = one.body || {};
  return h('li.card', { key: one.delta_id, 'data-row': true },
    h('h3', {}, href ? h('a', { href }, what || '(no words)') : what || '(no words)'),
    why ? h('p', {}, why) : null,
    Array.isArray(rejected) && rejected.length ? h('p.quiet', {}, `Rejected: ${rejected.join('; ')}`) : null,
    h('p.meta', {}, toProject(one.project_id), ` · ${one.identity} · `, whenOf(one.created_at)));
}

const decisions = {
  title: 'Decisions',
  questions: ([project = ''], state, data) => {
    const page = (cursor) => question(project ? at(project, '/decisions') : '/decisions', { all: project ? null : true, limit: 50, cursor }, onDecisions(project));
    return { pages: pages(page, state), between: pagesBetween((next) => ({ ...page(next), optional: true }), data?.pages?.[0], state.cursors?.[0]) };
  },
  draw: (data, [project = ''], state) => {
    const [first, ...others] = data.pages;
    const found = joined([first, ...data.between.filter((one) => one?.items), ...others]);
    // What moved from one page to another since it was read is shown once.
    const rows = [...new Map(found.items.map((one) => [one.delta_id, one])).values()];
    const days = new Map();
    for (const one of rows) days.set(calendarDay(one.created_at), [...(days.get(calendarDay(one.created_at)) || []), one]);
    return [h('h1', {}, 'Decisions'),
      h('p.meta', {}, project ? [toProject(project), ' · ', h('a', { href: decisionsAt() }, 'those of all projects')] : 'What was decided in all projects, the newest first.'),
      rows.length ? [...days].map(([day, all]) => [h('h2', { key: `day ${day}` }, `${day} (${all.length}${found.next && all.includes(rows.at(-1)) ? ' or more' : ''})`), h('ul.matters', { key: `of ${day}` }, all.map(decided))]) : empty(h('p', {}, project ? `Nothing was decided in ${project} yet.` : 'Nothing was decided yet.')),
      found.next ? h('p', {}, button('Show older', () => { state.cursors = [...(state.cursors || []), found.next]; draw(); }, 'more')) : null];
  },
};
