// One thing at a time, read by its id: a baton, a session, a hand-off, a task.

const session = {
  title: 'Session',
  questions: ([project, id], _, data) => ({
    one: question(`/sessions/${part(id)}`, { project }, (event) => event.project_id === project && event.session_id === data.one?.session_id && event.kind !== 'note'),
    left: question(`/sessions/${part(id)}/handoff`, { project }, (event) => event.project_id === project && event.session_id === data.one?.session_id),
  }),
  draw: ({ one, left }, [project]) => [
    h('div.row', {}, h('h1', {}, `${one.identity}’s session`), state(one.released_at ? one.release_reason : one.live ? 'live' : 'open'),
      h('span.push', {}, one.released_at ? null : offerButtons(asRow({ ...one, project_id: project }), ''), operatorDeed('Share…', () => share(project, one.session_id, 'thread', one.identity), 'quiet'))),
    facts([['Project', toProject(project)], ['Tool', toolOf(one)], ['Machine', one.place?.host ? `${one.place.host} (${one.machine})` : one.machine], ['Place', whereabouts(one)], ['Began', ago(one.started_at)],
      ['Last heard', ago(one.last_heartbeat)], ['Released', one.released_at ? ago(one.released_at) : null], ['Last checkpoint', one.last_checkpoint?.summary],
      ['Tasks', one.tasks?.length ? one.tasks.map((task) => h('div', {}, h('a', { href: `#/task/${part(project)}/${part(task.id)}` }, task.title))) : null],
      ['Baton left', one.left ? toBaton(project, one.left.baton_id, one.left.summary) : null],
      ['Thread', h('a', { href: `#/thread/${part(project)}/${part(one.session_id)}` }, 'the whole story')], ['Ledger', h('a', { href: ledgerAt(project, ['', '', '', '', one.session_id]) }, 'what it wrote')]]),
    one.way.length > 1 ? [h('h2', {}, 'The way of its work'), h('ol', {}, one.way.map((station) => h('li', {}, toSession(project, station.session_id, station.identity), ' · ', ago(station.started_at))))] : null,
    h('h2', {}, left.wrapped ? 'What it handed over' : 'What a hand-off of it would say now'),
    documentOf(left.document, 'Hand-off document'),
  ],
};

const baton = {
  title: 'Baton',
  questions: ([project, id], _, data) => ({
    one: question(`/batons/${part(id)}`, { project, identity: me() }, onWaiting(project)),
    giver: data.one ? question(`/sessions/${part(data.one.session_id)}`, { project }) : null,
    left: data.one ? question(`/sessions/${part(data.one.session_id)}/handoff`, { project }) : null,
    taker: data.one?.taken_by ? question(`/sessions/${part(data.one.taken_by)}`, { project }, null, { optional: true }) : null,
  }),
  draw: ({ one, giver, left, taker }, [project]) => {
    const takerName = one.holder || taker?.identity || one.taken_by?.slice(0, 13);
    const isBack = one.state === 'open' && one.taken_by;
    const free = one.state === 'open' || one.state === 'abandoned';
    // Who holds it gives it back long after they picked it up.
    const isHeldByMe = one.state === 'held' && isMe(one.holder) && taker && !taker.released_at;
    const way = giver?.way || [];
    return [
      h('div.row', {}, h('h1', {}, one.summary || 'Baton'), state(one.state), h('span.push', {}, offerButtons({ ...one, id: one.baton_id, subject: one.summary }), isHeldByMe ? [deed('Give back…', () => endSession(project, taker)), ' '] : null, operatorDeed('Share…', () => share(project, one.baton_id, 'baton', one.summary), 'quiet'))),
      facts([['Project', toProject(project)], ['Left by', toSession(project, one.session_id, one.from)], ['When', ago(one.created_at)], ['For', one.to], ['Held by', one.holder],
        [isBack ? 'Given back by' : 'Taken by', one.taken_by ? toSession(project, one.taken_by, takerName) : null], ['Taken', one.taken_at ? ago(one.taken_at) : null],
        ['Withdrawn', one.withdrawn ? [`by ${one.withdrawn.by}, `, ago(one.withdrawn.at), one.withdrawn.why ? `: ${one.withdrawn.why}` : ''] : null], ['Finished', one.finished && !one.withdrawn ? 'nothing is left to do' : null], ['Went on as', one.spent_by ? toBaton(project, one.spent_by, 'the next baton') : null], ['Thread', h('a', { href: `#/thread/${part(project)}/${part(one.baton_id)}` }, 'the whole story')], ['In a terminal', free ? command(`baton pickup --handoff ${one.baton_id.slice(0, 13)} --project ${project}`) : null]]),
      h('h2', {}, 'Its way so far'),
      h('ol', {}, way.map((station) => h('li', {}, toSession(project, station.session_id, station.identity), ' · ', ago(station.started_at))),
        one.taken_by && !isBack ? h('li', {}, toSession(project, one.taken_by, takerName)) : null),
      h('h2', {}, 'The document, as its receiver gets it'), left ? documentOf(left.document, 'Hand-off document') : h('p.quiet', {}, 'Loading…'),
    ];
  },
};

