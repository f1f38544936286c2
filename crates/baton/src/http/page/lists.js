// Lists of batons and hand-offs: their state, project, order and addressee stand in the address.

const BATON_STATES = [['', 'to pick up'], ['open', 'open'], ['held', 'held'], ['abandoned', 'abandoned'], ['spent', 'spent']];
const HANDOFF_STATES = ['', 'planned', 'pending', 'offered', 'accepted', 'completed', 'declined', 'cancelled', 'expired', 'failed'].map((one) => [one, one || 'all']);
const ORDERS = [['oldest', 'waits longest'], ['newest', 'newest']];

/** The address of a list; what is empty at its end is left out. */
const listAt = (base, parts) => `#/${[base, ...parts.map(part)].join('/').replace(/\/+$/, '')}`;

const isOrder = (key) => !key || ORDERS.some(([one]) => one === key);

/** What is asked for a list: its words are those of the address. */
const narrowed = ([key = '', project = '', order = '', to = ''], cursor) => ({ all: project ? null : true, identity: me(), state: key, order, to, limit: 50, cursor });

/** The states of a list, its order, and for whom the rows are. */
function listFilters(base, states, [key = '', project = '', order = '', to = ''], usual) {
  return [chosen(base, states.map(([one, word]) => [listAt('', [one, project, order, to]).slice(3), word]), listAt('', [key, project, order, to]).slice(3)),
    h('form.filters', {
      onsubmit: (event) => {
        event.preventDefault();
        const given = Object.fromEntries(new FormData(event.target));
        location.hash = listAt(base, [key, project, given.order === usual ? '' : given.order, given.to.trim()]);
      },
    },
    filter('order', 'Order', h('select', { id: 'by-order', name: 'order' }, ORDERS.map(([value, word]) => h('option', { value, selected: value === (order || usual) }, word)))),
    filter('to', 'For: a name, or role:NAME', h('input', { id: 'by-to', name: 'to', value: to, autocomplete: 'off' })),
    h('button.main', { type: 'submit' }, 'Narrow'))];
}

const orderWords = (order, usual) => ((order || usual) === 'oldest' ? 'the oldest first' : 'the newest first');

/** What a list says of itself: how many rows, in which order, of which project and for whom. */
const listWords = (found, [, project = '', order = '', to = ''], usual) => h('p.meta', {}, `${found.total} in all, ${orderWords(order, usual)}.`, project ? [' Project ', toProject(project), '.'] : '', to ? ` For ${to}.` : '');

/** What is said of a list without rows: what it was narrowed to, and the way to all rows of the state. */
function emptyList(base, noun, [key = '', project = '', order = '', to = '']) {
  if (!project && !to) return empty(`No ${noun} is in this state.`);
  const words = [`No ${noun}`, key && `that is ${key}`, project && `in ${project}`, to && `for ${to}`].filter(Boolean).join(' ');
  return empty(h('p', {}, `${words}: the list is narrowed. `, h('a', { href: listAt(base, [key, '', order]) }, 'Those of all projects, for anybody')));
}

let lookTimer = 0;

/** On a wide screen the row that is gone to is shown beside the list, once one stays on it. */
function look(one, state) {
  clearTimeout(lookTimer);
  if (state.look === one || !window.matchMedia('(min-width: 64rem)').matches) return;
  lookTimer = setTimeout(() => { state.look = one; draw(); }, 150);
}

function preview(heading, content) {
  return h('aside.preview', { 'aria-label': 'Preview', tabindex: 0 }, content ? [h('h2', {}, heading), content] : h('p.quiet', {}, 'The row that you go to (j, k) is shown here.'));
}

function batonRow(one, view) {
  return h('li.card.matter', { key: one.baton_id, 'data-row': true },
    h('div.row', {}, state(one.state), h('h3', {}, h('a', { href: batonAt(one.project_id, one.baton_id), onfocus: () => look(one, view) }, `Baton from ${one.from}`)),
      one.state === 'open' || one.state === 'abandoned' ? h('span.push', {}, rowOffers({ ...one, id: one.baton_id, subject: one.summary })) : null),
    one.summary ? h('p.words', { title: one.summary }, one.summary) : null,
    h('p.meta', {}, toProject(one.project_id), ' · ', one.to ? `for ${one.to} · ` : '', one.holder ? `held by ${one.holder} · ` : '', ago(one.created_at)));
}

