// Entries that come while a feed is read wait behind a button with their number: what is read stays where it is.

const FEED_ROWS = 60;

/** The feed of a view: the rows that were there when one came to it, or since one asked for what is new, and older ones below. */
function feed(view, newest, older = []) {
  if (!view.rows?.length) view.rows = newest;
  return [newButton(newCount(view, newest)), h('ul.feed', { id: 'ledger' }, [...view.rows, ...older].map(entry))];
}

/** How many of the newest entries are not shown yet. */
function newCount(view, newest) {
  const shownSeq = view.rows?.[0]?.seq ?? 0;
  return newest.filter((row) => row.seq > shownSeq).length;
}

const newWords = (count) => `${count < FEED_ROWS ? count : `${FEED_ROWS} or more`} new`;

function newButton(count) {
  return h('p.new', { hidden: !count }, h('button', { type: 'button', id: 'new-rows', title: 'Show what is new (n)', onclick: showNew }, newWords(count)));
}

let countTimer = 0;
let lastCount = 0;

/** Brings the number up to date without drawing the view, at the pace of the store: each change of it paints the page anew. */
function countNew(newest) {
  if (countTimer) return;
  const place = location.hash;
  countTimer = setTimeout(() => {
    countTimer = 0;
    lastCount = Date.now();
    if (location.hash === place) showCount(newest());
  }, Math.max(0, lastCount + PACE - Date.now()));
}

function showCount(newest) {
  const button = $('new-rows');
  const count = newCount(viewStates.get(location.hash) || {}, newest);
  if (!button || !count) return;
  const words = newWords(count);
  if (button.textContent !== words) button.textContent = words;
  button.parentElement.hidden = false;
}

/** Shows what is new, and every list in the order of its answer. Who pressed the button goes on at the first row; otherwise the focus stays. */
async function showNew() {
  const view = viewStates.get(location.hash);
  if (!view) return;
  const isPressed = document.activeElement === $('new-rows');
  if (view.rows && $('new-rows')) {
    view.rows = null;
    if (location.hash.startsWith('#/ledger/')) view.cursors = [];
  }
  view.board = null;
  isSorting = true;
  try { await draw(); } finally { isSorting = false; }
  if (isPressed) $('ledger')?.querySelector('a')?.focus();
}
