// Mail of a project: its threads, one thread, and an answer. Looking on marks nothing as read.

/** A thread among others. */
function letters(project, one) {
  return h('li.card', { key: one.message_id, 'data-row': true },
    h('div.row', {}, h('h3', {}, h('a', { href: `#/mail/${part(project)}/${part(one.message_id)}` }, one.subject || '(no subject)')),
      one.waiting ? chip(`${one.waiting} waiting`, 'gold') : null),
    h('p.meta', {}, `${one.people.join(', ')} · ${one.messages} ${one.messages === 1 ? 'message' : 'messages'} · `, ago(one.last_at)));
}

const mail = {
  title: 'Mail',
  questions: ([project, id]) => ({ thread: question(at(project, `/messages/${part(id)}/thread`), { identity: me() || 'Reader' }, (event) => event.project_id === project && event.kind === 'other') }),
  draw: ({ thread: { items } }, [project]) => {
    const last = items.at(-1);
    const waits = items.find((one) => one.ack_by && !one.acked_at && !isMe(one.from));
    return [
      h('div.row', {}, h('h1', {}, items[0]?.subject || 'Mail'), last ? h('span.push', {}, waits ? [button('Acknowledge…', () => acknowledge(project, waits)), ' '] : null, last.from_type ? null : button('Reply…', () => reply(project, last), 'main')) : null),
      h('p.meta', {}, toProject(project)),
      items.length ? h('ol.letters', {}, items.map((one) => h('li.card', { key: one.message_id },
        h('div.row', {}, h('strong', {}, senderOf(one)), `to ${one.to}`, chip(one.type), one.importance === 'normal' ? null : chip(one.importance, 'gold'),
          h('span.meta.push', {}, ago(one.created_at))),
        one.content ? h('div.document', {}, fields(one.content)) : one.body == null ? h('p.quiet', {}, `Encrypted: ${(one.readers || []).join(', ')} can read it.`) : documentOf(one.body, `Message of ${senderOf(one)}`),
        h('p.meta', {}, one.acked_at ? ['acknowledged ', ago(one.acked_at)] : one.delivered_at ? ['read ', ago(one.delivered_at)] : 'not read yet')))) : empty('Nothing was written.'),
    ];
  },
};

/** Says that a message was taken in: its sender is told. */
function acknowledge(project, one) {
  ask(`Acknowledge ${one.from}’s message`, [h('p', {}, one.subject || ''), h('p', {}, `${one.from} is told.`), field('Your name', 'identity', { value: me() || one.to, required: true, maxlength: 64 }),
    field('What to say besides', 'body', {}, 'textarea')], 'Acknowledge', async (given) => {
    await api('POST', `/messages/${part(one.message_id)}/ack`, { ...given, project });
    notice('Acknowledged.');
    renewAll();
  });
}

function reply(project, last) {
  // Who wrote last itself writes to the same receiver again.
  ask(`Reply to ${isMe(last.from) ? last.to : last.from}`, [
    h('p', {}, 'Those who wrote or got this message can answer it.'), nameField(), field('Text', 'body', { required: true }, 'textarea'),
  ], 'Send', async (given) => {
    await api('POST', at(project, '/messages'), { ...given, reply_to: last.message_id });
    notice('Sent.');
    renewAll();
  });
}
