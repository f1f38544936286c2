// The page's views by address, brought up to date when the address or the ledger changes.

const VIEWS = { '': inbox, agents, batons, handoffs, projects, project, tasks, sessions, session, baton, handoff, task, mail, transcripts, transcript, search, thread, shares, ledger, fleet, tree, mailbox, memories, memory, decisions };
const NAV = [['', 'Inbox'], ['agents', 'Agents'], ['batons', 'Batons'], ['handoffs', 'Hand-offs'], ['projects', 'Projects'], ['decisions', 'Decisions'], ['transcripts', 'Transcripts'], ['fleet', 'Server']];

/** Words that one would guess, and the views that they mean. */
const ALIASES = { server: 'fleet', inbox: '' };

/** What is not there where an address names nothing, and the list that has the others. */
const LISTS = { batons: ['list of batons', 'batons'], handoffs: ['list of hand-offs', 'handoffs'], project: ['project', 'projects'], sessions: ['project', 'projects'], ledger: ['project', 'projects'], shares: ['project', 'projects'], session: ['session', 'agents'], baton: ['baton', 'batons'], handoff: ['hand-off', 'handoffs'],
  task: ['task', 'projects'], tasks: ['project', 'projects'], tree: ['project', 'projects'], mailbox: ['project', 'projects'], memories: ['project', 'projects'], memory: ['memory', 'projects'], mail: ['message', ''], decisions: ['project', 'projects'], thread: ['thread', 'agents'], transcript: ['transcript', 'transcripts'] };

/** What a view remembers while its address is shown, or gone back to. */
const viewStates = new Map();
let address = null;
let drawing = 0;
let drawTimer = 0;

const nowhere = {
  title: 'Nothing here',
  questions: () => ({}),
  draw: () => [h('h1', {}, 'There is nothing at this address'), h('p', {}, `“${decodeURI(location.hash)}” names no view. `, h('a', { href: '#/' }, 'Go to the inbox'), ' or search for it above.')],
};

function hashParts(text) {
  return text.split('/').map((one) => { try { return decodeURIComponent(one); } catch { return one; } });
}

/** The questions of a view, several rounds of them where one needs the answer of another. What is out of date is asked for anew
 * when one comes to the view; while it is shown, the store does so at its pace. */
async function answersOf(view, params, state, mine, isNew) {
  for (let round = 0; ; round += 1) {
    const data = {};
    const asked = {};
    // The failure of what a view can do without is its answer.
    const read = (one) => { const held = known(one); return held?.data ?? (one.optional && held?.error ? { error: held.error } : undefined); };
    const take = () => {
      const wanted = view.questions(params, state, data);
      for (const [name, one] of Object.entries(wanted)) {
        asked[name] = one;
        data[name] = Array.isArray(one) ? one.map(read) : one ? read(one) : null;
      }
    };
    take();
    take();
    const all = Object.values(asked).flat().filter(Boolean);
    const missing = all.filter((one) => { const held = known(one); return !held || (isNew && held.dirty && !held.busy) || (held.data === undefined && !held.error); });
    if (!missing.length || round > 3) {
      const failed = all.filter((one) => !one.optional).map(known).find((held) => held?.error && held.data === undefined);
      if (failed) { const { error } = failed; for (const one of all) if (known(one)?.data === undefined) answers.delete(one.key); throw error; }
      if (mine === drawing) {
        shown = all;
        // An event that came between an answer and its drawing found nothing shown that it could renew.
        for (const one of all) { const held = known(one); if (held?.dirty && !held.busy) renewSoon(one); }
      }
      return data;
    }
    if (mine === drawing) underWay = all;
    await Promise.all(missing.map(fetchAnswer));
    if (mine !== drawing) return data;
  }
}

