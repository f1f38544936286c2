// The page's scripts are one program in several files, which the server joins in order. This one is what every view uses:
// elements, the API, notices. Text is only ever set as text, so that nothing an agent wrote can become a
// part of the page.

const $ = (id) => document.getElementById(id);

// Characters that hide or mislead, as `baton_packet::printable` has them.
const HIDDEN = /[\0-\x08\x0b-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\u{1bca0}-\u{1bca3}\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}]/u;
const EVERY_HIDDEN = new RegExp(HIDDEN, 'gu');
const SIGN = /[©®\u203c-\u3299\u{1f000}-\u{1faff}]/u;
const JOINED = /[\u0600-\u07bf\u08a0-\u0dff\u1780-\u18aa\ufb50-\ufdff]/u;

/** Text with what hides or misleads written out, as a terminal shows it: `\u{202e}`. Joiners stay where they have an effect. */
function printable(text) {
  if (!HIDDEN.test(text)) return text;
  const isOfUse = (c, before, after) => {
    const [isSign, joins] = [SIGN, JOINED].map((kind) => (one) => kind.test(one) && !HIDDEN.test(one));
    if (c === '\ufe0e' || c === '\ufe0f') return isSign(before);
    if (c === '\u200d' && isSign(after)) return isSign(before) || before === '\ufe0f';
    return (c === '\u200c' || c === '\u200d') && joins(before) && joins(after);
  };
  return text.replace(/\r\n/g, '\n').replace(EVERY_HIDDEN, (c, at, whole) => {
    const before = [...whole.slice(Math.max(0, at - 2), at)].at(-1) || ' ';
    const after = [...whole.slice(at + c.length, at + c.length + 2)][0] || ' ';
    if (isOfUse(c, before, after)) return c;
    return c === '\r' ? '\\r' : `\\u{${c.codePointAt(0).toString(16)}}`;
  });
}

/** Makes an element: h('a.card', {href}, child, …). A child is text, an element, or a list of them; null is nothing. */
function h(name, attributes, ...children) {
  const [tag, ...classes] = name.split('.');
  const element = document.createElement(tag || 'div');
  return fill(element, classes, attributes, children);
}

/** The same for drawings. */
function s(name, attributes, ...children) {
  const [tag, ...classes] = name.split('.');
  return fill(document.createElementNS('http://www.w3.org/2000/svg', tag), classes, attributes, children);
}

