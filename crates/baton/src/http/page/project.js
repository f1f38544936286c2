// One project: the timeline, what waits, tasks by role and state, decisions, the ledger as it grows.

import { ago, api, ask, chip, empty, field, h, nameField, notice, setMe, state } from './core.js';
import { waits } from './home.js';
import { letters } from './mail.js';
import { timeline } from './timeline.js';

export async function project(id) {
  const at = `/projects/${encodeURIComponent(id)}`;
  const [card, history, rows, ledger, mail] = await Promise.all([
    api('GET', `${at}/status`), api('GET', `${at}/sessions`, { limit: 60 }),
    api('GET', `${at}/board`), latest(at), api('GET', `${at}/threads`, { limit: 20 }),
  ]);
  const about = [card.project.phase, ...(card.project.focus || [])].filter(Boolean).join(' · ');
  const decisions = ledger.filter((delta) => delta.kind === 'decision');
  return [
    h('div.row', {}, h('h1', {}, id),
      h('button.push', { type: 'button', onclick: () => newTask(id) }, 'New task')),
    about ? h('p.meta', {}, about) : null,
    card.reminders.length ? h('ul.meta', {}, card.reminders.map((one) => h('li', {}, one.message))) : null,
    h('h2', {}, 'The way of the baton'),
    history.items.length ? timeline(id, history.items) : empty('No session yet. ', h('code', {}, 'baton start'), ' begins one.'),
    history.more ? h('p.quiet', {}, 'Only the newest sessions are drawn.') : null,
    h('h2', {}, `Waiting (${card.handoffs.length})`),
    card.handoffs.length ? h('ul.grid', {}, card.handoffs.map((one) => waits({ ...one, project: id }))) : empty('Nothing waits here.'),
    h('h2', {}, 'Tasks by role and state'),
    board(id, rows.items),
    mail.items.length ? [h('h2', {}, 'Mail'), h('ul.grid', {}, mail.items.map((one) => letters(id, one)))] : null,
    decisions.length ? [h('h2', {}, 'Decisions'), h('ul.feed', {}, decisions.slice(0, 12).map(entry))] : null,
    h('h2', {}, 'Ledger'),
    h('ul.feed', {}, ledger.slice(0, 40).map(entry)),
  ];
}

async function latest(at) {
  return (await api('GET', `${at}/ledger`, { limit: 150, brief: true, newest: true })).items.reverse();
}

export function entry(delta) {
  return h('li', {}, h('span.meta', {}, ago(delta.created_at)), h('span', {}, chip(delta.kind), ' '), h('span', {}, h('strong', {}, delta.identity), ' ', delta.summary || ''));
}

const SHELVES = [['in_progress', 'at work'], ['ready', 'ready'], ['blocked', 'blocked']];

/** A column for each role in the order of the work; of each state the first few, the rest as a number. */
function board(id, rows) {
  if (!rows.length) return empty('No tasks.');
  return h('div.board', {}, rows.map((row) => h('section.column', { 'aria-label': row.role || 'no role' },
    h('h3', {}, row.role || 'no role'),
    h('p.meta', {}, Object.entries(row.counts).filter(([, count]) => count).map(([word, count]) => `${count} ${word.replace('_', ' ')}`).join(' · ')),
    SHELVES.filter(([key]) => row[key]?.length).map(([key, word]) => [
      row[key].map((task) => h('div.card', {},
        h('div.row', {}, h('a', { href: `#/task/${encodeURIComponent(id)}/${encodeURIComponent(task.id)}` }, task.title)),
        h('div.row', {}, state(word), chip(`P${task.priority}`), task.attempts ? chip(`tried ${task.attempts}×`, 'bad') : null,
          task.assignee ? h('span.meta', {}, task.assignee) : null))),
      row.counts[key] > row[key].length ? h('p.quiet', {}, `${row.counts[key] - row[key].length} more ${word}`) : null,
    ]))));
}

function newTask(id) {
  ask('New task', [nameField(), field('Title', 'title', { required: true, maxlength: 500 }), field('Description', 'description', {}, 'textarea'),
    field('Role', 'agent_role', { list: 'roles', placeholder: 'implementation, testing, …' })], 'Create', async (given) => {
    setMe(given.identity);
    const made = await api('POST', `/projects/${encodeURIComponent(id)}/tasks`, given);
    notice(`Task ${made.id} was created.`);
    location.hash = `#/task/${encodeURIComponent(id)}/${encodeURIComponent(made.id)}`;
  });
}
