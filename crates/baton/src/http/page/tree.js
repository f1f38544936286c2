// A project's tasks as a tree: parents with their parts. What is open below a task is remembered in this browser.

// A view asks at most so many questions: of more branches the ones that were opened last stay open.
const OPEN_BRANCHES = 40;

const openBranches = (project) => { try { return JSON.parse(store.get(`baton.tree.${project}`) || '[]'); } catch { return []; } };

/** Opens what is below a task, or closes it with all that is open below that. */
function turnBranch(project, id, isAll) {
  const all = openBranches(project);
  const closed = new Set();
  const close = (one) => {
    if (closed.has(one) || !all.includes(one)) return;
    closed.add(one);
    (known(partsOf(project, one, isAll))?.data?.items || []).forEach((below) => close(below.id));
  };
  close(id);
  store.set(`baton.tree.${project}`, JSON.stringify(closed.size ? all.filter((one) => !closed.has(one)) : [...all, id].slice(-OPEN_BRANCHES)));
  draw();
}

const partsOf = (project, parent, isAll) => question(at(project, '/tasks'), { parent, parts: true, all: isAll || null, limit: 0 }, onTasks(project));

const tree = {
  title: 'Tree of tasks',
  questions: ([id, shelf = ''], state) => ({
    pages: isState(SHELVES_OF_TREE, shelf) ? pages((after) => question(at(id, '/tasks'), { whole: true, parts: true, all: shelf === 'all' || null, limit: 50, after }, onTasks(id)), state) : [],
    ...Object.fromEntries(openBranches(id).map((one) => [`below ${one}`, { ...partsOf(id, one, shelf === 'all'), optional: true }])),
  }),
  draw: (data, [id, shelf = ''], state) => {
    const head = [h('h1', {}, 'Tasks'), h('h2.hidden', {}, 'Tree'), h('p.meta', {}, toProject(id)), projectTabs(id, 'tree'), chosen(`tree/${part(id)}`, SHELVES_OF_TREE, shelf)];
    if (!isState(SHELVES_OF_TREE, shelf)) return [head, noSuchState(shelf)];
    const found = joined(data.pages);
    const isOpen = new Set(openBranches(id));
    const rows = (tasksOf, depth, above) => tasksOf.flatMap((one) => {
      const below = isOpen.has(one.id) ? data[`below ${one.id}`]?.items : null;
      // What was imported may be a part of itself.
      return [branch(id, one, depth, { isOpen: Boolean(below), isAll: shelf === 'all' }), ...(below && !above.includes(one.id) ? rows(below, depth + 1, [...above, one.id]) : [])];
    });
    return [head, found.items.length ? h('ul.matters.tree', {}, rows(found.items, 1, [])) : empty(shelf === 'all' ? 'No task.' : 'No open task.'),
      found.next ? h('p', {}, button('Show more', () => { state.cursors = [...(state.cursors || []), found.next]; draw(); }, 'more')) : null];
  },
};

const SHELVES_OF_TREE = [['', 'open'], ['all', 'closed ones, too']];

function branch(project, one, depth, { isOpen, isAll }) {
  return h('li.card', { key: one.id, 'data-row': true, class: `deep${Math.min(depth, 6)}` },
    h('div.row', {}, one.part_count ? h('button.turn', { type: 'button', id: `turn ${one.id}`, 'aria-expanded': String(isOpen), 'aria-label': `${one.part_count} parts of ${one.title}`, onclick: () => turnBranch(project, one.id, isAll) }, `${isOpen ? '▾' : '▸'} ${one.part_count}`) : null,
      state(BLOCKED(one) ? 'blocked' : one.status), h('h3', {}, h('a', { href: `#/task/${part(project)}/${part(one.id)}` }, one.title)), h('span.push', {}, chip(`P${one.priority}`))),
    h('p.meta', {}, [depth > 1 ? `level ${depth}` : '', one.id, one.agent_role, one.assignee].filter(Boolean).join(' · ')));
}
