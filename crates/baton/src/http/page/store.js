// One store: what the server answered, by its address. The stream of events says which answers are out of date, and those that
// the view shows are asked for again, at most one in half a second and the same one every two, whatever happens meanwhile.

const PACE = 550;
// The same question is asked again after this long: what one agent writes many times a second is read by nobody as fast.
const SAME_AGAIN = 2000;
// After this long a question whose answer failed is asked again, where an earlier answer of it is shown.
const ASK_AGAIN = 2000;
const KEPT = 60;
const answers = new Map();

/** A question: its path, its fields, and which events change its answer. */
const question = (path, fields, on, options) => ({ path, fields: fields || {}, on: on || (() => false), key: path + JSON.stringify(fields || {}), ...options });

// Which kinds of events change what. `change` is no entry of the ledger: mail, a lease, a share or the mark of a hand-off is another one.
const SESSION_EVENTS = new Set(['start', 'pickup', 'checkpoint', 'wrap', 'handoff', 'release']);
const WAITING_EVENTS = new Set(['start', 'pickup', 'wrap', 'handoff', 'release', 'other', 'change']);
const TASK_EVENTS = new Set(['pickup', 'wrap', 'handoff', 'release', 'other']);
const on = (kinds, project) => (event) => (!project || event.project_id === project) && kinds.has(event.kind);
const onSessions = (project) => on(SESSION_EVENTS, project);
const onWaiting = (project) => on(WAITING_EVENTS, project);
const onTasks = (project) => on(TASK_EVENTS, project);
/** What changes without an entry of the ledger: mail, leases, shares. */
const onChange = (project) => on(new Set(['change']), project);
/** What a session has in hand is given back with it. */
const onLeases = (project) => on(new Set(['change', 'wrap', 'release']), project);

/** Whatever a silent or a quiet session writes ends its silence. */
const endsSilence = (event, held) => Boolean(held?.data && event.session_id) && [...held.data.mine, ...held.data.items].some((one) => one.id === event.session_id);
const onMatters = (project) => (event, held) => onWaiting(project)(event) || endsSilence(event, held);

/** The answer as it is known, or nothing. */
function known(asked) {
  const held = answers.get(asked.key);
  if (!held) return undefined;
  answers.delete(asked.key);
  answers.set(asked.key, held);
  return held;
}

async function fetchAnswer(asked) {
  const held = answers.get(asked.key) || {};
  answers.set(asked.key, held);
  held.on = asked.on;
  held.ledgerOf = asked.ledgerOf;
  held.dirty = false;
  held.busy = true;
  // Of two requests under way only the later one counts: an answer that was slow must not replace a newer one.
  held.request = (held.request || 0) + 1;
  const { request } = held;
  const isLatest = () => held.request === request;
  try {
    const data = await api('GET', asked.path, asked.fields, { root: asked.root, exact: asked.exact });
    if (isLatest()) Object.assign(held, { data, error: null });
  } catch (error) {
    if (isLatest()) held.error = error;
    // A server that was busy or could not be reached is asked once more: what is shown is out of date until it answers.
    if (isLatest() && (held.data !== undefined || asked.optional) && (!error.status || error.status === 429 || error.status >= 500)) setTimeout(() => { if (isLatest()) renewShown(asked.key); }, ASK_AGAIN);
  }
  if (isLatest()) {
    held.busy = false;
    // An event came while it was under way, and the view that shows it now has not heard of it.
    if (held.dirty) renewShown(asked.key);
    // A drawing that began while it was under way shows the earlier answer, and the one that asked for it was overtaken.
    if (shown.some((one) => one.key === asked.key)) drawSoon();
  }
  forgetOld();
  return held;
}

/** What a drawing asks for that is under way. */
let underWay = [];

/** Of the answers that nothing shows and no drawing asks for, only those that were used last stay. */
function forgetOld() {
  const inUse = new Set([...shown, ...underWay].map((one) => one.key));
  for (const key of answers.keys()) {
    if (answers.size <= KEPT + inUse.size) return;
    if (!inUse.has(key)) answers.delete(key);
  }
}

/** Asks a question again that the view shows. */
function renewShown(key) {
  const one = shown.find((other) => other.key === key);
  if (one) renewSoon(one);
}

/** What is shown now: the questions of the view. */
let shown = [];
let renewals = [];
let lastRenewal = 0;
let renewTimer = 0;
let isRenewing = false;

/** What open dialogs do when an event comes. */
const watchers = new Map();

/** Marks what an event touches. What is not shown is asked for anew when it is shown again; a ledger that is shown takes the event itself. */
function touched(event) {
  const isAway = (key) => !shown.some((one) => one.key === key);
  for (const [key, held] of answers) if (held.on?.(event, held) || (held.ledgerOf === event.project_id && isAway(key))) held.dirty = true;
  for (const one of shown) if (one.on(event, answers.get(one.key))) renewSoon(one);
  for (const look of watchers.values()) look(event);
}

function renewSoon(asked) {
  // What is hidden is asked for when it is shown again.
  if (document.hidden) return;
  if (!renewals.some((one) => one.key === asked.key)) renewals.push(asked);
  planRenewal(60);
}

/** From when on a question may be asked again. */
const dueAt = (asked) => Math.max(lastRenewal + PACE, (answers.get(asked.key)?.renewedAt || 0) + SAME_AGAIN);

/** Waits for the question that may be asked first; while one is under way, its end plans the next. */
function planRenewal(atLeast) {
  if (isRenewing || !renewals.length) return;
  clearTimeout(renewTimer);
  renewTimer = setTimeout(renewOne, Math.max(atLeast, Math.min(...renewals.map(dueAt)) - Date.now()));
}

async function renewOne() {
  const [asked] = renewals.splice(renewals.reduce((first, one, index) => (dueAt(one) < dueAt(renewals[first]) ? index : first), 0), 1);
  lastRenewal = Date.now();
  if (asked && shown.some((one) => one.key === asked.key)) {
    const held = answers.get(asked.key);
    if (held) held.renewedAt = lastRenewal;
    isRenewing = true;
    try { await fetchAnswer(asked); } finally { isRenewing = false; }
    drawSoon();
  }
  planRenewal(0);
}

/** Everything that is shown is asked for again: after a deed, and when the stream was away. */
async function renewAll() {
  await Promise.all(shown.map(fetchAnswer));
  draw();
}
