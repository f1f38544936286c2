// A thread as one story: the sessions that a piece of work went through, whatever tools they ran in. The page and what is shared
// draw it alike; `to` makes the links, which somebody outside has none of.

const ZOOMS = [['days', 'Sessions'], ['hours', 'What counted'], ['minutes', 'Everything']];
const COUNTED = new Set(['checkpoint', 'decision', 'research', 'wrap', 'commit', 'release']);
const TOOLS_OF = (one) => [toolOf(one) || 'unknown tool', one.branch].filter(Boolean).join(' · ');

const dayOf = (text) => new Date(text).toLocaleDateString([], { weekday: 'short', day: 'numeric', month: 'short', year: 'numeric' });
const clockOf = (text) => h('time', { datetime: text, class: 'fixed', title: new Date(text).toLocaleString() }, new Date(text).toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' }));

/** The elements of a story at a zoom. */
function storyOf(sessions, zoom, to) {
  let day = '';
  return h('ol.story', {}, sessions.flatMap((one) => {
    const its = dayOf(one.started_at);
    const heading = its === day ? null : h('li.day', { key: `day ${its}` }, h('h2', {}, its));
    day = its;
    return [heading, stintOf(one, zoom, to)];
  }));
}

function stintOf(one, zoom, to) {
  const end = one.released_at ? one.release_reason : one.live ? 'live' : 'open';
  const entries = zoom === 'days' ? [] : zoom === 'hours' ? one.entries.filter((entry) => COUNTED.has(entry.kind)) : one.entries;
  return h('li.card.stint', { key: one.session_id, 'data-row': true },
    h('div.row.who', {}, h('h3', {}, to.session(one)), chip(TOOLS_OF(one)), state(end), h('span.meta.push', {}, clockOf(one.started_at), one.released_at ? [' – ', clockOf(one.released_at)] : null)),
    one.more && zoom === 'minutes' ? h('p.quiet', {}, 'What it wrote before these is in the ledger.') : null,
    entries.length ? h('ol.steps', {}, entries.map((entry, index) => h('li', { key: `${entry.at} ${index}` }, h('span.meta', {}, clockOf(entry.at)), chip(entry.kind, TONES[entry.kind] || ''),
      entry.kind === 'commit' ? h('code', {}, entry.text.slice(0, 12)) : h('span', {}, entry.text)))) : null,
    zoom === 'days' ? null : workOf(one.work, zoom === 'minutes'),
    one.left ? h('p.left', {}, 'Baton: ', to.baton(one.left), ' ', state(one.left.state), one.left.to ? h('span.meta', {}, ` for ${one.left.to}`) : null) : null,
    one.document ? h('details.whole', { open: zoom === 'minutes' }, h('summary', {}, 'The document that it handed over'), documentOf(one.document, `Document of ${one.identity}`)) : null);
}

/** What the packet tells of the work: requests, commands with their exit codes, files, decisions, next steps. */
function workOf(work, isOpen) {
  if (!work) return null;
  const part = (title, rows, row) => (rows?.length ? h('details.part', { open: isOpen }, h('summary', {}, `${title} (${rows.length})`), h('ul', {}, rows.map((one) => h('li', {}, row(one))))) : null);
  return h('div.work', {},
    part('Asked', work.requests, (text) => text),
    part('Files', work.files, (one) => [h('code', {}, one.path), one.change ? h('span.meta', {}, ` ${one.change}`) : null]),
    part('Commands', work.commands, (one) => [h('code', {}, one.command), ' ', one.exit_code === undefined ? null : chip(`exit ${one.exit_code}`, one.exit_code === 0 ? 'good' : 'bad')]),
    part('Decided', work.decisions, (one) => [one.what, one.why ? h('span.meta', {}, ` because ${one.why}`) : null]),
    part('Next', work.next_steps, (text) => text),
    work.omitted ? h('p.quiet', {}, `${work.omitted} more rows are in the packet.`) : null);
}
