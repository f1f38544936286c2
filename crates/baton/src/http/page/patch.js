// Brings a drawing up to date: what did not change stays the very same element, with its focus, selection and scroll position.

/** Makes the children of an element those of a new drawing. */
function patch(parent, nodes) {
  const old = [...parent.childNodes];
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

const alike = (one, other) => one.nodeType === other.nodeType && one.nodeName === other.nodeName && one.rowKey === other.rowKey;

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
