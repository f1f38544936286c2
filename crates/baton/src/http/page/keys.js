// Keys: j and k go through the rows, Enter opens one, g and a letter goes to a view, ? shows them all.

const PLACES = { i: ['', 'Inbox'], a: ['agents', 'Agents'], b: ['batons', 'Batons'], h: ['handoffs', 'Hand-offs'], p: ['projects', 'Projects'], d: ['decisions', 'Decisions'], t: ['transcripts', 'Transcripts'], s: ['fleet', 'Server'] };
let goes = 0;

const isTyping = () => /INPUT|TEXTAREA|SELECT/.test(document.activeElement?.tagName || '');

function step(by) {
  const rows = [...document.querySelectorAll('main [data-row]')].filter((row) => row.querySelector('a'));
  const here = rows.findIndex((row) => row.contains(document.activeElement));
  const row = rows[Math.min(rows.length - 1, Math.max(0, here < 0 ? (by > 0 ? 0 : rows.length - 1) : here + by))];
  row?.querySelector('a')?.focus();
  row?.scrollIntoView({ block: 'nearest' });
}

function showKeys() {
  const rows = [['j, k', 'next and previous row'], ['Enter', 'open the row'], ['n', 'show what is new, and sort again'], ['<, >', 'give the task on the board to the role before, or to the next'], ['x', 'the first action of the row, or of the page'], ['m', 'write to whom the row, or the page, is about'], ['Control Enter', 'send what a dialog asks for'], ['/', 'search'], ['Control K', 'go to any view or project'],
    ...Object.entries(PLACES).map(([key, [, word]]) => [`g ${key}`, word])];
  ask('Keys', [facts(rows.map(([key, word]) => [h('kbd', {}, key), word]))], 'Close', async () => {});
}

/** Goes to a view or a project by the beginning of its name. */
async function palette() {
  const known = await api('GET', '/projects').catch(() => ({ items: [] }));
  const places = [...Object.values(PLACES).map(([key, word]) => [word, `#/${key}`]), ...known.items.map((one) => [one.project_id, `#/project/${part(one.project_id)}`])];
  ask('Go to', [field('View or project', 'place', { list: 'places', autocomplete: 'off', required: true }), h('datalist', { id: 'places' }, places.map(([word]) => h('option', { value: word })))], 'Go', async ({ place }) => {
    const wanted = place.trim().toLowerCase();
    const found = places.find(([word]) => word.toLowerCase() === wanted) || places.find(([word]) => word.toLowerCase().startsWith(wanted));
    location.hash = found ? found[1] : `#/search/${part(place.trim())}`;
  });
}

function act() {
  const row = document.activeElement?.closest?.('[data-row]');
  const found = (row || $('main')).querySelector('button:not(.copy, .more, .acts *)');
  const menu = row?.querySelector('.acts');
  if (found) found.click();
  else if (menu) { menu.open = true; menu.querySelector('button').focus(); }
  else notice(row ? 'This row has no action: Enter opens it.' : 'There is no action here.');
}

/** Begins a message to whom the row, or the page, is about. */
function writeHere() {
  const row = document.activeElement?.closest?.('[data-row]');
  const found = [...(row || $('main')).querySelectorAll('button')].find((one) => one.textContent.startsWith('Write'));
  if (found) found.click();
  else if (!canWrite()) notice('Your token may only look: ask whoever keeps the server for one of the scope write.');
  else notice('There is nobody to write to here: the page of an agent, a session or a project has “Write…”.');
}

document.addEventListener('keydown', (event) => {
  if ((event.ctrlKey || event.metaKey) && event.key === 'k') { event.preventDefault(); palette(); return; }
  if (event.ctrlKey || event.metaKey || event.altKey || isTyping() || document.querySelector('dialog[open]')) return;
  const isPlace = goes && Date.now() - goes < 1500 && event.key.length === 1;
  goes = 0;
  if (isPlace) {
    // A letter after g means a view or nothing, and never what it does alone.
    event.preventDefault();
    if (PLACES[event.key]) location.hash = `#/${PLACES[event.key][0]}`;
    else notice(`No view has the key g ${event.key}: ? shows those that there are.`);
    return;
  }
  const keys = { j: () => step(1), k: () => step(-1), n: showNew, '<': () => giveOn(-1), '>': () => giveOn(1), x: act, m: writeHere, g: () => { goes = Date.now(); }, '?': showKeys, '/': () => $('query').focus() };
  if (!keys[event.key]) return;
  event.preventDefault();
  keys[event.key]();
});