/** Ends one's own session: what it holds is given back. */
function endSession(project, one) {
  ask(`End ${one.identity}’s session`, [h('p', {}, 'The baton that it holds waits again, and so do its tasks. To hand over what was done instead, its agent wraps it (', h('code', {}, 'baton wrap'), ').'), nameField(), field('Why', 'reason', { maxlength: 200 })], 'End the session', async (given, send) => {
    await send('POST', `/sessions/${part(one.session_id)}/end`, { ...given, project });
    notice('The session has ended.');
    renewAll();
  }, true);
}

// What a pickup brings and the page does not show is not read: it goes on waiting in the inbox.
const UNREAD = { headers: { 'baton-delivery': 'later' } };

/** Says how many messages wait for who has just picked up. */
function tellWaiting({ project_id: project, pending_signals: waiting = [] }) {
  const asked = waiting.filter((one) => /^(Question|Blocker)$/.test(one.type) || one.importance === 'critical').length;
  const tell = (count, place) => { if (count) notice(`${counted(count, 'message')} to you ${count === 1 ? 'waits' : 'wait'} ${place}.`); };
  tell(asked, 'in the inbox');
  // What asks for nothing is no matter of the inbox.
  tell(waiting.length - asked, `under Mail of project ${project}`);
}

/** Picks a baton up after its document was shown; for a moment it can be undone. */
async function pickup(project, batonId, summary) {
  let left;
  try {
    const one = await api('GET', `/batons/${part(batonId)}`, { project });
    left = await api('GET', `/sessions/${part(one.session_id)}/handoff`, { project });
  } catch (error) { refused(error); return; }
  const dialog = ask('Pick up the baton', [h('p', {}, summary || ''), h('p', {}, 'You register a session under this name and hold the baton until you wrap or end it. '), h('p', {}, HELD_WHILE_OPEN), nameField(), documentOf(left.document, 'What is handed over')], 'Pick up', async (given, send) => {
    const taken = await send('POST', at(project, '/pickup'), { identity: given.identity, handoff_id: batonId }, UNREAD);
    keepAlive(taken);
    // A session that was open before has other work: its end would give back more than this baton.
    notice(`${taken.identity} holds the baton.`, false, taken.started ? async () => {
      try {
        await api('POST', `/sessions/${part(taken.session_id)}/end`, { project, identity: given.identity, reason: 'picked up by mistake' });
        notice('The baton waits again.');
        location.hash = batonAt(project, batonId);
      } catch (error) { refused(error); }
    } : null);
    tellWaiting(taken);
    location.hash = sessionAt(project, taken.session_id);
  });
  watch(dialog, onWaiting(project), async () => batonNews(await api('GET', `/batons/${part(batonId)}`, { project })));
}

