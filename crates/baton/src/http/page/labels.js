// Buttons that read the same are told apart by the row that they stand in: by eye they stand beside it, in a list of buttons they do not.

/** What tells a row from the others, the shortest first: its heading, its words, its project. */
function namesOfRow(row) {
  const text = (one) => (one?.textContent || '').trim().replace(/\s+/g, ' ');
  const heading = text(row.querySelector('h3') || row.querySelector('a'));
  const words = text(row.querySelector('.words')).slice(0, 120);
  const project = text(row.querySelector('.meta a, .minor a'));
  return [[heading], [heading, words], [heading, words, project]].map((parts) => parts.filter(Boolean).join(', '));
}

/** Gives every button of a drawing a name that no other has. What is read stands first in it, so that it is also called by its words. */
function nameButtons(nodes) {
  const all = nodes.filter((one) => one instanceof Element).flatMap((one) => [...(one.matches('button, summary') ? [one] : []), ...one.querySelectorAll('button, summary')]);
  const known = new Map();
  const named = all.map((one) => {
    const row = one.closest('[data-row]');
    if (row && !known.has(row)) known.set(row, namesOfRow(row));
    const own = one.getAttribute('aria-label') || one.textContent.trim();
    const isWhole = !row || one.hasAttribute('aria-label');
    return { one, own, names: isWhole ? [own] : known.get(row).map((name) => (name ? `${own}: ${name}` : own)) };
  });
  // Names grow until they differ; things that are called the same in all are counted.
  const count = (level) => {
    const counts = new Map();
    for (const { names } of named) { const name = names[Math.min(level, names.length - 1)]; counts.set(name, (counts.get(name) || 0) + 1); }
    return counts;
  };
  const counts = [0, 1, 2].map(count);
  const numbers = new Map();
  for (const { one, own, names } of named) {
    const level = names.findIndex((name, index) => counts[index].get(name) === 1);
    const name = level < 0 ? names.at(-1) : names[level];
    const number = (numbers.get(name) || 0) + 1;
    numbers.set(name, number);
    const label = number > 1 ? `${name} (${number})` : name;
    if (label !== own || one.hasAttribute('aria-label')) one.setAttribute('aria-label', printable(label));
  }
}
