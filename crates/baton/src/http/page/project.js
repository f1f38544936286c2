// One project: the timeline, what waits, tasks by role and state, decisions, the ledger as it grows.

import { ago, api, ask, chip, empty, field, h, nameField, notice, setMe, state } from './core.js';
import { waits } from './home.js';
import { letters } from './mail.js';
import { timeline } from './timeline.js';

export async function project(id) {
  const at = `/projects/${encodeURIComponent(id)}`;
  const [card, history, tasks, ledger, mail] = await Promise.all([
    api('GET', `${at}/status`), api('GET', `${at}/sessions`, { limit: 60 }),
    api('GET', `${at}/tasks`, { limit: 200 }), latest(at), api('GET', `${at}/threads`, { limit: 20 }),
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
    board(id, tasks.items),
    mail.items.length ? [h('h2', {}, 'Mail'), h('ul.grid', {}, mail.items.map((one) => letters(id, one)))] : null,
    decisions.length ? [h('h2', {}, 'Decisions'), h('ul.feed', {}, decisions.slice(0, 12).map(entry))] : null,
    h('h2', {}, 'Ledger'),
    h('ul.feed', {}, ledger.slice(0, 40).map(entry)),
  ];
}

async function latest(at) {
  const head = (await api('GET', `${at}/ledger`, { limit: 1, brief: true, after: 0 })).items;
  if (!head.length) return [];
  const heads = (await api('GET', '/heads')).items.find((one) => one.project_id === head[0].project_id);
  const after = Math.max(0, (heads?.seq || 0) - 150);
  return (await api('GET', `${at}/ledger`, { limit: 200, brief: true, after })).items.reverse();
}

export function entry(delta) {
  return h('li', {}, h('span.meta', {}, ago(delta.created_at)), h('span', {}, chip(delta.kind), ' '), h('span', {}, h('strong', {}, delta.identity), ' ', delta.summary || ''));
}

function board(id, tasks) {
  if (!tasks.length) return empty('No tasks.');
  const columns = new Map();
  for (const task of tasks) {
    const role = task.agent_role || 'no role';
    if (!columns.has(role)) columns.set(role, []);
    columns.get(role).push(task);
  }
  return h('div.board', {}, [...columns].sort().map(([role, own]) => h('section.column', { 'aria-label': role },
    h('h3', {}, `${role} (${own.length})`),
    own.slice(0, 30).map((task) => h('div.card', {},
      h('div.row', {}, h('a', { href: `#/task/${encodeURIComponent(id)}/${encodeURIComponent(task.id)}` }, task.title)),
      h('div.row', {}, state(task.status), chip(`P${task.priority}`), task.assignee ? h('span.meta', {}, task.assignee) : null))),
    own.length > 30 ? h('p.quiet', {}, `${own.length - 30} more`) : null)));
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