function fill(element, classes, attributes, children) {
  if (classes.length) element.setAttribute('class', classes.join(' '));
  for (const [key, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    // A handler is a property, so that a drawing that is brought up to date takes the new one over.
    if (key.startsWith('on')) element[key] = value;
    else if (key === 'key') element.rowKey = value;
    else if (key === 'class') element.setAttribute('class', [...classes, value].join(' ').trim());
    else element.setAttribute(key, value === true ? '' : key === 'title' || key === 'aria-label' ? printable(String(value)) : String(value));
  }
  const shown = children.flat(9).filter((child) => child !== null && child !== undefined && child !== false);
  element.append(...shown.map((child) => (child instanceof Node ? child : printable(String(child)))));
  return element;
}

const store = {
  get: (key) => { try { return localStorage.getItem(key); } catch { return null; } },
  set: (key, value) => { try { localStorage.setItem(key, value); } catch { /* private window: it is asked for again */ } },
};

// The rule of an identity, as the server has it.
const isName = (text) => /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(text);
/** The identities that the token is bound to, as the server said with its last answer; empty where it is bound to none. */
let bound = [];
const me = () => {
  const name = store.get('baton.name') || '';
  const isBound = (one) => one.toLowerCase() === name.toLowerCase();
  if (bound.length) return bound.find(isBound) || bound[0];
  return isName(name) ? name : '';
};
/** The name of who uses this server without a token, as its settings have it: it is filled in where a name is asked for, and nothing is done
 * under it before. */
let localName = '';
const isMe = (name) => Boolean(name && me()) && name.toLowerCase() === me().toLowerCase();
const setMe = (name) => store.set('baton.name', name);
const token = () => store.get('baton.token') || '';
const setToken = (text) => store.set('baton.token', text);

const headers = () => (token() ? { authorization: `Bearer ${token()}` } : {});

/** Who did something, as a sentence names them: a login at GitHub is no agent's name. */
const actorOf = (name, type) => (type === 'github_user' ? `${name} on GitHub` : name);
/** Who ended a hand-off, and in whose place. */
const enderOf = ({ ended, state, from_identity: from, accepted_by: acceptor }) => {
  const place = ended.forced ? (state === 'cancelled' ? from : acceptor) || 'the acceptor' : null;
  return `${actorOf(ended.by, ended.by_type)}${place ? ` in ${place}’s place` : ''}`;
};

/** Who sent a message. */
const senderOf = (one) => (one.from_type === 'project' ? `project ${one.from}` : actorOf(one.from, one.from_type));

/** What helps after a "no", where the server's hint names commands: the same in the words of the page. */
const HELPS = {
  agent_unknown: 'Agents lists who is at work.',
  baton_addressed: 'It is for somebody else: ask them, or who left it.',
  baton_claimed: 'Somebody has it by now: the inbox shows what waits.',
  baton_finished: 'Nothing of it is left to do: its page has the whole story.',
  baton_not_yours: 'Who left it takes it back; an operator does so in their place, with a reason.',
  baton_spent: 'It went on already: its page names the next one.',
  handoff_claimed: 'Somebody is at work on it: its page says who.',
  handoff_not_yours: 'It is another’s: an operator ends it in their place, with a reason.',
  handoff_state: 'It has moved on meanwhile: its page says what can be done now.',
  holder_changed: 'It went into other hands: its page says into whose.',
  identity_not_bound: 'Act under a name that the token is for.',
  identity_not_yours: 'Act under a name that the token is for.',
  message_delivered: 'Write again: it is read after the first one.',
  message_invalid: 'Say in one line what it is about, and give names of agents, separated by commas.',
  project_unknown: 'Projects lists those that there are.',
  recipient_unknown: 'Take one of the names that are offered while you type.',
  role_unknown: 'The board of the project has the roles that there are.',
  session_not_yours: 'It is another’s session: reassign it.',
  session_released: 'The session has ended: Agents lists those that are open.',
  target_unknown: 'Projects lists those that there are.',
  task_blocked: 'Its page names what it waits for.',
  task_claimed: 'Take it back from its agent on its page, or wait until it is given back.',
  task_not_claimed: 'Nobody is at work on it: give it to somebody on its page.',
  task_result_needed: 'Say how it went: what follows it depends on that.',
  token_invalid: 'Paste the token that you were given.',
  task_unknown: 'The board of the project has its tasks.',
  why_missing: 'Say why: those whose work it is are told.',
};

/** A hint that is not for a browser: it names a command or its options. */
const isForTerminal = (hint) => /`|(^|\s)--\w/.test(hint || '');

/** A "no" of the server. */
class Problem extends Error {
  constructor(status, body) {
    super(body.message || body.title || `the server answered ${status}`);
    this.status = status;
    this.code = body.code;
    // Which scope it needs, the server says.
    const needs = body.code === 'scope_missing' ? `Ask whoever keeps the server for a token of the scope ${body.scope || 'that it needs'}.` : null;
    const near = Array.isArray(body.near) && body.near.length ? `Did you mean ${body.near.join(' or ')}?` : null;
    this.near = near;
    // Who holds it by now, where another was meant.
    this.holder = body.holder;
    const helps = near || needs || HELPS[body.code];
    this.hint = isForTerminal(body.hint) ? helps || `In a terminal: ${body.hint}` : body.hint || helps;
  }
}

/** What the token may do, as the server said with its last answer. */
let scope = '';
const canWrite = () => scope !== 'read';
const canOperate = () => scope === '' || scope === 'operator';

const newKey = () => crypto.randomUUID?.() || String(Math.random()).slice(2);

/** Asks the API; fields that are empty are left out, unless they are meant so (`exact`). An empty holder is nobody. */
async function api(method, path, fields = {}, options = {}) {
  const request = { method, headers: { ...headers(), ...options.headers }, signal: options.signal };
  let url = options.root ? path : `/api/v1${path}`;
  const given = Object.entries(fields).filter(([key, value]) => (value !== '' || key === 'holder' || options.exact) && value !== null && value !== undefined);
  if (method === 'GET' || method === 'DELETE') {
    const query = new URLSearchParams(given).toString();
    if (query) url += `?${query}`;
  } else {
    request.body = JSON.stringify(Object.fromEntries(given));
    request.headers['content-type'] = 'application/json';
    request.headers['idempotency-key'] = options.key || newKey();
  }
  let response;
  try {
    response = await fetch(url, request);
  } catch (error) {
    if (error.name === 'AbortError') throw error;
    throw new Problem(0, { message: 'The server does not answer.', hint: 'Is the server still running?' });
  }
  // What the server says to everybody, such as its health, names nobody.
  if (response.headers.has('baton-scope')) {
    scope = response.headers.get('baton-scope');
    bound = response.headers.get('baton-identities')?.split(', ') || [];
    localName = response.headers.get('baton-name') || '';
  }
  const kind = response.headers.get('content-type') || '';
  const body = kind.includes('json') ? await response.json() : await response.text();
  if (!response.ok) throw new Problem(response.status, typeof body === 'string' ? { message: body } : body);
  return body;
}

function notice(text, bad = false, undo = null) {
  const box = h('div.notice', { class: bad ? 'bad' : '' }, withInstants(text),
    undo ? h('button.undo', { type: 'button', onclick: () => { box.remove(); undo(); } }, 'Undo') : null);
  $('notices').append(box);
  setTimeout(() => box.remove(), bad || undo ? 9000 : 4500);
}

/** Shows why something was refused, and what to do. */
const refused = (error) => notice([error.message, error.hint].filter(Boolean).join(' — '), true);

const trouble = (error) =>
  h('div.trouble', { role: 'alert' }, h('strong', {}, withInstants(error.message)), error.hint ? h('p', {}, withInstants(error.hint)) : null);

const empty = (...children) => h('div.empty', {}, ...children);

/** How long ago a time was, as people say it. */
function since(text) {
  const seconds = Math.max(0, (Date.now() - Date.parse(text)) / 1000);
  const steps = [[60, 's', 1], [3600, 'm', 60], [86400, 'h', 3600], [Infinity, 'd', 86400]];
  const [, unit, size] = steps.find(([edge]) => seconds < edge);
  return seconds < 5 ? 'just now' : `${Math.floor(seconds / size)}${unit} ago`;
}

/** A time as people say it; the exact one is its title. */
function ago(text) {
  if (!text) return h('span', {}, 'never');
  return h('time', { datetime: text, title: new Date(text).toLocaleString() }, since(text));
}

/** How far away a time is. */
function distance(text) {
  const minutes = Math.floor((Date.parse(text) - Date.now()) / 60000);
  if (Date.parse(text) <= Date.now()) return since(text);
  const pair = (most, unit, rest, part) => `in ${most} ${unit}${rest ? ` ${rest} ${part}` : ''}`;
  if (!minutes) return 'in under a minute';
  if (minutes < 60) return `in ${minutes} min`;
  if (minutes < 1440) return pair(Math.floor(minutes / 60), 'h', minutes % 60, 'min');
  return pair(Math.floor(minutes / 1440), 'd', Math.floor((minutes % 1440) / 60), 'h');
}

/** A time within a sentence, in the reader's clock: `22:00 (in 2 h 10 min)`. */
function spokenTime(text) {
  const at = new Date(text);
  const day = at.toDateString() === new Date().toDateString() ? '' : `${at.toLocaleDateString([], { day: 'numeric', month: 'short', year: at.getFullYear() === new Date().getFullYear() ? undefined : 'numeric' })}, `;
  return `${day}${at.toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' })} (${distance(text)})`;
}

// An instant as the server writes it, with how far away it was then.
const INSTANT = /(?:(\d{4}-\d\d-\d\d)T(\d\d:\d\d)(?::(\d\d)(?:\.\d+)?)?Z|(?:(\d{4}-\d\d-\d\d) )?(\d\d:\d\d) UTC)(?: \((?:in|just now|\d+(?:[smhd]| (?:second|minute|hour|day)s?) ago)[^)]*\))?/g;

