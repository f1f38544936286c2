// Sessions of other tools on the server's machine, and the hand-off that would be made of one.

import { ago, api, ask, chip, documentOf, empty, field, h, nameField, notice, setMe } from './core.js';

export async function transcripts() {
  const found = await api('GET', '/transcripts', { limit: 200 });
  if (!found.items.length) return [h('h1', {}, 'Transcripts'), empty('No sessions of other tools were found on the server’s machine.')];
  return [
    h('h1', {}, 'Transcripts'),
    h('p.meta', {}, `${found.total} sessions of coding agents on the server’s machine, newest first.`),
    h('ul.grid', {}, found.items.map((one) => h('li.card', {},
      h('h3', {}, h('a', { href: `#/transcript/${encodeURIComponent(one.agent)}/${encodeURIComponent(one.id)}` }, one.title || one.id)),
      h('p.meta', {}, chip(one.agent), ' ', one.cwd || '', one.branch ? ` · ${one.branch}` : '', ' · ', ago(one.updated_at || one.created_at))))),
  ];
}

export async function transcript(agent, id) {
  const made = await api('GET', `/transcripts/${encodeURIComponent(id)}/handoff`, { agent });
  return [
    h('div.row', {}, h('h1', {}, 'What the next agent would get'),
      h('button.main.push', { type: 'button', onclick: () => assign(agent, made) }, 'Assign…')),
    h('p.meta', {}, chip(agent), ` ${id} · about ${made.tokens || '?'} tokens`),
    documentOf(made.document, 'Hand-off document'),
  ];
}

/** Makes a baton of the session, for somebody or for whoever comes first; what it says is shown before it is sent. */
async function assign(agent, made) {
  const projects = (await api('GET', '/projects')).items.map((one) => one.project_id);
  const likely = projects.length === 1 ? projects[0] : '';
  ask('Assign this session', [
    h('p', {}, 'A baton is made of it and waits in the project. Without a name and a role it is for whoever comes first.'),
    nameField(),
    field('Project', 'project', { value: likely, required: true, list: 'known-projects', autocomplete: 'off' }),
    h('datalist', { id: 'known-projects' }, projects.map((one) => h('option', { value: one }))),
    field('For: a name or a tool', 'to', { maxlength: 64 }), field('Or a role', 'role', { maxlength: 64 }),
    h('p', {}, 'What will be handed over:'), documentOf(made.document, 'What will be handed over'),
  ], 'Assign', async ({ identity, project, to, role }) => {
    setMe(identity);
    const left = await api('POST', `/transcripts/${encodeURIComponent(made.id)}/import`, { agent, project, to, role });
    notice(left.imported_before ? 'This session was assigned before, as it is now.' : `The baton waits for ${to || role || 'whoever comes first'}.`);
    location.hash = `#/baton/${encodeURIComponent(left.project_id)}/${left.baton_id}`;
  });
}
