// The server itself: whether it is well, what it has in hand, what does not arrive, who may come in, and rates as small charts. It
// asks only while it is looked at.

const SAMPLES = 60;
const SAMPLE_EVERY = 5000;
const samples = [];

/** Reads counts from the text of /metrics: the sum of every series of a name. */
function countsOf(text) {
  const sums = {};
  for (const line of text.split('\n')) {
    const found = /^(\w+)(?:\{([^}]*)\})? ([\d.e+-]+)$/.exec(line);
    if (!found) continue;
    sums[found[1]] = (sums[found[1]] || 0) + Number(found[3]);
    const status = /status="(\d)/.exec(found[2] || '');
    if (status && Number(status[1]) >= 5) sums.failures = (sums.failures || 0) + Number(found[3]);
  }
  return sums;
}

/** A line of rates, with its newest value in words. */
function chart(name, rates) {
  const most = Math.max(...rates, 1);
  const points = rates.map((rate, index) => `${(index * 160) / Math.max(1, rates.length - 1)},${34 - (rate / most) * 30}`).join(' ');
  const now = rates.at(-1);
  return h('li.card', { key: name }, h('h3', {}, name), h('p', {}, now === undefined ? 'measuring…' : `${now.toFixed(1)} a second, ${most.toFixed(1)} at most`),
    s('svg', { viewBox: '0 0 160 38', width: 160, height: 38, role: 'img', 'aria-label': `${name} over the last minutes` }, s('polyline.rate', { points })));
}

/** What a check of the store found, in words. */
const checked = (found) => [h('p', {}, found.sound ? `No fault was found: ${counted(found.projects, 'project')}, ${found.engine}.` : `${counted(found.faults.length, 'fault')} in the store (${found.engine}):`),
  found.faults?.length ? h('ul', {}, found.faults.map((one) => h('li', {}, one))) : null,
  found.next?.length ? [h('p', {}, 'What to do:'), h('ol', {}, found.next.map((one) => h('li', {}, one)))] : null];

const fleet = {
  title: 'Server',
  questions: () => ({
    health: question('/healthz', {}, null, { root: true }), metrics: question('/metrics', {}, null, { root: true }),
    attention: question('/attention', { limit: 20, reason: 'handoff_failed' }, onWaiting()), stuck: question('/attention', { limit: 20, reason: 'handoff_stuck' }, onWaiting()),
    tokens: canOperate() ? question('/tokens', {}, null, { optional: true }) : null,
  }),
  draw: ({ health, metrics, attention, stuck, tokens }, _, state) => {
    const counts = countsOf(metrics);
    if (samples.at(-1)?.text !== metrics) samples.push({ at: Date.now(), text: metrics, counts });
    while (samples.length > SAMPLES) samples.shift();
    const rates = (key) => samples.slice(1).map((one, index) => Math.max(0, ((one.counts[key] || 0) - (samples[index].counts[key] || 0)) / ((one.at - samples[index].at) / 1000)));
    const late = [...attention.items, ...stuck.items];
    return [h('h1', {}, 'Server'),
      facts([['State', health.status], ['Version', health.version], ['Redis', health.redis], ['In hand', String(counts.baton_operations_in_hand ?? 0)],
        ['Listeners', String(counts.baton_event_listeners ?? 0)], ['Duties here', String(counts.baton_duties ?? 0)]]),
      h('h2', {}, 'Rates'), h('ul.grid', {}, chart('Requests', rates('baton_http_requests_total')), chart('Failures', rates('failures'))),
      h('h2', {}, `What does not arrive (${attention.total + stuck.total})`), late.length ? h('ul.matters', {}, late.map(matter)) : empty('Every hand-off is on its way.'),
      !tokens?.items ? null : h('h2', {}, `Tokens (${tokens.items.filter((one) => one.valid).length} valid)`), !tokens?.items ? null : tokens.items.length ? h('ul.grid', {}, tokens.items.map((one) => h('li.card', { key: one.token_id },
        h('div.row', {}, h('h3', {}, one.name), chip(one.scope), chip(one.valid ? 'valid' : one.revoked_at ? 'revoked' : 'ended', one.valid ? 'good' : '')),
        h('p.meta', {}, `${one.projects ? one.projects.join(', ') : 'all projects'} · as ${one.identities ? one.identities.join(', ') : `token:${one.name}`} · made `, ago(one.created_at))))) : empty('No token: on this machine everybody is the local user.'),
      h('h2', {}, 'Store'), h('p', {}, button('Check it', async () => { state.check = 'checking…'; draw(); try { state.check = await api('GET', '/check'); } catch (error) { state.check = error.message; } draw(); })),
      state.check ? h('div.document', {}, typeof state.check === 'string' ? state.check : checked(state.check)) : null];
  },
};

setInterval(() => {
  if (document.hidden) return;
  for (const one of shown) if (one.root && one.path === '/metrics') renewSoon(one);
}, SAMPLE_EVERY);