/** Gives a session's work to another, after the document was shown. */
async function reassign(project, id, identity) {
  let left;
  let now;
  try { [left, now] = await Promise.all([api('GET', `/sessions/${part(id)}/handoff`, { project }), api('GET', `/sessions/${part(id)}`, { project })]); } catch (error) { refused(error); return; }
  let isKnownLive = now.live;
  // A name that no agent has had yet, and that the person confirmed.
  let waitsFor = null;
  const dialog = ask(`Reassign ${identity}’s session`, [
    now.live ? h('p.error', {}, `${identity} is at work: the session is released at once, and ${identity} can write nothing more in it.`) : null,
    h('p', {}, 'The session is released, and this document waits as a baton for whom you name.'),
    nameField(), field('To: a name or a tool', 'to', { required: true, maxlength: 64 }),
    h('p', {}, 'What will be handed over:'), documentOf(left.document, 'What will be handed over'),
  ], 'Reassign', async (given, send) => {
    const path = `/sessions/${part(id)}/reassign`;
    const content = { ...given, project, holder: identity, wait: given.to === waitsFor ? true : null };
    if (!isKnownLive && !send.isRepeat('POST', path, content)) {
      isKnownLive = (await api('GET', `/sessions/${part(id)}`, { project })).live;
      if (isKnownLive) throw new Problem(409, { message: `${identity} is at work again`, hint: 'Press the button once more to release the session all the same.' });
    }
    let made;
    try { made = await send('POST', path, content); } catch (error) {
      if (error.code !== 'recipient_unknown') throw error;
      waitsFor = given.to;
      error.hint = `${error.near ? `${error.near} ` : ''}Press the button once more where ${given.to} is still to come: the baton waits for them.`;
      throw error;
    }
    notice(`The baton waits for ${made.to || given.to}.`);
    // From a list one goes on in the list.
    if (location.hash.startsWith('#/session/')) location.hash = `#/project/${part(project)}`;
    else renewAll();
  }, true);
  watch(dialog, onWaiting(project), async () => {
    const session = await api('GET', `/sessions/${part(id)}`, { project });
    return session.released_at ? `${identity}’s session has ended meanwhile: there is nothing left to reassign.` : null;
  });
}

/** What the other side reads of the end. */
const wordsOfEnd = (one) => one.result || one.ended?.why || one.ended?.forced;

/** How a hand-off ended, with the word for what was said. */
const ENDS = { declined: 'Reason', cancelled: 'Reason', expired: 'Reason', completed: 'Result' };

/** Takes over a hand-off that another accepted and left. */
function takeOver(one) {
  const seen = { holder: one.accepted_by || null };
  const dialog = ask(`Take over: ${one.subject}`, [h('p', {}, 'You register a session under this name in the receiver’s project and hold what was accepted.'), h('p', {}, HELD_WHILE_OPEN), nameField()], 'Take over', async (given, send) => {
    const taken = await sendFor(seen, send, ['POST', at(one.to_project_id, '/pickup'), { identity: given.identity, handoff_id: one.handoff_id }, UNREAD], (holder) => `take it over from ${holder}`);
    keepAlive(taken);
    notice(`${taken.identity} has taken it over.`);
    tellWaiting(taken);
    location.hash = sessionAt(taken.project_id, taken.session_id);
  });
  watchHandoff(dialog, one.handoff_id || one.id, one);
}

/** Takes back a baton that was left: it is offered to nobody, and stays readable. */
function withdraw(one, owner = null) {
  const id = one.baton_id || one.id;
  ask(`Withdraw: ${one.subject || one.summary || 'baton'}`, [h('p', {}, owner ? `${owner} left it: an operator takes it back in their place, and the reason is written down.` : 'It is offered to nobody any more, and stays readable.'), nameField(),
    field('Why', 'why', { required: Boolean(owner), maxlength: 200 })], 'Withdraw', async (given, send) => {
    await send('POST', `/batons/${part(id)}/withdraw`, { ...given, project: one.project_id, force: owner ? true : null, holder: owner ? '' : null });
    notice('The baton is withdrawn.');
    renewAll();
  }, true);
}

/** Who has accepted a hand-off; nobody, or nobody whose name may be known here. */
const holderOf = (one) => (one.state === 'accepted' ? one.accepted_by || null : '');

