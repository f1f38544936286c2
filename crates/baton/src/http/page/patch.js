// Brings a drawing up to date: what did not change stays the very same element, with its focus, selection and scroll position.

/** Whether rows are drawn in the order of their answer, and not in the one in which they stand. */
let isSorting = false;

/** Rows that are shown keep their places under the reader; new ones stand where their answer has them. Only a list of nothing but
 * rows has an order of its own. */
function inPlace(old, nodes) {
  if (isSorting || nodes.some((one) => one.rowKey === undefined)) return nodes;
  const wanted = new Map(nodes.map((one) => [one.rowKey, one]));
  const stay = old.filter((one) => wanted.has(one.rowKey)).map((one) => wanted.get(one.rowKey));
  const known = new Set(stay);
  return nodes.map((one) => (known.has(one) ? stay.shift() : one));
}

/** Makes the children of an element those of a new drawing. */
function patch(parent, drawn) {
  const old = [...parent.childNodes];
  const nodes = inPlace(old, drawn);
  const keyed = new Map(old.filter((one) => one.rowKey !== undefined).map((one) => [one.rowKey, one]));
  let next = 0;
  const used = new Set();
  let place = parent.firstChild;
  for (const node of nodes) {
    let same = null;
    if (node.rowKey !== undefined) same = keyed.get(node.rowKey) || null;
    else {
      while (next < old.length && (used.has(old[next]) || old[next].rowKey !== undefined)) next += 1;
      if (next < old.length && alike(old[next], node)) { same = old[next]; next += 1; }
    }
    if (same && !used.has(same) && alike(same, node)) {
      used.add(same);
      renew(same, node);
      if (same === place) place = place.nextSibling;
      else parent.insertBefore(same, place);
    } else {
      parent.insertBefore(node, place);
      used.add(node);
    }
  }
  for (const one of old) if (!used.has(one)) one.remove();
}

/** What a button does, by its words: one that does another thing must not take over the focus. */
const deedOf = (one) => (one.nodeName === 'BUTTON' ? one.id || one.textContent.replace(/[^\p{L}]+/gu, '') : '');

const alike = (one, other) => one.nodeType === other.nodeType && one.nodeName === other.nodeName && one.rowKey === other.rowKey && deedOf(one) === deedOf(other);

/** Gives an element what a new drawing of it has. */
function renew(element, drawn) {
  if (element.nodeType === Node.TEXT_NODE) {
    if (element.data !== drawn.data) element.data = drawn.data;
    return;
  }
  for (const { name } of [...element.attributes]) {
    if (!drawn.hasAttribute(name) && !(name === 'open' && element.nodeName === 'DETAILS')) element.removeAttribute(name);
  }
  for (const { name, value } of drawn.attributes) if (element.getAttribute(name) !== value) element.setAttribute(name, value);
  for (const name of ['onclick', 'onsubmit', 'onchange', 'oninput', 'onkeydown', 'ontoggle', 'onfocus', 'ondragstart', 'ondragover', 'ondrop']) element[name] = drawn[name];
  patch(element, [...drawn.childNodes]);
}

const allRows = () => [...document.querySelectorAll('main [data-row]')];

/** Where the focus stands: the element, its row, and the other rows of the view; of a button for more rows, the last one before it. */
function placeOf(element) {
  const row = element?.closest?.('main [data-row]');
  const isMore = element?.matches?.('main button.more');
  const last = isMore ? allRows().filter((one) => one.compareDocumentPosition(element) & Node.DOCUMENT_POSITION_FOLLOWING).at(-1) : null;
  return { element, row, last, key: row?.rowKey, rows: row ? allRows() : [] };
}

/** Puts the focus back to a place. Where it is gone, on its row, the next one, the one before, or the view. */
function goBackTo({ element, row, last, key, rows }) {
  if (element?.isConnected) { element.focus?.({ preventScroll: true }); return; }
  // Once all rows are there, who asked for more goes on at the first of them.
  const after = last?.isConnected ? allRows()[allRows().indexOf(last) + 1]?.querySelector('a') : null;
  if (after) { after.focus({ preventScroll: true }); return; }
  const at = rows.indexOf(row);
  const moved = allRows().find((one) => key !== undefined && one.rowKey === key);
  const near = [row, moved, ...rows.slice(at + 1), ...rows.slice(0, Math.max(0, at)).reverse()];
  const link = near.find((one) => one?.isConnected && one.querySelector('a'))?.querySelector('a');
  (link || $('main')).focus({ preventScroll: !link });
}
