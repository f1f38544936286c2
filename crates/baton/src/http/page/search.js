// Search over everything: the server finds it, newest first.

const WAYS = { handoff: (_, id) => `#/handoff/${part(id)}`, message: (project, id) => `#/mail/${project}/${part(id)}` };
WAYS.comment = (project, id) => `#/task/${project}/${part(id)}`;
WAYS.lease = (project) => `#/project/${project}/paths`;
for (const kind of ['task', 'baton', 'session']) WAYS[kind] = (project, id) => `#/${kind}/${project}/${part(id)}`;

const SEARCHED = 'All words must occur in one of these: a project’s name, a task’s title, description or comment, the paths or the reason of a lease, a baton’s summary, a checkpoint, a note, a decision with its reason, a memory, the subject of a message or a hand-off, a name. The texts of messages, hand-offs and packets are not searched.';

const search = {
  title: 'Search',
  questions: ([query]) => ({ found: query?.trim() ? question('/search', { query, limit: 100 }) : null }),
  draw: ({ found }, [query]) => {
    if (!found) return [h('h1', {}, 'Search'), empty(h('p', {}, 'Write above what you look for.')), h('p.meta', {}, SEARCHED)];
    const way = (one) => (WAYS[one.kind] || ((project) => `#/project/${project}`))(part(one.project_id), one.id);
    return [
      h('h1', {}, `“${query}”`),
      found.items.length ? h('ul.grid', {}, found.items.map((one) => h('li.card', { key: one.kind + one.id, 'data-row': true }, chip(one.kind === 'handoff' ? 'hand-off' : one.kind), ' ',
        h('a', { href: way(one) }, one.title || '(no words)'),
        h('p.meta', {}, [one.project_id, one.about].filter(Boolean).join(' · '), one.at ? [' · ', ago(one.at)] : null))))
        : empty(h('p', {}, 'Nothing was found.')),
      h('p.meta', {}, SEARCHED),
      found.more ? h('p.quiet', {}, 'There is so much of it that what is older was not looked at: say more words.')
        : found.next ? h('p.quiet', {}, 'There is more: say more words.') : null,
    ];
  },
};
