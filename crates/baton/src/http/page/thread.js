// A thread in the page, and shares: an address under which somebody without a token reads a thread or a baton.

const thread = {
  title: 'Thread',
  questions: ([project, id], state, data) => ({
    pages: pages((cursor) => question(`/threads/${part(id)}`, { project, limit: 30, cursor }, (event) => event.project_id === project && event.thread_id === data.pages?.[0]?.thread_id), state),
  }),
  draw: (data, [project, id, zoom = 'hours'], state) => {
    const all = data.pages.filter(Boolean);
    const sessions = [...all].reverse().flatMap((one) => one.sessions);
    const { next, title, thread_id } = { ...all[0], next: all.at(-1).next };
    const last = [...sessions].reverse().find((one) => one.left)?.left;
    const tools = new Set(sessions.map(toolOf).filter(Boolean));
    const links = { session: (one) => toSession(project, one.session_id, one.identity), baton: (left) => toBaton(project, left.baton_id, left.summary || 'no words') };
    return [
      h('div.row', {}, h('h1', {}, title || 'Thread'), h('span.push', {}, operatorDeed('Share…', () => share(project, thread_id, 'thread', title)))),
      h('p.meta', {}, toProject(project), ` · ${sessions.length}${next ? ' newest' : ''} ${sessions.length === 1 ? 'session' : 'sessions'}${tools.size ? ` in ${[...tools].join(', ')}` : ''}`),
      last && (last.state === 'open' || last.state === 'abandoned') ? h('p', {}, command(`baton pickup --handoff ${last.baton_id.slice(0, 13)} --project ${project}`)) : null,
      h('p.tabs', { role: 'group', 'aria-label': 'Zoom' }, ZOOMS.map(([key, word]) => h('a.tab', { href: `#/thread/${part(project)}/${part(id)}/${key}`, 'aria-current': key === zoom ? 'true' : null }, word))),
      next ? h('p', {}, button('Show earlier sessions', () => { state.cursors = [...(state.cursors || []), next]; draw(); }, 'more')) : null,
      storyOf(sessions, zoom, links),
    ];
  },
};

/** Makes an address for somebody outside, after what it shows was shown. */
async function share(project, id, kind, title) {
  let seen;
  try { seen = await api('GET', `/shares/preview/${part(id)}`, { project, kind }); } catch (error) { refused(error); return; }
  ask(`Share: ${seen.title || title || kind}`, [
    h('p', {}, 'Whoever has the address reads this, and nothing else, without a token. Secrets that Baton recognises are taken out; read it yourself before you send it.'),
    nameField(), field('For how many days', 'days', { type: 'number', min: 1, max: 90, value: 7, required: true }),
    h('p', {}, 'What will be read:'), h('div.document', { tabindex: 0, role: 'region', 'aria-label': 'What will be read' }, storyOf(seen.sessions, 'minutes', plainLinks)),
  ], 'Share', async ({ identity, days }, send) => {
    const made = await send('POST', '/shares', { id, kind, project, identity, expires_in_s: Math.round(Number(days) * 86400) });
    const address = `${location.origin}/share/${made.secret}`;
    setTimeout(() => ask('The address, shown once', [h('p', {}, command(address)), h('p.meta', {}, 'It ends ', new Date(made.expires_at).toLocaleString(), '. ', h('a', { href: `#/shares/${part(project)}` }, 'All shares of the project'))], 'Done', async () => {}));
  });
}

const plainLinks = { session: (one) => one.identity, baton: (left) => left.summary || 'no words' };

/** The shares of a project, and the way to take one back. */
const shares = {
  title: 'Shares',
  questions: ([id], state) => ({ pages: pages((cursor) => question(at(id, '/shares'), { limit: 50, cursor }, onChange(id)), state) }),
  draw: (data, [id], state) => {
    const found = joined(data.pages);
    const takeBack = (one) => async () => {
      try {
        await api('DELETE', `/shares/${part(one.share_id)}`);
        notice('Its address answers no more.');
        renewAll();
      } catch (error) { refused(error); }
    };
    const object = (one) => h('a', { href: one.kind === 'baton' ? batonAt(id, one.object_id) : `#/thread/${part(id)}/${part(one.object_id)}` }, `${one.kind} ${one.object_id.slice(0, 13)}`);
    return [h('h1', {}, 'Shares'), h('h2.hidden', {}, 'List'), h('p.meta', {}, toProject(id), ' · an address is shown only when it is made'),
      found.items.length ? h('ul.matters', {}, found.items.map((one) => h('li.card.matter', { key: one.share_id, 'data-row': true },
        h('div.row', {}, chip(one.valid ? 'valid' : one.revoked_at ? 'taken back' : 'ended', one.valid ? 'good' : ''), h('h3', {}, object(one)), one.valid ? h('span.push', {}, deed('Take back', takeBack(one), 'risky')) : null),
        h('p.meta', {}, `by ${one.created_by} · made `, ago(one.created_at), ` · ends ${new Date(one.expires_at).toLocaleString()}`)))) : empty('Nothing of this project is shared.'),
      more(found, found.items.length, state)];
  },
};