const batons = {
  title: 'Batons',
  questions: ([key = '', project = '', order = '', to = ''], state) => ({
    pages: !isState(BATON_STATES, key) || !isOrder(order) ? [] : pages((cursor) => question(project ? at(project, '/batons') : '/batons', narrowed([key, project, order, to], cursor), onWaiting(project)), state),
    left: state.look ? question(`/sessions/${part(state.look.session_id)}/handoff`, { project: state.look.project_id }) : null,
  }),
  draw: (data, params, state) => {
    const [key = '', , order = ''] = params;
    const head = [h('h1', {}, 'Batons'), h('h2.hidden', {}, 'List')];
    if (!isState(BATON_STATES, key) || !isOrder(order)) return [head, chosen('batons', BATON_STATES, key), isOrder(order) ? noSuchState(key) : noSuchOrder(order)];
    const found = joined(data.pages);
    return [head, listWords(found, params, 'oldest'), listFilters('batons', BATON_STATES, params, 'oldest'),
      found.items.length ? h('div.split', {}, h('ul.matters', {}, found.items.map((one) => batonRow(one, state))), preview(state.look?.summary || 'Baton', data.left && documentOf(data.left.document, 'What is handed over'))) : emptyList('batons', 'baton', params), more(found, found.items.length, state)];
  },
};

const noSuchOrder = (order) => empty(h('p', {}, `There is no order “${order}”: lists begin with what waits longest (oldest) or with the newest.`));

function handoffRow(one, view) {
  const offers = rowOffers(one);
  const said = ENDS[one.state] ? one.ended?.why || one.result || one.ended?.forced : null;
  return h('li.card.matter', { key: one.handoff_id, 'data-row': true },
    h('div.row', {}, state(one.state), h('h3', {}, h('a', { href: `#/handoff/${part(one.handoff_id)}`, onfocus: () => look(one, view) }, one.subject)),
      offers ? h('span.push', {}, offers) : null),
    one.last_error ? h('p.error', {}, errorText(one.last_error)) : null,
    said ? h('p.words', {}, `“${said}”`) : null,
    h('p.meta', {}, toProject(one.from_project_id), ' → ', toProject(one.to_project_id), ` · from ${one.from_identity} · `, one.to_identity || one.to_role ? `for ${one.to_identity || `role:${one.to_role}`} · ` : '', one.ended ? `${one.state} by ${enderOf(one)} · ` : one.accepted_by ? `accepted by ${one.accepted_by} · ` : '', ago(one.ended?.at || (one.state === 'accepted' && one.accepted_at) || (/^(declined|expired|failed)$/.test(one.state) ? one.updated_at : one.created_at))));
}

const handoffs = {
  title: 'Hand-offs',
  questions: ([key = '', project = '', order = '', to = ''], state) => ({
    pages: !isState(HANDOFF_STATES, key) || !isOrder(order) ? [] : pages((cursor) => question(project ? at(project, '/handoffs') : '/handoffs', { ...narrowed([key, project, order, to], cursor), actions: true }, onWaiting(project)), state),
    one: state.look ? question(`/handoffs/${part(state.look.handoff_id)}`, {}, onWaiting()) : null,
  }),
  draw: (data, params, view) => {
    const [key = '', , order = ''] = params;
    const head = [h('h1', {}, 'Hand-offs'), h('h2.hidden', {}, 'List')];
    if (!isState(HANDOFF_STATES, key) || !isOrder(order)) return [head, chosen('handoffs', HANDOFF_STATES, key), isOrder(order) ? noSuchState(key) : noSuchOrder(order)];
    const found = joined(data.pages);
    return [head, listWords(found, params, 'newest'), listFilters('handoffs', HANDOFF_STATES, params, 'newest'),
      found.items.length ? h('div.split', {}, h('ul.matters', {}, found.items.map((one) => handoffRow(one, view))), preview(view.look?.subject, data.one && [handoffFacts(data.one), handoffWords(data.one)])) : emptyList('handoffs', 'hand-off', params),
      more(found, found.items.length, view)];
  },
};
