// A project's tasks on a board, a column for each role in the order of the work. A task is given to another role with < and >, or dragged there.

const SHELVES = [['in_progress', 'at work'], ['ready', 'ready'], ['blocked', 'blocked']];

/** The tasks of a project by role and state, page by page. A role that is none is a dash in the address. */
const tasksAt = (id, role = '', state = '') => `#/tasks/${[part(id), part(role || '-'), state].join('/')}`;

/** The cards of an answer by id, each with its column and its state. */
const cardsOf = (rows) => new Map(rows.flatMap((row) => SHELVES.flatMap(([key, word]) => (row[key] || []).map((one) => [one.id, { one, role: row.role || '', word }]))));

/** Of each state the first few tasks, the rest behind a link. Cards stay where they are while one looks: what is new, and what went to
 * another column, waits behind a button with its number. */
function boardOf(id, rows, view) {
  if (!rows.length && !view.board?.length) return empty('No tasks.');
  const now = cardsOf(rows);
  // What one moves oneself goes there as soon as an answer has it there: one that was on its way before does not.
  const isGiven = view.given && now.get(view.given.task)?.role === view.given.role;
  if (!view.board?.length || isGiven) view.board = rows;
  if (isGiven) view.given = null;
  const before = cardsOf(view.board);
  const moved = [...now].filter(([key, { role }]) => before.get(key)?.role !== role).length;
  const counts = new Map(rows.map((row) => [row.role || '', row.counts]));
  return [h('p.new', { hidden: !moved }, h('button', { type: 'button', id: 'new-cards', title: 'Show what is new (n)', onclick: showNew }, `${moved} new`)),
    h('div.board', {}, view.board.map((row) => column(id, row, now, counts.get(row.role || '') || {})))];
}

function column(id, row, now, counts) {
  const role = row.role || '';
  return h('section.column', {
    'aria-label': role || 'no role', 'data-role': role,
    ondragover: (event) => event.preventDefault(),
    ondrop: (event) => {
      event.preventDefault();
      const card = document.querySelector(`.board [data-task="${CSS.escape(event.dataTransfer.getData('text/plain'))}"]`);
      if (card) giveTo(id, card, role);
    },
  },
  h('h3', {}, h('a', { href: tasksAt(id, role) }, role || 'no role')),
  h('p.meta', {}, Object.entries(counts).filter(([, count]) => count).map(([word, count]) => `${count} ${word.replace('_', ' ')}`).join(' · ')),
  SHELVES.filter(([key]) => row[key]?.length).map(([key, word]) => [
    row[key].map((known) => {
      const fresh = now.get(known.id);
      return fresh?.role === role ? card(id, fresh.one, fresh.word) : card(id, known, 'not here now');
    }),
    counts[key] > row[key].length ? h('p', {}, h('a', { href: tasksAt(id, role, key) }, `${counts[key] - row[key].length} more ${word}`)) : null,
  ]));
}

function card(id, one, word) {
  return h('div.card', { key: one.id, 'data-row': true, 'data-task': one.id, 'data-project': id, draggable: 'true', ondragstart: (event) => event.dataTransfer.setData('text/plain', one.id) },
    h('div.row', {}, h('a', { href: `#/task/${part(id)}/${part(one.id)}` }, one.title)),
    h('div.row', {}, state(word), chip(`P${one.priority}`), one.attempts ? chip(`tried ${one.attempts}×`, 'bad') : null,
      one.assignee ? h('span.meta', {}, one.assignee) : null));
}

const isState = (states, key) => states.some(([one]) => one === key);

const TASK_STATES = [['', 'open'], ['ready', 'ready'], ['in_progress', 'at work'], ['blocked', 'blocked'], ['deferred', 'put off'], ['closed', 'closed']];

const tasks = {
  title: 'Tasks',
  questions: ([id, role = '', key = ''], view) => ({
    board: question(at(id, '/board'), {}, onTasks(id)),
    pages: !isState(TASK_STATES, key) ? [] : pages((after) => question(at(id, '/tasks'), { agent_role: role === '-' ? '' : role || null, board_state: key || null, limit: 50, after }, onTasks(id), { exact: true }), view),
  }),
  draw: ({ board, pages: answered }, [id, role = '', key = ''], view) => {
    const found = answered.length ? joined(answered) : { items: [] };
    const row = (one) => h('li.card', { key: one.id, 'data-row': true },
      h('div.row', {}, state(one.blocked ? 'blocked' : one.status), h('h3', {}, h('a', { href: `#/task/${part(id)}/${part(one.id)}` }, one.title)), h('span.push', {}, chip(`P${one.priority}`))),
      h('p.meta', {}, [one.id, one.agent_role, one.assignee].filter(Boolean).join(' · ')));
    const roles = [['', 'all roles'], ...board.items.map((one) => [one.role || '-', one.role || 'no role'])];
    const isRole = roles.some(([one]) => one === role) || found.items.length;
    return [h('h1', {}, 'Tasks'), h('h2.hidden', {}, 'List'), h('p.meta', {}, toProject(id)), projectTabs(id, 'tasks'),
      h('p.tabs', { role: 'group', 'aria-label': 'Role' }, roles.map(([one, word]) => h('a.tab', { href: `#/tasks/${[part(id), part(one), key].join('/')}`, 'aria-current': one === role ? 'true' : null }, word))),
      chosen(`tasks/${part(id)}/${part(role)}`, TASK_STATES, key),
      found.items.length ? h('ul.matters', {}, found.items.map(row)) : !isState(TASK_STATES, key) ? noSuchState(key) : isRole ? empty(`No task${role === '-' ? ' without a role' : role ? ` of the role ${role}` : ''} is in this state.`) : empty(h('p', {}, `No open task has the role “${role}”: choose one of these above.`)),
      found.next ? h('p', {}, button('Show more', () => { view.cursors = [...(view.cursors || []), found.next]; draw(); }, 'more')) : null];
  },
};

/** Gives the task that has the focus to the role of the next column, or of the one before. */
function giveOn(by) {
  const card = document.activeElement?.closest?.('.board [data-task]');
  if (!card) { if (document.querySelector('.board')) notice('Go to a task on the board first (j, k): < and > give it to another role.'); return; }
  const columns = [...document.querySelectorAll('.board [data-role]')];
  const to = columns[columns.indexOf(card.closest('[data-role]')) + by];
  if (to) giveTo(card.dataset.project, card, to.dataset.role);
  else notice(columns.length === 1 ? 'The board has one role alone: there is none to give it to.' : `There is no role ${by < 0 ? 'before' : 'after'} this one.`);
}

async function giveTo(project, card, role) {
  const task = card.dataset.task;
  const before = card.closest('[data-role]').dataset.role;
  if (role === before) return;
  if (!canWrite()) { notice('Your token may only look. Ask whoever keeps the server for one of the scope write.', true); return; }
  const give = async (to) => {
    await api('PATCH', at(project, `/tasks/${part(task)}`), { agent_role: to, ...(me() ? { identity: me() } : {}) }, { exact: true });
    const view = viewStates.get(location.hash);
    if (view) { view.given = { task, role: to }; view.board = null; }
    await renewAll();
    await draw();
    document.querySelector(`.board [data-task="${CSS.escape(task)}"] a`)?.focus();
  };
  try {
    await give(role);
    notice(`Task ${task} is for ${role || 'no role'} now.`, false, () => give(before).catch(refused));
  } catch (error) { refused(error); }
}
