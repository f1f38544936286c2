// Mail of a project: its threads, one thread, and an answer. Looking on marks nothing as read.

import { ago, api, ask, chip, documentOf, empty, field, h, me, nameField, notice, setMe } from './core.js';

/** A thread among others. */
export function letters(project, one) {
  return h('li.card', {},
    h('div.row', {}, h('h3', {}, h('a', { href: `#/mail/${encodeURIComponent(project)}/${one.message_id}` }, one.subject || '(no subject)')),
      one.waiting ? chip(`${one.waiting} waiting`, 'gold') : null),
    h('p.meta', {}, `${one.people.join(', ')} · ${one.messages} ${one.messages === 1 ? 'message' : 'messages'} · `, ago(one.last_at)));
}

export async function mail(project, id) {
  const at = `/projects/${encodeURIComponent(project)}`;
  const { items } = await api('GET', `${at}/messages/${encodeURIComponent(id)}/thread`, { identity: me() || 'Reader' });
  const last = items.at(-1);
  return [
    h('div.row', {}, h('h1', {}, items[0]?.subject || 'Mail'),
      last ? h('button.main.push', { type: 'button', onclick: () => reply(at, last) }, 'Reply…') : null),
    h('p.meta', {}, h('a', { href: `#/project/${encodeURIComponent(project)}` }, project)),
    items.length ? h('ol.letters', {}, items.map((one) => h('li.card', {},
      h('div.row', {}, h('strong', {}, one.from), `to ${one.to}`, chip(one.type), one.importance === 'normal' ? null : chip(one.importance, 'gold'),
        h('span.meta.push', {}, ago(one.created_at))),
      documentOf(said(one), `Message of ${one.from}`),
      h('p.meta', {}, one.acked_at ? ['acknowledged ', ago(one.acked_at)] : one.delivered_at ? ['read ', ago(one.delivered_at)] : 'not read yet')))) : empty('Nothing was written.'),
  ];
}

function said(one) {
  if (one.content) return JSON.stringify(one.content, null, 2);
  return one.body ?? `encrypted: ${(one.readers || []).join(', ')} can read it`;
}

function reply(at, last) {
  ask(`Reply to ${last.from}`, [
    h('p', {}, 'Those who wrote or got this message can answer it.'), nameField(), field('Text', 'body', { required: true }, 'textarea'),
  ], 'Send', async (given) => {
    setMe(given.identity);
    await api('POST', `${at}/messages`, { ...given, reply_to: last.message_id });
    notice('Sent.');
    window.dispatchEvent(new Event('hashchange'));
  });
}
