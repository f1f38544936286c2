// What others do to the thing that an open dialog is about: it is said at once, and not only once the button is pressed.

/** Looks again, while a dialog is open, at what it is about, whenever an event may have touched that: `look` gives what there is to be said of it. */
function watch(dialog, on, look) {
  let newest = 0;
  watchers.set(dialog, async (event) => {
    if (!on(event)) return;
    const own = newest += 1;
    // Who cannot look now is told when the button is pressed. An answer that a later one overtook says nothing.
    try { const words = await look(); if (own === newest) dialog.tell(words); } catch { /* as above */ }
  });
}

/** What is said of a baton that cannot be picked up any more. */
function batonNews(one) {
  if (one.state === 'open' || one.state === 'abandoned') return null;
  if (one.withdrawn) return `${one.withdrawn.by} has withdrawn it meanwhile: it can be picked up no more.`;
  if (one.holder) return isMe(one.holder) ? `You hold it by now, as ${one.holder}.` : `${one.holder} has picked it up meanwhile.`;
  return 'It went on meanwhile: its page says where to.';
}

/** What is said of a hand-off that is not as it was when the dialog was opened. */
function handoffNews(before, now) {
  if (now.state === before.state && (now.accepted_by || '') === (before.accepted_by || '')) return null;
  const who = now.ended ? actorOf(now.ended.by, now.ended.by_type) : now.state === 'accepted' ? now.accepted_by : null;
  return `It is ${now.state}${who ? ` by ${isMe(who) ? 'you' : who}` : ''} by now.`;
}

/** What is said of a task that another took, was given, gave back or closed since the dialog was opened. */
function taskNews(before, now) {
  if (now.status === 'closed' || now.status === 'tombstone') return 'It was closed meanwhile.';
  const [had, has] = [before.assignee || '', now.assignee || ''];
  if (had === has && before.status === now.status) return null;
  if (!has) return had ? `${had} does not have it any more, and nobody has.` : null;
  const who = isMe(has) ? 'You' : has;
  if (now.status === 'in_progress') return `${who} ${isMe(has) ? 'are' : 'is'} at work on it by now.`;
  return had === has ? `${who} gave it back meanwhile, and ${isMe(has) ? 'have' : 'has'} it still.` : `${who} ${isMe(has) ? 'were' : 'was'} given it meanwhile.`;
}

/** Says in the dialog about a hand-off what becomes of it meanwhile. */
function watchHandoff(dialog, id, before) {
  const read = () => api('GET', `/handoffs/${part(id)}`);
  // A row of the inbox does not say how it stands.
  const isWhole = before.state && (before.state !== 'accepted' || before.accepted_by);
  const first = isWhole ? Promise.resolve(before) : read();
  first.catch(() => { /* it is told when the button is pressed */ });
  watch(dialog, onWaiting(), async () => handoffNews(await first, await read()));
}