async function advance(one, verb, label, risky = false, owner = null) {
  const id = one.handoff_id || one.id;
  let known = one;
  if (verb === 'cancel' || verb === 'retry') try { known = await api('GET', `/handoffs/${part(id)}`); } catch (error) { refused(error); return; }
  const worker = known.state === 'accepted' && verb === 'cancel' ? known.accepted_by || 'Somebody' : null;
  const failed = verb === 'retry' && (one.state === 'failed' || one.reason === 'handoff_failed');
  let isWarned = known.state === 'accepted';
  // Whom the page means: who completes is told who has it, and who cancels whether anybody has.
  const seen = { holder: verb === 'complete' && owner ? owner : verb === 'cancel' ? holderOf(known) : null };
  const dialog = ask(`${label}: ${one.subject}`, [worker ? h('p.error', {}, `${worker} has accepted it and is at work on it: that ends, and ${worker} is told why.`) : null, nameField(), failed ? [known.issues_github_repo ? h('p', {}, 'Tried last: ', h('code', {}, known.issues_github_repo)) : null, field('Issues repository OWNER/NAME, if the one it has is wrong', 'repo')] : null, verb === 'accept' || verb === 'retry' ? null : field('What to tell the other side', 'result', { required: Boolean(worker) && !owner }, 'textarea'),
    owner ? [h('p', {}, `It is ${owner}’s: an operator ends it in their place, and the reason is written down.`), field('Why', 'why', { required: true })] : null],
  verb === 'cancel' ? 'Cancel the hand-off' : label, async (given, send) => {
    const path = `/handoffs/${part(id)}/${verb}`;
    const content = owner ? { ...given, force: true } : given;
    const isRepeat = send.isRepeat('POST', path, { ...content, holder: seen.holder });
    if (verb === 'cancel' && !isWarned && !isRepeat) {
      const now = await api('GET', `/handoffs/${part(id)}`);
      isWarned = now.state === 'accepted';
      seen.holder = holderOf(now);
      if (isWarned) throw new Problem(409, { message: `${now.accepted_by || 'Somebody'} has accepted it meanwhile`, hint: 'Press the button once more to cancel it all the same.' });
    }
    const deed = (holder) => (verb === 'cancel' ? 'cancel it' : `end it in ${holder}’s place`);
    if (owner && verb !== 'cancel' && !isRepeat) {
      const holder = holderOf(await api('GET', `/handoffs/${part(id)}`));
      if (holder && holder !== seen.holder) throw asksAgain(seen, holder, deed);
    }
    const moved = await sendFor(seen, send, ['POST', path, content], deed);
    const why = moved.last_error || (moved.steps || []).map((step) => step.last_error).find(Boolean);
    if (verb === 'retry' && why && /^(planned|pending|failed)$/.test(moved.state)) {
      renewAll();
      // The dialog stays open, with what was typed.
      throw new Problem(409, { message: `Still not through: ${pageWords(why, 'the field above')}`, hint: 'Mend what it names and press the button once more, or go back.' });
    }
    if (verb === 'retry' && ENDS[moved.state]) notice(`Nothing was tried: the hand-off is ${moved.state}.`, true);
    else notice(`The hand-off is ${moved.state}.`);
    renewAll();
  }, risky, verb === 'retry' ? 'Trying…' : null);
  // A retry moves it by itself.
  if (verb !== 'retry') watchHandoff(dialog, id, known);
}

/** Sends once more what came back: the same words and the same packet, to whom one names. What was sent meanwhile is told before it is sent twice. */
async function leaveAnew(id) {
  let one;
  try { one = await api('GET', `/handoffs/${part(id)}`); } catch (error) { refused(error); return; }
  const { github_repo: repo, tracker } = one.task?.metadata || {};
  let isWarned = false;
  ask(`Leave anew: ${one.subject}`, [
    h('p', {}, `${one.state[0].toUpperCase()}${one.state.slice(1)}${one.ended?.by ? ` by ${enderOf(one)}` : ''}${wordsOfEnd(one) ? `: ${wordsOfEnd(one)}` : ''}. It is sent once more, as a new hand-off.`),
    nameField(), field('To: a project', 'to_project_id', { value: one.to_project_id, required: true, maxlength: 64 }), field('For: a name', 'to_identity', { value: one.to_identity || '', maxlength: 64 }), field('Or a role', 'to_role', { value: one.to_role || '', maxlength: 64 }),
    field('Description', 'description', { value: one.description || '' }, 'textarea'),
    one.packet ? [h('p', {}, 'The packet goes with it:'), packetOf(one.packet, 'Hand-off packet')] : null,
  ], 'Leave anew', async (given, send) => {
    // A tracker is that of the project that had it.
    const tracked = given.to_project_id === one.to_project_id ? { issues_github_repo: repo, local: tracker === 'local' ? true : null } : {};
    const sent = { ...given, from_project_id: one.from_project_id, subject: one.subject, packet: one.packet, replaces: id, ...tracked };
    const warnings = isWarned || send.isRepeat('POST', '/handoffs', sent) ? [] : (await api('POST', '/handoffs', { ...sent, dry_run: true })).warnings || [];
    const told = (kind) => warnings.find((warning) => warning.kind === kind);
    if (told('placeholder_project') && given.to_project_id !== one.to_project_id) throw new Problem(404, { code: 'project_unknown', message: `Nothing was sent: there is no project ${given.to_project_id}` });
    if (told('receiver_unknown') && given.to_identity !== one.to_identity) throw new Problem(404, { code: 'recipient_unknown', message: `Nothing was sent: ${told('receiver_unknown').message}`, hint: 'Leave the name empty where anybody of the project may take it.' });
    const repeated = told('same_handoff');
    if (repeated) {
      isWarned = true;
      throw new Problem(409, { message: `Sent already: ${repeated.message.split('; ')[0]}`, hint: 'Press the button once more to send it twice.' });
    }
    const made = await send('POST', '/handoffs', sent);
    notice(`The hand-off is ${made.state}.`);
    renewAll();
  }, false, 'Sending…');
}

