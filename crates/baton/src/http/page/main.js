// The page's views by address, drawn anew when the address or the ledger changes.

import { $, ask, field, follow, h, setToken, since, trouble } from './core.js';
import { home } from './home.js';
import { mail } from './mail.js';
import { project } from './project.js';
import { search } from './search.js';
import { baton, handoff, session, task } from './things.js';
import { transcript, transcripts } from './transcripts.js';

const VIEWS = { '': home, project, session, baton, handoff, task, mail, transcripts, transcript, search };
const NAV = [['', 'Now'], ['transcripts', 'Transcripts']];

let drawing = 0;
let current = '';

async function draw(again = false) {
  const [name, ...rest] = location.hash.replace(/^#\/?/, '').split('/').map(decodeURIComponent);
  const view = VIEWS[name] || VIEWS[''];
  drawing += 1;
  const mine = drawing;
  $('nav').replaceChildren(...NAV.map(([key, label]) => h('a', { href: `#/${key}`, 'aria-current': key === name ? 'page' : null }, label)));
  if (!again) $('main').setAttribute('aria-busy', 'true');
  let content;
  try {
    content = await view(...rest);
  } catch (error) {
    if (error.status === 401) askToken();
    content = [h('h1', {}, 'That did not work'), trouble(error)];
  }
  if (mine !== drawing) return;
  const main = $('main');
  const drawn = h('div', {}, content.flat(9).filter(Boolean));
  // Nothing new: then nothing moves.
  if (again && same(drawn, main)) return;
  // A drawing that only repeats itself must not take the focus or the place on the page away.
  const held = document.activeElement && main.contains(document.activeElement) ? address(document.activeElement) : null;
  const scrolled = [...main.querySelectorAll('.scroll, pre')].map((one) => [one.scrollLeft, one.scrollTop]);
  const place = window.scrollY;
  main.replaceChildren(...drawn.childNodes);
  main.removeAttribute('aria-busy');
  const title = main.querySelector('h1')?.textContent || '';
  document.title = `${title} · Baton`;
  if (!again) for (const one of main.querySelectorAll('.scroll')) one.scrollLeft = one.scrollWidth;
  if (again) {
    [...main.querySelectorAll('.scroll, pre')].forEach((one, index) => { if (scrolled[index]) [one.scrollLeft, one.scrollTop] = scrolled[index]; });
    if (held) [...main.querySelectorAll('a, button, [tabindex]')].find((one) => address(one) === held)?.focus({ preventScroll: true });
    window.scrollTo({ top: place, behavior: 'instant' });
  } else if (current) {
    main.focus();
    window.scrollTo(0, 0);
  }
  current = location.hash || '#/';
}

/** Whether two drawings differ in nothing but how long ago things were. */
function same(one, other) {
  const said = (root) => {
    const copy = root.cloneNode(true);
    for (const time of copy.querySelectorAll('time')) time.textContent = '';
    return copy.innerHTML;
  };
  return said(one) === said(other);
}

const address = (one) => `${one.tagName} ${one.getAttribute('href') || one.getAttribute('aria-label') || one.textContent}`;

let asking = false;
function askToken() {
  if (asking) return;
  asking = true;
  const dialog = ask('This server asks for a token', [h('p', {}, 'baton token create makes one.'), field('Token', 'token', { type: 'password', required: true, autocomplete: 'off' })], 'Use it', async ({ token }) => {
    setToken(token.trim());
    draw();
  });
  dialog.addEventListener('close', () => { asking = false; });
}

setInterval(() => {
  for (const time of document.querySelectorAll('time[datetime]')) time.textContent = since(time.getAttribute('datetime'));
}, 10000);

let timer = 0;
follow(() => {
  // Many deltas in a moment are one drawing.
  if (!timer && !document.querySelector('dialog[open]')) timer = setTimeout(() => { timer = 0; draw(true); }, 150);
}, (on) => {
  $('live').className = `live ${on ? 'on' : 'off'}`;
  $('live').textContent = on ? 'live' : 'no connection';
  if (on && current) draw(true);
});

window.addEventListener('hashchange', () => draw());
$('find').addEventListener('submit', (event) => {
  event.preventDefault();
  const query = $('query').value.trim();
  if (query) location.hash = `#/search/${encodeURIComponent(query)}`;
});
document.addEventListener('keydown', (event) => {
  if (event.key === '/' && !/INPUT|TEXTAREA|SELECT/.test(document.activeElement?.tagName || '')) {
    event.preventDefault();
    $('query').focus();
  }
});
draw();
