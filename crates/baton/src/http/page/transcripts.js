// Sessions of other tools on the server's machine, and the hand-off that would be made of one.

import { ago, api, chip, documentOf, empty, h } from './core.js';

export async function transcripts() {
  const found = await api('GET', '/transcripts', { limit: 200 });
  if (!found.items.length) return [h('h1', {}, 'Transcripts'), empty('No sessions of other tools were found on the server’s machine.')];
  return [
    h('h1', {}, 'Transcripts'),
    h('p.meta', {}, `${found.total} sessions of coding agents on the server’s machine, newest first.`),
    h('ul.grid', {}, found.items.map((one) => h('li.card', {},
      h('h3', {}, h('a', { href: `#/transcript/${encodeURIComponent(one.agent)}/${encodeURIComponent(one.id)}` }, one.title || one.id)),
      h('p.meta', {}, chip(one.agent), ' ', one.cwd || '', one.branch ? ` · ${one.branch}` : '', ' · ', ago(one.updated_at || one.created_at))))),
  ];
}

export async function transcript(agent, id) {
  const made = await api('GET', `/transcripts/${encodeURIComponent(id)}/handoff`, { agent });
  return [
    h('h1', {}, 'What the next agent would get'),
    h('p.meta', {}, chip(agent), ` ${id} · about ${made.tokens || made.tokens_estimated || '?'} tokens`),
    documentOf(made.document, 'Hand-off document'),
  ];
}
