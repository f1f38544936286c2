// A project's tasks on a board, a column for each role in the order of the work. A task is given to another role with < and >, or dragged there.

const SHELVES = [['in_progress', 'at work'], ['ready', 'ready'], ['blocked', 'blocked']];

/** Of each state the first few tasks, the rest as a number. */
function boardOf(id, rows) {
  if (!rows.length) return empty('No tasks.');
  return h('div.board', {}, rows.map((row) => h('section.column', {
    'aria-label': row.role || 'no role', 'data-role': row.role || '',
    ondragover: (event) => event.preventDefault(),
    ondrop: (event) => {
      event.preventDefault();
      const card = document.querySelector(`.board [data-task="${CSS.escape(event.dataTransfer.getData('text/plain'))}"]`);
      if (card) giveTo(id, card, row.role || '');
    },
  },
  h('h3', {}, row.role || 'no role'),
  h('p.meta', {}, Object.entries(row.counts).filter(([, count]) => count).map(([word, count]) => `${count} ${word.replace('_', ' ')}`).join(' · ')),
  SHELVES.filter(([key]) => row[key]?.length).map(([key, word]) => [
    row[key].map((one) => card(id, one, word)),
    row.counts[key] > row[key].length ? h('p.quiet', {}, `${row.counts[key] - row[key].length} more ${word}`) : null,
  ]))));
}

function card(id, one, word) {
  return h('div.card', { key: one.id, 'data-row': true, 'data-task': one.id, 'data-project': id, draggable: 'true', ondragstart: (event) => event.dataTransfer.setData('text/plain', one.id) },
    h('div.row', {}, h('a', { href: `#/task/${part(id)}/${part(one.id)}` }, one.title)),
    h('div.row', {}, state(word), chip(`P${one.priority}`), one.attempts ? chip(`tried ${one.attempts}×`, 'bad') : null,
      one.assignee ? h('span.meta', {}, one.assignee) : null));
}

/** Gives the task that has the focus to the role of the next column, or of the one before. */
function giveOn(by) {
  const card = document.activeElement?.closest?.('.board [data-task]');
  if (!card) return;
  const columns = [...document.querySelectorAll('.board [data-role]')];
  const to = columns[columns.indexOf(card.closest('[data-role]')) + by];
  if (to) giveTo(card.dataset.project, card, to.dataset.role);
}

async function giveTo(project, card, role) {
  const task = card.dataset.task;
  const before = card.closest('[data-role]').dataset.role;
  if (role === before) return;
  const give = async (to) => {
    await api('PATCH', at(project, `/tasks/${part(task)}`), { agent_role: to, ...(me() ? { identity: me() } : {}) }, { exact: true });
    await renewAll();
    document.querySelector(`.board [data-task="${CSS.escape(task)}"] a`)?.focus();
  };
  try {
    await give(role);
    notice(`Task ${task} is for ${role || 'no role'} now.`, false, () => give(before).catch(refused));
  } catch (error) { refused(error); }
}
