// One thing at a time: a baton, a session, a hand-off, a task. The document is shown as the receiver gets it.

import { ago, api, ask, documentOf, empty, field, h, me, nameField, notice, refused, setMe, state } from './core.js';

const at = (project, rest) => `/projects/${encodeURIComponent(project)}${rest}`;
const facts = (rows) => h('dl.facts', {}, rows.filter(([, value]) => value).map(([name, value]) => [h('dt', {}, name), h('dd', {}, value)]));
const toProject = (id) => h('a', { href: `#/project/${encodeURIComponent(id)}` }, id);
const toSession = (project, id, text) => h('a', { href: `#/session/${encodeURIComponent(project)}/${id}` }, text || id.slice(0, 13));

async function sessions(project) {
  return (await api('GET', at(project, '/sessions'), { limit: 500 })).items;
}

export async function session(project, id) {
  const all = await sessions(project);
  const one = all.find((row) => row.session_id === id);
  if (!one) return [h('h1', {}, 'Session'), empty('This session is not among the newest 500 of the project.')];
  const left = await api('GET', `/sessions/${id}/handoff`, { project });
  return [
    h('div.row', {}, h('h1', {}, `${one.identity}’s session`), state(one.released_at ? one.release_reason : one.live ? 'live' : 'open'),
      one.released_at ? null : h('button.push', { type: 'button', onclick: () => reassign(project, one, left) }, 'Reassign…')),
    facts([['Project', toProject(project)], ['Tool', one.surface], ['Machine', one.machine], ['Began', ago(one.started_at)],
      ['Last heard', ago(one.last_heartbeat)], ['Released', one.released_at ? ago(one.released_at) : null],
      ['Picked up from', one.picked_up_session_id ? toSession(project, one.picked_up_session_id) : null],
      ['Baton left', one.left ? h('a', { href: `#/baton/${encodeURIComponent(project)}/${one.left.baton_id}` }, one.left.summary) : null]]),
    h('h2', {}, left.wrapped ? 'What it handed over' : 'What a hand-off of it would say now'),
    documentOf(left.document, 'Hand-off document'),
  ];
}

export async function baton(project, id) {
  const all = await sessions(project);
  const giver = all.find((row) => row.left?.baton_id === id);
  if (!giver) return [h('h1', {}, 'Baton'), empty('This baton is not among those of the newest 500 sessions.')];
  const { left } = giver;
  const handoff = await api('GET', `/sessions/${giver.session_id}/handoff`, { project });
  const free = left.state === 'open' || left.state === 'abandoned';
  return [
    h('div.row', {}, h('h1', {}, left.summary || 'Baton'), state(left.state),
      free ? h('button.main.push', { type: 'button', onclick: () => pickup(project, giver) }, 'Pick up…') : null),
    facts([['Project', toProject(project)], ['Left by', toSession(project, giver.session_id, giver.identity)], ['When', ago(left.created_at)],
      ['For', left.to], ['Taken by', left.taken_by ? toSession(project, left.taken_by) : null], ['Taken', left.taken_at ? ago(left.taken_at) : null]]),
    h('h2', {}, 'Its way so far'), chain(project, all, giver),
    h('h2', {}, 'The document, as its receiver gets it'), documentOf(handoff.document, 'Hand-off document'),
  ];
}

function chain(project, all, giver) {
  const byId = new Map(all.map((row) => [row.session_id, row]));
  const way = [];
  for (let one = giver; one && way.length < 50; one = byId.get(one.picked_up_session_id)) way.unshift(one);
  for (let one = byId.get(giver.left.taken_by); one && way.length < 100; one = byId.get(one.left?.taken_by)) way.push(one);
  return h('ol', {}, way.map((one) => h('li', {}, toSession(project, one.session_id, one.identity), ` · ${one.surface || 'unknown tool'} · `, ago(one.started_at),
    one.left ? ` · ${one.left.summary}` : '')));
}

function pickup(project, giver) {
  ask('Pick up the baton', [h('p', {}, 'You register a session under this name and hold the baton until you wrap or end it.'), nameField()], 'Pick up', async (given) => {
    setMe(given.identity);
    const taken = await api('POST', at(project, '/pickup'), { identity: given.identity, from_session: giver.session_id });
    notice(`${taken.identity} holds the baton.`);
    location.hash = `#/session/${encodeURIComponent(project)}/${taken.session_id}`;
  });
}

