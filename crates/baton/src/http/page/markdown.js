// A document, rendered: headings, lists, tables, code, differences in colours. It is made of elements, never of markup.

const INLINE = /(`+)([^`]+?)\1|\*\*([^*]+?)\*\*|\*(?=\S)([^*]+?)(?<=\S)\*|\\([\\`*_{}[\]()#+\-.!<>|~])/;

function inline(text) {
  const parts = [];
  let rest = text;
  for (let found = INLINE.exec(rest); found; found = INLINE.exec(rest)) {
    if (found.index) parts.push(withInstants(rest.slice(0, found.index)));
    if (found[2] !== undefined) parts.push(h('code', {}, found[2]));
    else if (found[3] !== undefined) parts.push(h('strong', {}, found[3].replace(/\\([^\w\s])/g, '$1')));
    else if (found[4] !== undefined) parts.push(h('em', {}, found[4].replace(/\\([^\w\s])/g, '$1')));
    else parts.push(found[5]);
    rest = rest.slice(found.index + found[0].length);
  }
  if (rest) parts.push(withInstants(rest));
  return parts;
}

const cells = (line) => line.trim().replace(/^\||\|$/g, '').split(/(?<!\\)\|/).map((cell) => cell.trim());

/** The elements of a document. */
function markdown(text) {
  const lines = text.replace(/\r\n?/g, '\n').split('\n');
  const drawn = [];
  let at = 0;
  while (at < lines.length) {
    const line = lines[at];
    const fence = /^\s*(`{3,}|~{3,})\s*([\w-]*)/.exec(line);
    const heading = /^(#{1,6})\s+(.*)$/.exec(line);
    if (fence) {
      let end = at + 1;
      while (end < lines.length && !lines[end].trim().startsWith(fence[1])) end += 1;
      drawn.push(code(lines.slice(at + 1, end), fence[2]));
      at = end + 1;
    } else if (heading) {
      drawn.push(h(`h${Math.min(6, heading[1].length + 2)}`, {}, inline(heading[2])));
      at += 1;
    } else if (/^\s*\|.*\|\s*$/.test(line) && /^\s*\|[\s:|-]+\|\s*$/.test(lines[at + 1] || '')) {
      const rows = [];
      let end = at + 2;
      while (end < lines.length && /^\s*\|/.test(lines[end])) { rows.push(cells(lines[end])); end += 1; }
      drawn.push(h('div.scroll', { tabindex: 0, role: 'group', 'aria-label': 'Table' }, h('table', {},
        h('thead', {}, h('tr', {}, cells(line).map((cell) => h('th', { scope: 'col' }, inline(cell))))),
        h('tbody', {}, rows.map((row) => h('tr', {}, row.map((cell) => h('td', {}, inline(cell)))))))));
      at = end;
    } else if (/^\s*>/.test(line)) {
      let end = at;
      while (end < lines.length && /^\s*>/.test(lines[end])) end += 1;
      drawn.push(h('blockquote', {}, markdown(lines.slice(at, end).map((one) => one.replace(/^\s*> ?/, '')).join('\n'))));
      at = end;
    } else if (/^\s*([-*+]|\d+[.)])\s+/.test(line)) {
      const ordered = /^\s*\d/.test(line);
      const items = [];
      let end = at;
      while (end < lines.length && (/^\s*([-*+]|\d+[.)])\s+/.test(lines[end]) || (/^\s{2,}\S/.test(lines[end]) && items.length))) {
        const item = /^\s*(?:[-*+]|\d+[.)])\s+(.*)$/.exec(lines[end]);
        if (item) items.push(item[1]);
        else items[items.length - 1] += ` ${lines[end].trim()}`;
        end += 1;
      }
      drawn.push(h(ordered ? 'ol' : 'ul', {}, items.map((item) => h('li', {}, inline(item)))));
      at = end;
    } else if (!line.trim()) at += 1;
    else {
      let end = at + 1;
      while (end < lines.length && lines[end].trim() && !/^(\s*(`{3,}|~{3,}|>|[-*+]\s|\d+[.)]\s|\|)|#{1,6}\s)/.test(lines[end])) end += 1;
      drawn.push(h('p', {}, lines.slice(at, end).flatMap((one, index) => [index ? h('br', {}) : null, inline(one)])));
      at = end;
    }
  }
  return drawn;
}

function code(lines, language) {
  const isDiff = language === 'diff' || language === 'patch' || (lines.some((one) => /^@@ /.test(one)));
  const tone = (line) => (line.startsWith('@@') ? 'at' : line.startsWith('+') ? 'plus' : line.startsWith('-') ? 'minus' : '');
  return h('pre', { tabindex: 0, role: 'group', 'aria-label': isDiff ? 'Changes' : 'Code' },
    isDiff ? lines.map((line) => h('span.line', { class: tone(line) }, `${line}\n`)) : lines.join('\n'));
}

/** Text with its lines, as it came. */
const rawText = (text, label) => h('pre', { tabindex: 0, 'aria-label': label, role: 'group' }, text);

/** A document as its receiver reads it, with the raw text behind a switch. */
function documentOf(text, label) {
  return h('div.document', { role: 'group', 'aria-label': label, tabindex: 0 }, markdown(text || ''),
    h('details.raw', {}, h('summary', {}, 'Raw text'), rawText(text || '', `${label}, raw`)));
}

/** A value of JSON as fields. */
function fields(value, depth = 0) {
  if (value === null || value === undefined || value === '') return null;
  if (typeof value !== 'object') return String(value);
  if (Array.isArray(value)) return value.length ? h('ul', {}, value.map((one) => h('li', {}, fields(one, depth + 1)))) : null;
  if (depth > 6) return JSON.stringify(value);
  const rows = Object.entries(value).filter(([, one]) => one !== null && one !== '' && !(Array.isArray(one) && !one.length));
  return h('dl.facts', {}, rows.map(([name, one]) => [h('dt', {}, name.replace(/_/g, ' ')), h('dd', {}, fields(one, depth + 1))]));
}

/** A packet as fields, where it is JSON; else as text. */
function packetOf(text, label) {
  let value;
  try { value = JSON.parse(text); } catch { return rawText(text, label); }
  return h('div.document', { role: 'group', 'aria-label': label, tabindex: 0 }, fields(value),
    h('details.raw', {}, h('summary', {}, 'Raw text'), rawText(JSON.stringify(value, null, 2), `${label}, raw`)));
}