async function draw() {
  const [name, ...params] = hashParts(location.hash.replace(/^#\/?/, ''));
  const isNew = address !== location.hash;
  if (name in ALIASES) { location.replace(`#/${[ALIASES[name], ...params.map(part)].join('/')}`); return; }
  const view = VIEWS[name] || nowhere;
  drawing += 1;
  const mine = drawing;
  if (isNew) {
    patch($('nav'), NAV.map(([key, label]) => h('a', { href: `#/${key}`, 'aria-current': key === name ? 'page' : null }, label)));
    $('main').setAttribute('aria-busy', 'true');
  }
  if (!viewStates.has(location.hash)) viewStates.set(location.hash, {});
  const state = viewStates.get(location.hash);
  if (isNew) state.rows = state.board = null;
  let content;
  try {
    const data = await answersOf(view, params, state, mine, isNew);
    // Another drawing has begun meanwhile, and this one may lack answers.
    if (mine !== drawing) return;
    content = view.draw(data, params, state);
  } catch (error) {
    if (mine !== drawing) return;
    if (error.status === 401) askToken();
    if (!isNew && error.status === 0) return;
    // What an address names wrongly is not there either.
    const isWrong = error.status === 404 || error.status === 400 || error.status === 422;
    const [what, list = ''] = isWrong ? LISTS[name] || [] : [];
    content = [h('h1', {}, what ? `There is no such ${what}` : 'That did not work'), h('p', {}, 'Go to ', h('a', { href: `#/${list}` }, NAV.find(([key]) => key === list)[1]), ', or search above.'), trouble(error.status === 401 ? { ...error, message: error.message, hint: 'Paste the token that you were given.' } : error)];
    shown = [];
  }
  if (mine !== drawing) return;
  const main = $('main');
  const nodes = content.flat(9).filter((one) => one !== null && one !== undefined && one !== false && one !== '');
  nameButtons(nodes);
  if (isNew) main.replaceChildren(...nodes);
  else {
    const place = placeOf(document.activeElement);
    patch(main, nodes);
    // A row that moved or went takes the focus with it.
    if (document.activeElement !== place.element && !document.querySelector('dialog[open]')) goBackTo(place);
  }
  showStrips(isNew);
  showAccount();
  main.removeAttribute('aria-busy');
  document.title = `${main.querySelector('h1')?.textContent || view.title} · Baton`;
  if (isNew) arrive();
}

/** A new address begins at its top, one that was gone back to where it was left. */
function arrive() {
  for (const one of document.querySelectorAll('main .scroll svg')) one.parentElement.scrollLeft = one.parentElement.scrollWidth;
  if (address !== null) {
    const row = history.state?.row && [...document.querySelectorAll('main [data-row]')].find((one) => one.rowKey === history.state.row)?.querySelector('a');
    // A third part of a project's address names a section of it.
    const section = !history.state && /^#\/project\/[^/]+\/paths$/.test(location.hash) && $('paths');
    (row || section || $('main')).focus({ preventScroll: true });
    if (section) section.scrollIntoView({ block: 'center' });
    else window.scrollTo({ top: history.state?.top || 0, behavior: 'instant' });
  }
  address = location.hash;
}

/** Several changes in a moment are one drawing. */
function drawSoon() {
  if (!drawTimer) drawTimer = setTimeout(() => { drawTimer = 0; draw(); }, 400);
}

let asking = false;
const afterToken = [];
/** Asks for a valid token; `then` goes on with it. */
function askToken(then = null) {
  if (then) afterToken.push(then);
  if (asking) return;
  asking = true;
  const dialog = tokenDialog('This server asks for a token', ['Paste the token that you were given.'], null, () => {
    address = null;
    draw();
    for (const goOn of afterToken.splice(0)) goOn();
  });
  dialog.addEventListener('close', () => { asking = false; afterToken.length = 0; });
}

setInterval(() => {
  for (const time of document.querySelectorAll('time[datetime]:not(.fixed)')) {
    const text = (time.classList.contains('spoken') ? spokenTime : since)(time.getAttribute('datetime'));
    if (time.textContent !== text) time.textContent = text;
  }
}, 10000);

// Silence makes no event: what is open is asked for again once a minute while the page is looked at.
setInterval(() => {
  if (!document.hidden) for (const one of shown) if (/^\/(attention|sessions)|\/attention$/.test(one.path)) renewSoon(one);
}, 60000);

let wasAway = false;
document.addEventListener('visibilitychange', () => { if (document.hidden) wasAway = true; });
window.addEventListener('pagehide', () => { wasAway = true; });
follow((event) => {
  touched(event);
  addToLedger(event);
}, (on, isBarred) => {
  $('live').className = `live ${on ? 'on' : 'off'}`;
  $('live').textContent = on ? 'live' : isBarred ? 'no valid token' : 'no connection';
  // What happened while the stream was away is asked for; at the beginning there is nothing to ask for twice.
  if (on && wasAway) { if (shown.length) renewAll(); else { address = null; draw(); } }
  wasAway = !on;
});

history.scrollRestoration = 'manual';
let placeTimer = 0;
/** Remembers where the view stands and which row has the focus, for who comes back. */
function keepPlace() {
  clearTimeout(placeTimer);
  if (address !== location.hash) return;
  const row = document.activeElement?.closest?.('main [data-row]')?.rowKey;
  history.replaceState({ top: window.scrollY, row }, '');
}
function keepPlaceSoon() {
  if (address !== location.hash) return;
  clearTimeout(placeTimer);
  placeTimer = setTimeout(keepPlace, 100);
}
window.addEventListener('scroll', keepPlaceSoon, { passive: true });
$('main').addEventListener('focusin', keepPlaceSoon);
// A link may be followed sooner than that.
$('main').addEventListener('click', keepPlace, true);
window.addEventListener('hashchange', () => {
  // A dialog goes with its page; one that was opened on a page which an event had drawn already stays.
  if (address !== location.hash) for (const dialog of document.querySelectorAll('dialog[open]')) dialog.close();
  draw();
});
$('find').addEventListener('submit', (event) => {
  event.preventDefault();
  const query = $('query').value.trim();
  if (query) location.hash = `#/search/${part(query)}`;
});
draw();
