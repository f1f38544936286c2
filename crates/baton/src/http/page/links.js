// Addresses within the page, and the small parts that every view is made of.

const part = encodeURIComponent;
const toProject = (id, text) => h('a', { href: `#/project/${part(id)}` }, text || id);
const sessionAt = (project, id) => `#/session/${part(project)}/${part(id)}`;
const batonAt = (project, id) => `#/baton/${part(project)}/${part(id)}`;
const toSession = (project, id, text) => h('a', { href: sessionAt(project, id) }, text || id.slice(0, 13));
const toBaton = (project, id, text) => h('a', { href: batonAt(project, id) }, text || 'Baton');
const at = (project, rest) => `/projects/${part(project)}${rest}`;
const facts = (rows) => h('dl.facts', {}, rows.filter(([, value]) => value).map(([name, value]) => [h('dt', {}, name), h('dd', {}, value)]));
const button = (text, onclick, tone = '') => h('button', { type: 'button', class: tone, onclick }, text);

/** A button that writes: not there for who may only look. */
const deed = (text, onclick, tone = '') => (canWrite() ? button(text, onclick, tone) : null);

/** A button for which a token needs the scope operator. */
const operatorDeed = (text, onclick, tone = '') => (canOperate() ? button(text, onclick, tone) : null);

/** The views of a project, beside each other. */
const PROJECT_VIEWS = [['project', 'Overview'], ['tasks', 'List of tasks'], ['tree', 'Tree of tasks'], ['mailbox', 'All mail'], ['memories', 'Memories'], ['ledger', 'Ledger'], ['sessions', 'All sessions']];
const projectTabs = (id, current) => h('p.tabs.views', { role: 'group', 'aria-label': 'Views of the project' }, PROJECT_VIEWS.map(([key, word]) => h('a.tab', { href: `#/${key}/${part(id)}`, 'aria-current': key === current ? 'true' : null }, word)));

/** What is said at an address whose state is none, with those that there are beside it. */
const noSuchState = (key) => empty(h('p', {}, `There is no state “${key}”: choose one of these above.`));

const counted = (count, noun) => `${count} ${noun}${count === 1 ? '' : 's'}`;

/** Only addresses of the web become links. */
const safe = (url) => (/^https?:\/\//.test(url) ? url : '#');

/** A command with a button that copies it. */
const command = (line) => h('span.command', {}, h('code', {}, line), h('button.copy', {
  type: 'button',
  'aria-label': `Copy ${line}`,
  onclick: async () => {
    try { await navigator.clipboard.writeText(line); notice('Copied.'); } catch { notice(line); }
  },
}, 'Copy'));

/** Where the rest of a list is. */
function more(found, shownCount, state, text = 'Show more') {
  if (!found.next) return null;
  return h('p', {}, button(`${text} (${(found.total ?? shownCount) - shownCount} more)`, () => { state.cursors = [...(state.cursors || []), found.next]; draw(); }, 'more'));
}

/** The pages of a list that were opened so far: the questions, and all their rows. */
function pages(make, state) {
  return [null, ...(state.cursors || [])].map((cursor) => make(cursor));
}

function joined(answersOf) {
  const all = answersOf.filter(Boolean);
  return { ...all[0], items: all.flatMap((one) => one.items), next: all.at(-1)?.next };
}
