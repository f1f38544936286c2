// Search over everything: the server finds it, newest first.

import { ago, api, chip, empty, h } from './core.js';

const WAYS = { handoff: (_, id) => `#/handoff/${encodeURIComponent(id)}`, message: (project, id) => `#/mail/${project}/${encodeURIComponent(id)}` };
for (const kind of ['task', 'baton', 'session']) WAYS[kind] = (project, id) => `#/${kind}/${project}/${encodeURIComponent(id)}`;

export async function search(query) {
  const found = await api('GET', '/search', { query });
  const way = (one) => (WAYS[one.kind] || ((project) => `#/project/${project}`))(encodeURIComponent(one.project_id), one.id);
  return [
    h('h1', {}, `“${query}”`),
    found.items.length ? h('ul.grid', {}, found.items.map((one) => h('li.card', {}, chip(one.kind === 'handoff' ? 'hand-off' : one.kind), ' ',
      h('a', { href: way(one) }, one.title || '(no words)'),
      h('p.meta', {}, [one.project_id, one.about].filter(Boolean).join(' · '), one.at ? [' · ', ago(one.at)] : null))))
      : empty('Nothing was found.'),
    found.more ? h('p.quiet', {}, 'There is so much of it that what is older was not looked at: say more words.')
      : found.next ? h('p.quiet', {}, 'There is more: say more words.') : null,
  ];
}
