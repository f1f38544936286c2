// Mail of a project: its threads, one thread, and an answer. Looking on marks nothing as read.

/** A thread among others. */
function letters(project, one) {
  return h('li.card', { key: one.message_id, 'data-row': true },
    h('div.row', {}, h('h3', {}, h('a', { href: `#/mail/${part(project)}/${part(one.message_id)}` }, withInstants(one.subject || '(no subject)'))),
      one.waiting ? chip(`${one.waiting} waiting`, 'gold') : null),
    h('p.meta', {}, `${one.people.join(', ')} · ${one.messages} ${one.messages === 1 ? 'message' : 'messages'} · `, ago(one.last_at)));
}

/** The pages between the first one and the next that was opened: new mail moves threads off the first, whose end was the beginning of the next. */
function pagesBetween(page, first, second) {
  const between = [];
  for (let next = first?.next; second !== undefined && next > second; next = known(between.at(-1))?.data?.next) between.push(page(next));
  return between;
}

/** All threads of a project, page by page. */
const mailbox = {
  title: 'Mail',
  questions: ([id], state, data) => {
    const page = (before) => question(at(id, '/threads'), { limit: 50, before }, onChange(id));
    return { pages: pages(page, state), between: pagesBetween((next) => ({ ...page(next), optional: true }), data?.pages?.[0], state.cursors?.[0]) };
  },
  draw: (data, [id], state) => {
    const [first, ...others] = data.pages;
    const found = joined([first, ...data.between.filter((one) => one?.items), ...others]);
    // Of a thread that moved from one page to another the first row is the newest, and stands where it is.
    const seen = new Set();
    const threads = found.items.filter((one) => !seen.has(one.thread_id) && seen.add(one.thread_id));
    return [h('h1', {}, 'Mail'), h('h2.hidden', {}, 'List'), h('p.meta', {}, toProject(id)), projectTabs(id, 'mailbox'),
      found.items.length ? h('ul.grid', {}, threads.map((one) => letters(id, one))) : empty('No mail yet.'),
      found.next ? h('p', {}, button('Show more', () => { state.cursors = [...(state.cursors || []), found.next]; draw(); }, 'more')) : null];
  },
};

/** The projects in which the messages of a thread lie, or from which they were sent. */
const placesOf = (project, held) => [project, ...(held?.data?.items || []).flatMap((one) => [one.from_project_id, one.to_project_id])];

const mail = {
  title: 'Mail',
  // Whether it was read is known in the project in which a message lies, which may be another one.
  questions: ([project, id]) => ({ thread: question(at(project, `/messages/${part(id)}/thread`), { identity: me() || 'Reader' }, (event, held) => event.kind === 'change' && placesOf(project, held).includes(event.project_id)) }),
  draw: ({ thread: { items } }, [project]) => {
    const last = items.at(-1);
    const mine = items.find((one) => isMe(one.from) && !isMe(one.to) && !one.delivered_at && !one.acked_at);
    const waits = items.find((one) => one.ack_by && !one.acked_at && !isMe(one.from) && !isForAnother(one));
    return [
      h('div.row', {}, h('h1', {}, withInstants(items[0]?.subject || 'Mail')), last ? h('span.push', {}, waits ? [deed('Acknowledge…', () => acknowledge(project, waits)), ' '] : null, last.from_type ? null : isForAnother(last) && !isMe(last.from) ? deed(`Write to ${last.to}…`, () => write(project, [last.to], last.subject), 'main') : deed(isMe(last.from) ? 'Write again…' : 'Reply…', () => reply(homeOf(project, last), last), 'main'),
        mine ? [' ', deed('Take back unread…', () => retract(homeOf(project, mine), mine), 'risky')] : null) : null),
      h('p.meta', {}, toProject(project)),
      items.length ? h('ol.letters', {}, items.map((one) => h('li.card', { key: one.message_id },
        h('div.row', {}, h('strong', {}, senderOf(one)), `to ${one.to}`, chip(one.type), one.importance === 'normal' ? null : chip(one.importance, 'gold'),
          h('span.meta.push', {}, ago(one.created_at))),
        one.content ? h('div.document', {}, fields(one.content)) : one.body == null ? h('p.quiet', {}, `Encrypted: ${(one.readers || []).join(', ')} can read it.`) : documentOf(one.body, `Message of ${senderOf(one)}`),
        h('p.meta', {}, one.acked_at ? ['acknowledged ', ago(one.acked_at)] : one.delivered_at ? ['read ', ago(one.delivered_at)] : one.to_project_id ? ['sent to ', toProject(one.to_project_id), ', where it is known whether it was read'] : 'not read yet')))) : empty('Nothing was written.'),
    ];
  },
};

/** Whether a message is for another agent than the one who looks: it is answered by its receiver alone. */
const isForAnother = (one) => Boolean(me() && one.to && !one.to.startsWith('role:') && !isMe(one.to));

/** Says that a message was taken in: its sender is told. */
function acknowledge(project, one) {
  ask(`Acknowledge ${one.from}’s message`, [h('p', {}, withInstants(one.subject || '')), h('p', {}, `${one.from} is told.`), field('Your name', 'identity', { value: me() || one.to, required: true, maxlength: 64 }),
    field('What to say besides', 'body', {}, 'textarea')], 'Acknowledge', async (given, send) => {
    await send('POST', `/messages/${part(one.message_id)}/ack`, { ...given, project });
    notice('Acknowledged.');
    renewAll();
  });
}

