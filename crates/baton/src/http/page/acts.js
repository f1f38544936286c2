// What can be done about a thing: its buttons on a page and in a row. What is offered to whom, the server says.

/** What the buttons of actions are called, whether one ends something, and what it does. Which of them a thing offers to whom, the server says. */
const ACTS = {
  pick_up: ['Pick up', false, (one) => pickup(one.project_id, one.id, one.subject)],
  withdraw: ['Withdraw', true, (one, { owner }) => withdraw(one, owner)],
  reassign: ['Reassign', false, (one) => reassign(one.project_id, one.id, one.from)],
  accept: ['Accept', false, (one) => advance(one, 'accept', 'Accept')],
  take_over: ['Take over', false, (one) => takeOver(one)],
  decline: ['Decline', true, (one) => advance(one, 'decline', 'Decline', true)],
  complete: ['Complete', false, (one, { owner }) => advance(one, 'complete', inPlaceOf('Complete', owner), Boolean(owner), owner)],
  cancel: ['Cancel', true, (one, { owner }) => advance(one, 'cancel', inPlaceOf('Cancel', owner), true, owner)],
  retry: ['Try now', false, (one) => advance(one, 'retry', 'Try now')],
  leave_anew: ['Leave anew', false, (one) => leaveAnew(one.handoff_id || one.id)],
  reply: ['Reply', false, (one, { home }) => reply(home || one.project_id, letterOf(one))],
  acknowledge: ['Acknowledge', false, (one) => acknowledge(one.project_id, letterOf(one))],
  retract: ['Take back unread', true, (one, { home }) => retract(home || one.project_id, letterOf(one))],
  reopen: ['Open again', false, (one) => openAgain(one.project_id, one.id, one.subject)],
  release: ['Give back', false, (one, { owner }) => giveTask(one, true, owner)],
  assign: ['Give to', false, (one) => giveTask(one, false)],
  close: ['Close', true, (one) => closeTask(one.project_id, { id: one.id, title: one.subject })],
  end: ['End', true, (one) => endSession(one.project_id, { identity: one.from, session_id: one.id })],
  write: ['Write', false, (one, { receivers }) => write(one.project_id, receivers, one.subject)],
};

/** The name of an action that is another's business. */
const inPlaceOf = (word, owner) => (owner ? `${word} in ${owner}’s place` : word);

/** The actions of a thing that the page can do and the token may: what is another's is an operator's act. What is done about a message by
 * who wrote it is done in the project from which it was sent. */
const offersOf = (one) => (canWrite() ? one.actions || [] : []).filter(({ action, operator }) => ACTS[action] && (!operator || canOperate())).map(({ action, in_place_of: owner, receivers, project_id: home, task_id: awaited, assignee }) => {
  const [word, ends, run] = ACTS[action];
  // What is done about what a task waits for names that one.
  const about = awaited ? { ...one, id: awaited, subject: one.blocker?.title || awaited } : one;
  const label = owner && action === 'release' ? `Take back from ${owner}` : home && action === 'reply' ? 'Write again'
    : action === 'assign' ? `Give${awaited ? ` ${awaited}` : ''} to${assignee ? ' another' : ''}` : awaited && action === 'reopen' ? `Open ${awaited} again` : inPlaceOf(word, owner);
  return { action, owner, risky: ends || Boolean(owner), label, run: () => run(about, { owner, receivers, home }) };
});

/** The buttons of a page: everything that is offered. Each opens a dialog first. */
const offerButtons = (one, tone = 'risky') => offersOf(one).map(({ label, risky, run }) => [button(`${label}…`, run, risky ? tone : 'main'), ' ']);

/** What else can be done about a row, behind one word. */
const menuOf = (offers) => h('details.acts', {}, h('summary', {}, 'More'), h('div.menu', {}, offers.map(({ label, risky, run }) => button(`${label}…`, run, risky ? 'risky' : 'quiet'))));

/** The buttons of a row: the first thing that is the viewer's own business, a second that ends nothing, and the rest of what is offered
 * in a menu. Work that has begun is not ended by the first key. */
function rowOffers(one) {
  const all = offersOf(one);
  if (!all.length) return null;
  const [first, second] = all.filter(({ action, owner, risky }) => (!owner || action === 'release') && !(risky && one.state === 'accepted'));
  const shown = [first, second && !second.risky ? second : null].filter(Boolean);
  const rest = all.filter((offer) => !shown.includes(offer));
  return [shown.map(({ label, risky, run }, index) => [index ? ' ' : null, button(`${label}…`, run, risky ? 'risky' : index ? 'quiet' : '')]),
    rest.length ? [' ', menuOf(rest)] : null];
}

/** What can be done about an open session. */
const sessionActs = (one) => (isMe(one.identity) ? [{ action: 'reassign' }, { action: 'end' }] : [{ action: 'write', receivers: [one.identity] }, { action: 'reassign', operator: true }]);

const asRow = (one) => ({ id: one.session_id, project_id: one.project_id, from: one.identity, actions: sessionActs(one) });
