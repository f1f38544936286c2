// What somebody reads at the address of a share, or in a file: the data stands in the page, and nothing is asked for.

const given = JSON.parse($('data').textContent);

function sharedPage(seen) {
  if (!seen) return [h('h1', {}, 'Nothing is shared at this address'), h('p', {}, 'It ended, was taken back, or never was. Ask whoever sent it for another.')];
  const links = { session: (one) => one.identity, baton: (left) => left.summary || 'no words' };
  return [h('h1', {}, seen.title || 'Baton'),
    h('p.meta', {}, `Project ${seen.project_id} · ${seen.kind === 'baton' ? 'one baton' : `${seen.sessions.length} sessions`} · as of ${new Date(seen.read_at).toLocaleString()}`,
      seen.expires_at ? ` · this address ends ${new Date(seen.expires_at).toLocaleString()}` : ''),
    seen.more ? h('p.quiet', {}, 'Only the newest sessions are here.') : null,
    storyOf(seen.sessions, 'minutes', links)];
}

$('main').replaceChildren(...sharedPage(given).filter(Boolean));
document.title = `${$('main').querySelector('h1').textContent} · Baton`;