const threadOf = (project, id) => api('GET', at(project, `/messages/${part(id)}/thread`), { identity: me() || 'Reader' });

/** Takes back a message that one sent, while it is unread, and what one wrote after it that is unread, too. */
async function retract(project, one) {
  let later;
  try {
    const { items } = await threadOf(project, one.message_id);
    later = items.slice(items.findIndex((other) => other.message_id === one.message_id) + 1).filter((other) => isMe(other.from) && !isMe(other.to) && !other.delivered_at);
  } catch (error) { refused(error); return; }
  ask(`Take back: ${one.subject || '(no subject)'}`, [h('p', {}, `${one.to} has not read it, and does not get it any more.`),
    later.length ? h('p', {}, `What you wrote after it and is unread goes with it: ${counted(later.length, 'message')}.`) : null, nameField()], 'Take it back', async (given, send) => {
    await send('DELETE', `/messages/${part(one.message_id)}`, { ...given, project });
    for (const other of later) {
      try { await send('DELETE', `/messages/${part(other.message_id)}`, { ...given, project }); } catch (error) {
        if (error.code !== 'message_delivered') throw error;
      }
    }
    notice('The message is taken back.');
    renewAll();
  }, true);
}

/** The project in which a message is answered: the one that it lies in, or, by who wrote it, that from which it was sent. */
const homeOf = (project, one) => (isMe(one.from) && one.from_project_id) || project;

/** Answers a message under its words. Who answered it meanwhile is told first. */
async function reply(project, last) {
  let seen;
  try { seen = (await threadOf(project, last.message_id)).items; } catch (error) { refused(error); return; }
  const one = seen.find((other) => other.message_id === last.message_id) || last;
  // Who wrote last itself writes to the same receiver again.
  ask(isMe(one.from) ? `Write to ${one.to} again` : `Reply to ${one.from}`, [
    h('p', {}, h('strong', {}, withInstants(one.subject || '(no subject)')), one.created_at ? [' · ', ago(one.created_at)] : null),
    one.content ? h('div.document', {}, fields(one.content)) : one.body ? documentOf(one.body, `Message of ${one.from}`) : null,
    nameField(), field('Text', 'body', { required: true }, 'textarea'), h('p.quiet', {}, 'Control-Enter sends it.'),
  ], 'Send', async (given, send) => {
    const [path, content] = [at(project, '/messages'), { ...given, reply_to: last.message_id }];
    const known = new Set(seen.map((other) => other.message_id));
    const acked = (all) => Boolean(all.find((other) => other.message_id === one.message_id)?.acked_at);
    const now = (await threadOf(project, last.message_id)).items;
    const newer = now.filter((other) => !known.has(other.message_id)).at(-1);
    const isAnswered = newer || (acked(now) && !acked(seen));
    seen = now;
    if (isAnswered && !send.isRepeat('POST', path, content)) throw new Problem(409, { message: newer ? `${newer.from} has written meanwhile${newer.body ? `: “${newer.body.slice(0, 200)}”` : ''}` : 'It was acknowledged meanwhile', hint: 'Press Send once more to send yours all the same.' });
    await send('POST', path, content);
    notice('Sent.');
    renewAll();
  });
}

/** The names that a project knows: registered, or ever in a session. */
const namesOf = async (project) => (await api('GET', at(project, '/agents'), { all: true })).items.map((one) => one.name);

/** A field for the name of an agent, with those that are known offered. */
const agentField = (label, name, known, attributes = {}) => [field(label, name, { list: `known-${name}`, autocomplete: 'off', ...attributes }), h('datalist', { id: `known-${name}` }, known.map((value) => h('option', { value })))];

/** Refuses names of which nobody in a project has heard, before anything is written. */
function refuseUnknownAgents(project, known, names) {
  const unknown = names.find((name) => !known.some((one) => one.toLowerCase() === name.toLowerCase()));
  if (unknown) throw new Problem(404, { code: 'recipient_unknown', message: `Nothing was done: nobody called ${unknown} has registered or worked in ${project}` });
}

/** The same where the address of a role may stand for a name. */
const refuseUnknown = (project, known, names) => refuseUnknownAgents(project, known, names.filter((name) => !name.startsWith('role:')));

/** Begins a message, to one or to several; to whom is filled in where what it is about says so. */
async function write(project, names = [], about = '') {
  let known;
  try { known = await namesOf(project); } catch (error) { refused(error); return; }
  const sent = new Set();
  ask(names.length ? `Write to ${names.join(' and ')}` : `Write to somebody of ${project}`, [
    about ? h('p', {}, withInstants(about)) : null, nameField(),
    agentField('To: names, or role:NAME', 'to', known, { value: names.join(', '), required: true }),
    field('About', 'subject', { required: true, maxlength: 200 }), field('Text', 'body', { required: true }, 'textarea'), h('p.quiet', {}, 'Control-Enter sends it.'),
  ], 'Send', async ({ to, ...given }, send) => {
    const all = to.split(/[,\s]+/).filter(Boolean);
    refuseUnknown(project, known, all);
    // One that was sent before a refusal of the next is not sent twice.
    for (const name of all.filter((one) => !sent.has(one))) {
      await send('POST', at(project, '/messages'), { ...given, to: name });
      sent.add(name);
    }
    notice(`Sent to ${all.join(' and ')}.`);
    renewAll();
  });
}