/** A sentence of the server: its instants are said in the reader's clock, and stay true while they are looked at. */
function withInstants(text) {
  const parts = [];
  let from = 0;
  for (const found of String(text).matchAll(INSTANT)) {
    const [whole, day = found[4] || new Date().toISOString().slice(0, 10), minute = found[5], seconds = '00'] = found;
    const at = `${day}T${minute}:${seconds}Z`;
    if (Number.isNaN(Date.parse(at))) continue;
    parts.push(String(text).slice(from, found.index), h('time.spoken', { datetime: at, title: new Date(at).toLocaleString() }, spokenTime(at)));
    from = found.index + whole.length;
  }
  return parts.length ? [...parts, String(text).slice(from)].filter((one) => one !== '') : text;
}

/** What is said where a sentence names the command that tries a hand-off again: on the page that is a button, or a field. */
const pageWords = (text, instead = '“Try now…”') => String(text).replace(/`baton handoff retry [^`]*`/g, instead);
const errorText = (text) => withInstants(pageWords(text));

const chip = (text, tone = '') => h('span.chip', { class: tone }, text);

// One spelling for each tool, whatever a session called itself.
const TOOL_NAMES = new Map([/*TOOLS*/]);
const toolOf = (one) => TOOL_NAMES.get((one.surface || '').toLowerCase().replace(/[-_ ]/g, '')) || one.surface || '';

const TONES = { open: 'gold', offered: 'gold', abandoned: 'bad', failed: 'bad', held: 'good', accepted: 'good', completed: 'good', closed: 'good', blocked: 'bad', ready: 'gold', 'at work': 'good' };
const state = (word) => chip(word, TONES[word] || '');
