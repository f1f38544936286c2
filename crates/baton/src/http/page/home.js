// Who works on what right now; what waits comes first.

import { ago, api, chip, empty, h, state } from './core.js';

export async function home() {
  const { items: cards, total } = await api('GET', '/overview');
  if (!cards.length) {
    return [h('h1', {}, 'No project yet'), empty(h('p', {}, 'Run '), h('code', {}, 'baton init'), h('p', {}, 'in a repository, or '), h('code', {}, 'baton demo'), h('p', {}, 'to see a hand-off.'))];
  }
  const waiting = cards.flatMap((card) => card.handoffs.filter((one) => one.state !== 'held').map((one) => ({ ...one, project: card.project_id })));
  waiting.sort((a, b) => b.created_at.localeCompare(a.created_at));
  const working = cards.flatMap((card) => card.sessions.map((one) => ({ ...one, project: card.project_id })));
  return [
    h('h1', {}, 'Now'),
    h('h2', {}, `Waiting for somebody (${waiting.length})`),
    waiting.length ? h('ul.grid', {}, waiting.slice(0, 60).map(waits)) : empty('Nothing waits. When an agent wraps its session, its baton appears here.'),
    h('h2', {}, `At work (${working.length})`),
    working.length ? h('ul.grid', {}, working.slice(0, 120).map(works)) : empty('Nobody is at work.'),
    h('h2', {}, 'Projects'),
    h('ul.grid', {}, cards.map(projectCard)),
    total > cards.length ? h('p.quiet', {}, `${total - cards.length} more projects: search finds them.`) : null,
  ];
}

const link = (one) => (one.kind === 'handoff' ? `#/handoff/${one.id}` : `#/baton/${encodeURIComponent(one.project)}/${one.id}`);

export function waits(one) {
  return h('li.card.wait', {},
    h('div.row', {}, h('h3', {}, h('a', { href: link(one) }, `${one.kind === 'handoff' ? 'Hand-off' : 'Baton'} from ${one.from}`)), state(one.state)),
    h('p.meta', {}, h('a', { href: `#/project/${encodeURIComponent(one.project)}` }, one.project), ' · ', one.to ? `for ${one.to} · ` : '', ago(one.created_at)));
}

export function works(one) {
  return h('li.card', {},
    h('div.row', {}, h('h3', {}, h('a', { href: `#/session/${encodeURIComponent(one.project)}/${one.session_id}` }, one.identity)),
      chip(one.live ? 'live' : one.fresh ? 'quiet' : 'silent', one.live ? 'good' : one.fresh ? '' : 'bad')),
    h('p.meta', {}, h('a', { href: `#/project/${encodeURIComponent(one.project)}` }, one.project), ` · ${one.surface || 'unknown tool'} · last heard `, ago(one.last_heartbeat)));
}

function projectCard(card) {
  const last = card.last_wrap;
  return h('li.card', {},
    h('h3', {}, h('a', { href: `#/project/${encodeURIComponent(card.project_id)}` }, card.project_id)),
    h('p.meta', {}, `${card.sessions.length} at work · ${card.handoffs.length} waiting · ${card.open_tasks} open tasks`),
    last ? h('p', {}, last.last_wrapped_summary) : null);
}
