// The baton's way through the sessions of a project, drawn: a lane for each identity, a bar for each session, and a line
// from where a baton was left to where it was taken.

const LANE = 46;
const LEFT = 14;
const NAMES = 128;
const TOP = 30;
/** A drawing of few sessions still fills the page. */
const FULL = 840;

/** The lanes of agents that ended are one line, which opens them. */
const FOLDED_FROM = 4;

function timeline(project, sessions, view = {}) {
  const isOpen = new Set(sessions.filter((one) => !one.released_at).map((one) => one.identity));
  // The agents of the newest sessions are drawn in any case: a project in which nobody works has a way, too.
  const newest = new Set([...new Set(sessions.map((one) => one.identity))].slice(0, FOLDED_FROM));
  const ended = [...new Set(sessions.map((one) => one.identity))].filter((name) => !isOpen.has(name) && !newest.has(name));
  const isFolded = ended.length > 1 && !view.lanes;
  const drawn = isFolded ? sessions.filter((one) => !ended.includes(one.identity)) : sessions;
  const fold = ended.length > 1 ? h('p', {}, h('button.more', { type: 'button', 'aria-expanded': String(!isFolded), onclick: () => { view.lanes = isFolded; draw(); } }, isFolded ? `${ended.length} more agents, whose sessions ended: show their lanes` : 'Fold the lanes of agents that ended')) : null;
  return [lanesOf(project, drawn), fold];
}

function lanesOf(project, sessions) {
  const shown = [...sessions].reverse();
  const now = Date.now();
  const lanes = [...new Set(shown.map((one) => one.identity))];
  const starts = shown.map((one) => Date.parse(one.started_at));
  const ends = shown.map((one) => (one.released_at ? Date.parse(one.released_at) : now));
  const moments = [...new Set([...starts, ...ends])].sort((a, b) => a - b);
  const place = spread(moments);
  const width = LEFT + place(Math.max(...moments)) + 60;
  const height = TOP + lanes.length * LANE + 10;
  const y = (one) => TOP + lanes.indexOf(one.identity) * LANE + LANE / 2;
  const x = (time) => LEFT + place(time);
  const byId = new Map(shown.map((one) => [one.session_id, one]));
  // The names stay where they are while the lanes scroll.
  const names = s('svg.names', { width: NAMES, height, viewBox: `0 0 ${NAMES} ${height}`, 'aria-hidden': 'true' });
  const drawing = s('svg', { width, height, viewBox: `0 0 ${width} ${height}`, role: 'group', 'aria-label': 'Sessions and the batons passed between them' });
  for (const [index, name] of lanes.entries()) {
    const middle = TOP + index * LANE + LANE / 2;
    drawing.append(s('line.lane', { x1: 0, x2: width, y1: middle, y2: middle }));
    names.append(s('text', { x: 12, y: middle + 4 }, name.length > 15 ? `${name.slice(0, 14)}…` : name, s('title', {}, name)));
  }
  for (const time of ticks(moments, place)) {
    drawing.append(s('text.soft', { x: x(time), y: 16, 'text-anchor': x(time) < 40 ? 'start' : 'middle' }, dayOrHour(time)));
  }
  for (const one of shown) drawing.append(stint(project, one, x, y, now));
  for (const one of shown) drawing.append(...passes(project, one, byId, x, y));
  return h('div.way', {}, names, h('div.scroll', { tabindex: 0, role: 'region', 'aria-label': 'Timeline' }, drawing));
}

/** Long pauses are drawn short, so that a week with three sessions is still a picture. */
function spread(moments) {
  const spots = new Map([[moments[0], 0]]);
  for (let i = 1; i < moments.length; i += 1) {
    const minutes = (moments[i] - moments[i - 1]) / 60000;
    spots.set(moments[i], spots.get(moments[i - 1]) + 22 + 26 * Math.log1p(minutes));
  }
  const widest = spots.get(moments.at(-1)) || 1;
  if (widest < FULL) for (const [moment, spot] of spots) spots.set(moment, (spot * FULL) / widest);
  const known = [...spots.keys()];
  return (time) => {
    if (spots.has(time)) return spots.get(time);
    const after = known.findIndex((moment) => moment > time);
    if (after < 0) return spots.get(known.at(-1));
    if (after === 0) return 0;
    const [a, b] = [known[after - 1], known[after]];
    return spots.get(a) + ((time - a) / (b - a)) * (spots.get(b) - spots.get(a));
  };
}

/** Times that are written above: as many as have room. */
function ticks(moments, place) {
  const shown = [];
  for (const moment of moments) {
    if (!shown.length || (place(moment) - place(shown.at(-1)) >= 84 && dayOrHour(moment) !== dayOrHour(shown.at(-1)))) shown.push(moment);
  }
  return shown;
}

function dayOrHour(time) {
  const date = new Date(time);
  const today = date.toDateString() === new Date().toDateString();
  return today ? date.toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' })
    : date.toLocaleDateString([], { day: 'numeric', month: 'short' });
}

function stint(project, one, x, y, now) {
  const begin = x(Date.parse(one.started_at));
  const end = Math.max(begin + 8, x(one.released_at ? Date.parse(one.released_at) : now));
  const kind = one.released_at ? (one.release_reason === 'wrapped' || one.release_reason === 'ended' ? '' : 'lost') : 'open';
  const said = `${one.identity} with ${toolOf(one) || 'no tool'}, ${one.released_at ? one.release_reason : one.live ? 'at work' : 'open, silent'}`;
  return s('a', { href: `#/session/${encodeURIComponent(project)}/${one.session_id}`, 'aria-label': said },
    s('rect.stint', { class: kind, x: begin, y: y(one) - 9, width: end - begin, height: 18, rx: 6 }, s('title', {}, said)));
}

function passes(project, one, byId, x, y) {
  const left = one.left;
  if (!left) return [];
  const from = [x(Date.parse(left.created_at)), y(one)];
  const taker = byId.get(left.taken_by);
  const href = `#/baton/${encodeURIComponent(project)}/${left.baton_id}`;
  const said = `Baton of ${one.identity}: ${left.summary}`;
  const hand = (at, extra) => s('a', { href, 'aria-label': `${said} (${left.state})` },
    s('circle.hand', { class: extra, cx: at[0], cy: at[1], r: 7 }, s('title', {}, said)));
  if (!taker) return [hand(from, 'free')];
  const to = [x(Date.parse(left.taken_at || taker.started_at)), y(taker)];
  const bend = Math.max(20, Math.abs(to[0] - from[0]) / 2);
  const path = `M ${from} C ${from[0] + bend} ${from[1]}, ${to[0] - bend} ${to[1]}, ${to}`;
  return [s('path.pass', { d: path }), hand(from, ''), hand(to, left.state === 'open' ? 'free' : '')];
}
