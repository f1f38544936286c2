// Search over everything that the page knows: projects, sessions, tasks, hand-offs, the ledger.

import { api, chip, empty, h } from './core.js';

export async function search(query) {
  const wanted = query.toLowerCase().split(/\s+/).filter(Boolean);
  const matches = (...texts) => wanted.every((word) => texts.filter(Boolean).join(' ').toLowerCase().includes(word));
  const projects = (await api('GET', '/projects')).items;
  const hits = [];
  const add = (kind, href, title, about) => { if (matches(kind, title, about)) hits.push({ kind, href, title, about }); };
  for (const project of projects) add('project', `#/project/${encodeURIComponent(project.project_id)}`, project.project_id, (project.focus || []).join(' '));
  await Promise.all(projects.slice(0, 30).map(async ({ project_id: id }) => {
    const at = `/projects/${encodeURIComponent(id)}`;
    const [sessions, tasks, handoffs, notes] = await Promise.all([
      api('GET', `${at}/sessions`, { limit: 200 }), api('GET', `${at}/tasks`, { limit: 0 }), api('GET', `${at}/handoffs`), api('GET', `${at}/ledger`, { limit: 2000, brief: true }),
    ]);
    for (const one of sessions.items) {
      add('session', `#/session/${encodeURIComponent(id)}/${one.session_id}`, one.identity, `${id} ${one.surface}`);
      if (one.left) add('baton', `#/baton/${encodeURIComponent(id)}/${one.left.baton_id}`, one.left.summary, `${id} ${one.identity}`);
    }
    for (const one of tasks.items) add('task', `#/task/${encodeURIComponent(id)}/${encodeURIComponent(one.id)}`, one.title, `${id} ${one.id} ${one.description || ''}`);
    for (const one of handoffs.items) add('hand-off', `#/handoff/${one.handoff_id}`, one.subject, `${one.from_project_id} ${one.to_project_id}`);
    for (const one of notes.items.filter((delta) => ['note', 'decision', 'research', 'remember'].includes(delta.kind))) {
      add(one.kind, `#/project/${encodeURIComponent(id)}`, one.summary, `${id} ${one.identity}`);
    }
  }));
  return [
    h('h1', {}, `“${query}”`),
    hits.length ? h('ul.grid', {}, hits.slice(0, 200).map((hit) => h('li.card', {}, chip(hit.kind), ' ', h('a', { href: hit.href }, hit.title || '(no words)'), h('p.meta', {}, String(hit.about).slice(0, 160)))))
      : empty('Nothing was found.'),
    hits.length > 200 ? h('p.quiet', {}, `${hits.length - 200} more: say more words.`) : null,
  ];
}