function reassign(project, one, left) {
  ask(`Reassign ${one.identity}’s session`, [
    h('p', {}, 'The session is released, and this document waits as a baton for whom you name.'),
    nameField(), field('To: a name or a tool', 'to', { required: true, maxlength: 64 }),
    h('p', {}, 'What will be handed over:'), documentOf(left.document, 'What will be handed over'),
  ], 'Reassign', async (given) => {
    setMe(given.identity);
    const made = await api('POST', `/sessions/${one.session_id}/reassign`, { ...given, project });
    notice(`The baton waits for ${made.to || given.to}.`);
    location.hash = `#/project/${encodeURIComponent(project)}`;
  }, true);
}

const ACTIONS = {
  offered: [['accept', 'Accept', false], ['decline', 'Decline', true], ['cancel', 'Cancel', true]],
  accepted: [['complete', 'Complete', false], ['cancel', 'Cancel', true]],
  pending: [['retry', 'Try now', false], ['cancel', 'Cancel', true]],
  failed: [['retry', 'Try again', false], ['cancel', 'Cancel', true]],
};

export async function handoff(id) {
  const one = await api('GET', `/handoffs/${encodeURIComponent(id)}`);
  const act = (verb, label, risky) => () => ask(`${label}: ${one.subject}`, [nameField(), verb === 'accept' || verb === 'retry' ? null : field('What to tell the other side', 'result', {}, 'textarea')], label, async (given) => {
    setMe(given.identity);
    const moved = await api('POST', `/handoffs/${encodeURIComponent(one.handoff_id)}/${verb}`, given);
    notice(`The hand-off is ${moved.state}.`);
    window.dispatchEvent(new Event('hashchange'));
  }, risky);
  const steps = one.steps || [];
  return [
    h('div.row', {}, h('h1', {}, one.subject), state(one.state)),
    h('div.row', {}, (ACTIONS[one.state] || []).map(([verb, label, risky]) => h('button', { type: 'button', class: risky ? 'risky' : 'main', onclick: act(verb, label, risky) }, label))),
    facts([['From', toProject(one.from_project_id)], ['To', toProject(one.to_project_id)], ['For', one.to_identity || one.to_role],
      ['Task', one.task?.url ? h('a', { href: safe(one.task.url), rel: 'noreferrer' }, one.task.id) : one.task?.id], ['Made', ago(one.created_at)], ['Result', one.result], ['Last error', one.last_error]]),
    steps.length ? [h('h2', {}, 'Steps'), h('ul.feed', {}, steps.map((step) => h('li', {}, h('span', {}, state(step.state)), h('span', {}, step.step || step.name), h('span', {}, step.last_error || ''))))] : null,
    h('h2', {}, 'The packet, as the receiver gets it'),
    one.packet ? documentOf(readable(one.packet), 'Hand-off packet') : empty('It carries no packet: the subject says it all.'),
  ];
}

/** Only addresses of the web become links. */
const safe = (url) => (/^https?:\/\//.test(url) ? url : '#');

function readable(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

export async function task(project, id) {
  const one = await api('GET', at(project, `/tasks/${encodeURIComponent(id)}`));
  const act = (verb, said) => async () => {
    try {
      await api('POST', at(project, `/tasks/${encodeURIComponent(id)}/${verb}`), { identity: me() });
      notice(said);
      window.dispatchEvent(new Event('hashchange'));
    } catch (error) {
      refused(error);
    }
  };
  return [
    h('div.row', {}, h('h1', {}, one.title), state(one.status)),
    h('div.row', {}, one.status === 'closed' ? null : h('button', { type: 'button', onclick: act('close', 'The task is closed.') }, 'Close'),
      one.status === 'closed' ? h('button', { type: 'button', onclick: act('reopen', 'The task is open again.') }, 'Reopen') : null),
    facts([['Project', toProject(project)], ['Id', one.id], ['Role', one.agent_role], ['Assignee', one.assignee], ['Priority', `P${one.priority}`],
      ['Made', ago(one.created_at)], ['Closed because', one.close_reason]]),
    one.description ? [h('h2', {}, 'Description'), documentOf(one.description, 'Description')] : null,
    one.agent_context ? [h('h2', {}, 'What was done'), documentOf(JSON.stringify(one.agent_context, null, 2), 'Context')] : null,
    one.handoff_instructions ? [h('h2', {}, 'What the next one needs'), documentOf(JSON.stringify(one.handoff_instructions, null, 2), 'Instructions')] : null,
  ];
}
