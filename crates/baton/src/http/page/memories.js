// What a project remembers: a list that is searched, and one memory with its text.

const memoryAt = (project, id) => `#/memory/${part(project)}/${part(id)}`;
const SHOWN_MEMORIES = 100;

/** The memory of a hand-off comes, changes and goes with it. */
const onMemories = (project) => on(new Set(['remember', 'handoff', 'other', 'change']), project);

/** How much a memory matters, in words. */
const importanceOf = (one) => (one.importance >= 0.7 ? chip('matters much', 'gold') : one.importance < 0.3 ? chip('matters little') : null);

const memories = {
  title: 'Memories',
  questions: ([id, query = ''], state) => ({ found: question('/memories', { project: id, query, limit: state.isWhole ? 0 : SHOWN_MEMORIES }, onMemories(id)) }),
  draw: ({ found }, [id, query = ''], state) => [
    h('h1', {}, 'Memories'), h('h2.hidden', {}, 'List'), h('p.meta', {}, toProject(id)), projectTabs(id, 'memories'),
    h('form.filters', {
      onsubmit: (event) => {
        event.preventDefault();
        location.hash = listAt('memories', [id, new FormData(event.target).get('query').trim()]);
      },
    }, filter('query', 'Words or a question', h('input', { id: 'by-query', name: 'query', value: query, autocomplete: 'off' })), h('button.main', { type: 'submit' }, 'Search')),
    h('p.meta', {}, query ? `What answers “${query}” best comes first.` : 'What is new and matters most comes first.'),
    found.items.length ? h('ul.matters', {}, found.items.map((one) => h('li.card', { key: one.memory_id, 'data-row': true },
      h('div.row', {}, chip(one.kind), h('h3', {}, h('a', { href: memoryAt(one.project_id, one.memory_id) }, headline(one.text))), importanceOf(one)),
      h('p.meta', {}, [one.identity, one.tags.join(', ')].filter(Boolean).join(' · '), ' · ', ago(one.created_at))))) : empty(query ? 'No memory answers to these words.' : 'Nothing is remembered yet.'),
    !state.isWhole && found.items.length === SHOWN_MEMORIES ? h('p', {}, button('Show all', () => { state.isWhole = true; draw(); }, 'more')) : null,
  ],
};

/** The first line of a text, or its beginning. */
function headline(text) {
  const [line] = text.trim().split('\n');
  return line.length > 160 ? `${line.slice(0, 160)}…` : line || '(no words)';
}

const memory = {
  title: 'Memory',
  questions: ([project, id]) => ({ found: question('/memories', { project, id }, onMemories(project)) }),
  draw: ({ found: { items: [one] } }, [project]) => [
    h('div.row', {}, h('h1', {}, headline(one.text)), chip(one.kind), one.withdrawn_at ? state('withdrawn') : importanceOf(one)),
    facts([['Project', toProject(project)], ['Stored by', one.identity], ['When', ago(one.created_at)], ['Tags', one.tags.join(', ')],
      ['Came with', one.handoff_id ? h('a', { href: `#/handoff/${part(one.handoff_id)}` }, 'a hand-off') : null],
      ['Withdrawn', one.withdrawn_at ? [`by ${one.withdrawn_by || 'somebody'}, `, ago(one.withdrawn_at), one.withdrawn_why ? `: ${one.withdrawn_why}` : ''] : null],
      ['Others', h('a', { href: `#/memories/${part(project)}` }, 'all memories of the project')]]),
    documentOf(one.text, 'Memory'),
  ],
};
