// Sessions of other tools on the server's machine, and the hand-off that would be made of one.

const transcripts = {
  title: 'Transcripts',
  questions: () => ({ found: question('/transcripts', { limit: 200 }) }),
  draw: ({ found }, _, view) => {
    if (!found.items.length) return [h('h1', {}, 'Transcripts'), empty('No sessions of other tools were found on the server’s machine.')];
    const wanted = (view.words || '').toLowerCase();
    const text = (one) => `${one.title || ''} ${one.agent} ${one.cwd || ''} ${one.branch || ''} ${one.id}`.toLowerCase();
    const items = found.items.filter((one) => text(one).includes(wanted));
    return [
      h('h1', {}, 'Transcripts'), h('h2.hidden', {}, 'List'),
      h('p.meta', {}, `${found.total} sessions of coding agents on the server’s machine, newest first.`),
      h('p', {}, h('label', { for: 'narrow' }, 'Only with these words'), h('input', { id: 'narrow', type: 'search', autocomplete: 'off', oninput: (event) => { view.words = event.target.value; draw(); } })),
      h('ul.grid', {}, items.map((one) => h('li.card', { key: one.agent + one.id, 'data-row': true },
        h('h3', {}, h('a', { href: `#/transcript/${part(one.agent)}/${part(one.id)}` }, one.title || one.id)),
        h('p.meta', {}, chip(one.agent), ' ', one.cwd || '', one.branch ? ` · ${one.branch}` : '', ' · ', ago(one.updated_at || one.created_at))))),
      items.length ? null : empty('None of those that are shown has these words.'),
    ];
  },
};

const transcript = {
  title: 'Transcript',
  questions: ([agent, id]) => ({ made: question(`/transcripts/${part(id)}/handoff`, { agent }) }),
  draw: ({ made }, [agent, id]) => [
    h('div.row', {}, h('h1', {}, 'What the next agent would get'), h('span.push', {}, button('Assign…', () => assign(agent, made), 'main'))),
    h('p.meta', {}, chip(agent), ` ${id} · about ${made.tokens || '?'} tokens`),
    h('p', {}, command(`baton continue ${id} --in claude`)),
    documentOf(made.document, 'Hand-off document'),
  ],
};

/** Makes a baton of the session, for somebody or for whoever comes first; what it says is shown before it is sent. */
async function assign(agent, made) {
  const known = (await api('GET', '/projects')).items.map((one) => one.project_id);
  const likely = known.length === 1 ? known[0] : '';
  ask('Assign this session', [
    h('p', {}, 'A baton is made of it and waits in the project. Without a name and a role it is for whoever comes first.'),
    nameField(),
    field('Project', 'project', { value: likely, required: true, list: 'known-projects', autocomplete: 'off' }),
    h('datalist', { id: 'known-projects' }, known.map((one) => h('option', { value: one }))),
    field('For: a name or a tool', 'to', { maxlength: 64 }), field('Or a role', 'role', { maxlength: 64 }),
    h('p', {}, 'What will be handed over:'), documentOf(made.document, 'What will be handed over'),
  ], 'Assign', async ({ identity, project, to, role }) => {
    setMe(identity);
    const left = await api('POST', `/transcripts/${part(made.id)}/import`, { agent, project, to, role });
    notice(left.imported_before ? 'This session was assigned before, as it is now.' : `The baton waits for ${to || role || 'whoever comes first'}.`);
    location.hash = batonAt(left.project_id, left.baton_id);
  });
}