/** Closes a task: what follows it depends on how it went. */
function closeTask(project, one) {
  ask(`Close: ${one.title}`, [nameField(), field('Why', 'reason', {}, 'textarea'),
    h('label', { for: 'close-result' }, 'How it went'), h('select', { id: 'close-result', name: 'result' }, h('option', { value: '' }, 'not said: the reason decides'), h('option', { value: 'pass' }, 'it passed'), h('option', { value: 'fail' }, 'it failed'))], 'Close the task', async (given, send) => {
    await send('POST', at(project, `/tasks/${part(one.id)}/close`), given);
    notice('The task is closed.');
    renewAll();
  });
}

/** The task as it is now, to act on it; refused where it was closed while the dialog stood open. */
async function openTask(path) {
  const now = await api('GET', path);
  if (now.status !== 'closed' && now.status !== 'tombstone') return now;
  const why = now.close_reason ? `: ${now.close_reason}` : '';
  throw new Problem(409, { message: `it was closed meanwhile${why}`, hint: 'To go on with it all the same, open it again on its own page.' });
}

/** Gives a task to another, or to anybody and the router; one that is at work is given back, or taken back from its agent, before. */
async function giveTask(one, isAtWork, owner = null) {
  const path = at(one.project_id, `/tasks/${part(one.id)}`);
  let known, before;
  try { [known, before] = await Promise.all([namesOf(one.project_id), api('GET', path)]); } catch (error) { refused(error); return; }
  let isFree = !isAtWork;
  // One that is at work is checked by its lease, unless it is taken from its agent.
  const seen = { holder: owner || (isAtWork ? null : before.assignee || '') };
  const takeFrom = (holder) => `take it from ${holder}`;
  const dialog = ask(`${owner ? `Take back from ${owner}` : isAtWork ? 'Give back' : 'Give to another'}: ${one.subject}`, [
    h('p', {}, owner ? `${owner} can write nothing more to it, and is told why. It counts as a failed attempt.` : isAtWork ? 'It waits again. With a reason it counts as a failed attempt.' : before.assignee ? `${before.assignee} has it, and has not begun.` : null),
    nameField(), agentField('Give it to (empty: anybody, or the router)', 'to', known, { maxlength: 64 }),
    isAtWork ? field('Why', 'why', { required: Boolean(owner), maxlength: 500 }) : null,
  ], owner ? 'Take it back' : isAtWork ? 'Give it back' : 'Give it', async ({ to, why, ...given }, send) => {
    const name = to.trim();
    if (name) refuseUnknownAgents(one.project_id, known, [name]);
    // In one request, so that no other agent takes it in between.
    const back = { ...given, why, force: owner ? true : null, assignee: name, holder: seen.holder };
    const change = { ...given, assignee: name };
    const isRepeat = send.isRepeat('POST', `${path}/release`, back) || send.isRepeat('PATCH', path, { ...change, holder: seen.holder });
    const now = isRepeat ? null : await openTask(path);
    if (now && !isFree && owner) {
      const has = now.status === 'in_progress' ? now.assignee : '';
      isFree = !has;
      if (has !== seen.holder) throw asksAgain(seen, has, takeFrom);
    }
    if (!isFree) try { await sendFor(seen, send, ['POST', `${path}/release`, back], takeFrom); } catch (error) { isFree = owner && !seen.holder; throw error; }
    else if (name || !isAtWork) await sendFor(seen, send, ['PATCH', path, change, { exact: true }], takeFrom);
    notice(name ? `The task is for ${name}.` : 'The task is free, for anybody or the router.');
    renewAll();
  }, Boolean(owner));
  watch(dialog, onTasks(one.project_id), async () => taskNews(before, await api('GET', path)));
}

/** Opens a task that is blocked after its attempts: it gets as many once more. */
function openAgain(project, id, title) {
  ask(`Open again: ${title || id}`, [h('p', {}, 'It can be claimed again, and gets its attempts once more.'), nameField(), field('What the next one should know', 'append_notes', {}, 'textarea')], 'Open again', async (given, send) => {
    const path = at(project, `/tasks/${part(id)}`);
    const change = { ...given, status: 'open' };
    if (!send.isRepeat('PATCH', path, change)) await openTask(path);
    await send('PATCH', path, change);
    notice('The task is open again.');
    renewAll();
  });
}

const seenHere = new Set();

/** Its sender has opened a hand-off that came back: it is no matter for them any more. Who may not write only reads. */
async function markSeen(one) {
  if (!isMe(one.from_identity) || !/^(declined|expired)$/.test(one.state) || seenHere.has(one.handoff_id)) return;
  seenHere.add(one.handoff_id);
  // The server may have noted it with the answer: whatever list of matters is shown next is asked for anew.
  const forget = () => { for (const [key, held] of answers) if (/^[^{]*\/attention\{/.test(key)) held.dirty = true; };
  forget();
  try { await api('POST', `/handoffs/${part(one.handoff_id)}/seen`, { identity: me() }); } catch (error) {
    // A server that did not answer is told once more with the next drawing.
    if (isLost(error) || error.status === 429) seenHere.delete(one.handoff_id);
    return;
  }
  forget();
}

/** What the steps that take a hand-off back are called. */
const STEP_WORDS = { undo_session: 'session taken back', undo_memory: 'note withdrawn', undo_task: 'task closed' };

const handoff = {
  title: 'Hand-off',
  questions: ([id], _, data) => ({ one: question(`/handoffs/${part(id)}`, { actions: true, identity: me() }, (event) => event.kind === 'other' || event.kind === 'handoff' || event.kind === 'change' ? !data.one?.from_project_id || [data.one.from_project_id, data.one.to_project_id].includes(event.project_id) : false) }),
  draw: ({ one }) => {
    markSeen(one);
    const steps = one.steps || [];
    return [
      h('div.row', {}, h('h1', {}, one.subject), state(one.state)),
      h('div.row', {}, offerButtons(one)),
      one.last_error ? h('p.error', {}, errorText(one.last_error)) : null,
      handoffFacts(one),
      steps.length ? [h('h2', {}, 'Steps'), h('ul.feed', {}, steps.map((step) => h('li', {}, h('span', {}, state(step.state)), h('span', {}, STEP_WORDS[step.step] || step.step), h('span', {}, errorText(step.last_error || '')))))] : null,
      handoffWords(one),
    ];
  },
};

const handoffFacts = (one) => facts([['From', [toProject(one.from_project_id), ` ${one.from_identity}`]], ['To', toProject(one.to_project_id)], ['For', one.to_identity || one.to_role],
  ['Task', one.task?.url ? h('a', { href: safe(one.task.url), rel: 'noreferrer' }, one.task.id) : one.task ? h('a', { href: `#/task/${part(one.to_project_id)}/${part(one.task.id)}` }, one.task.id) : null],
  ['Issues repository', one.issues_github_repo], ['Made', ago(one.created_at)], ['Accepted by', one.accepted_by], ['Left anew as', one.replaced_by ? h('a', { href: `#/handoff/${part(one.replaced_by)}` }, 'the next hand-off') : null],
  [`${one.state[0].toUpperCase()}${one.state.slice(1)} by`, one.ended ? enderOf(one) : null], ['When', one.ended ? ago(one.ended.at) : null],
  [ENDS[one.state] || 'Result', wordsOfEnd(one) || (one.state === 'expired' ? 'It was not accepted in time.' : null)], ['Why in another’s place', wordsOfEnd(one) === one.ended?.forced ? null : one.ended?.forced]]);

/** What a hand-off carries. */
const handoffWords = (one) => [
  one.description ? [h('h2', {}, 'Description'), documentOf(one.description, 'Description')] : null,
  one.note ? [h('h2', {}, 'Note'), rawText(one.note.text || '', 'Note')] : null,
  one.packet ? [h('h2', {}, 'The packet, as the receiver gets it'), packetOf(one.packet, 'Hand-off packet')]
    : one.description || one.note ? null : empty('It carries no description and no packet: the subject is all there is.'),
];

const BLOCKED = (one) => one.blocked || one.status === 'blocked';

const task = {
  title: 'Task',
  questions: ([project, id], _, data) => ({
    one: question(at(project, `/tasks/${part(id)}`), { actions_for: me() || 'Reader' }, onTasks(project)),
    parts: data.one ? { ...partsOf(project, data.one.id, true), optional: true } : null,
  }),
  draw: ({ one, parts }, [project]) => {
    const act = (verb, said) => async () => {
      try {
        await api('POST', at(project, `/tasks/${part(one.id)}/${verb}`), { identity: me() });
        notice(said);
        renewAll();
      } catch (error) { refused(error); }
    };
    const linkTo = (other) => h('a', { href: `#/task/${part(project)}/${part(other)}` }, other);
    const edges = (rows) => h('ul', {}, rows.map((row) => h('li', {}, linkTo(row.id || row.depends_on_id), ' ', row.title || '', ' ', row.status ? state(row.status) : null, ' ', row.dependency_type || row.type || '')));
    // Its parts stand in a list of their own.
    const follow = (one.dependents || []).filter((row) => !parts?.items?.length || (row.dependency_type || row.type) !== 'parent-child');
    const waits = (one.dependencies || []).filter((row) => row.status !== 'closed' && (row.dependency_type || row.type) !== 'parent-child');
    return [
      h('div.row', {}, h('h1', {}, one.title), state(BLOCKED(one) || (waits.length && one.status === 'open') ? 'blocked' : one.status)),
      h('div.row', {}, offerButtons({ ...one, project_id: project, subject: one.title }, ''),
        one.status === 'closed' ? deed('Reopen', act('reopen', 'The task is open again.')) : null),
      waits.length ? h('p.error', {}, 'It waits for ', waits.map((row, index) => [index ? ', ' : '', linkTo(row.id || row.depends_on_id)]), '.') : null,
      facts([['Project', toProject(project)], ['Id', one.id], ['Part of', one.parent ? linkTo(one.parent) : null], ['Type', one.issue_type], ['Role', one.agent_role], ['Assignee', one.assignee], ['Priority', `P${one.priority}`],
        ['Labels', (one.labels || []).join(', ')], ['Attempts', one.attempts], ['Last tried by', one.previous_agent], ['Made', ago(one.created_at)], ['Closed because', one.close_reason],
        ['Hand-off', one.handoff_id ? h('a', { href: `#/handoff/${part(one.handoff_id)}` }, one.handoff_id.slice(0, 13)) : null]]),
      one.failed_attempts?.length ? [h('h2', {}, `Attempts that failed (${one.failed_attempts.length})`), h('ol.letters', {}, one.failed_attempts.map((row) => h('li.card', { key: row.attempt },
        h('p.words', {}, row.why || 'no reason was given'), h('p.meta', {}, row.by || '', ' · ', ago(row.at)))))] : null,
      one.description ? [h('h2', {}, 'Description'), documentOf(one.description, 'Description')] : null,
      one.acceptance_criteria ? [h('h2', {}, 'Acceptance'), documentOf(one.acceptance_criteria, 'Acceptance')] : null,
      one.design ? [h('h2', {}, 'Design'), documentOf(one.design, 'Design')] : null,
      one.notes ? [h('h2', {}, 'Notes'), documentOf(one.notes, 'Notes')] : null,
      parts?.items?.length ? [h('div.row', {}, h('h2', {}, `Parts (${parts.items.length})`), h('span.meta', {}, h('a', { href: `#/tree/${part(project)}` }, 'tree of tasks'))), edges(parts.items)] : null,
      one.dependencies?.length ? [h('h2', {}, 'Depends on'), edges(one.dependencies)] : null,
      follow.length ? [h('h2', {}, 'Others depend on it'), edges(follow)] : null,
      one.agent_context && Object.keys(one.agent_context).length ? [h('h2', {}, 'What was done'), h('div.document', {}, fields(one.agent_context))] : null,
      one.handoff_instructions && Object.keys(one.handoff_instructions).length ? [h('h2', {}, 'What the next one needs'), h('div.document', {}, fields(one.handoff_instructions))] : null,
      one.comments?.length ? [h('h2', {}, 'Comments'), h('ol.letters', {}, one.comments.map((comment) => h('li.card', {}, h('p.meta', {}, comment.author || comment.identity || '', ' · ', ago(comment.created_at)), documentOf(comment.text || comment.body || '', 'Comment'))))] : null,
    ];
  },
};
