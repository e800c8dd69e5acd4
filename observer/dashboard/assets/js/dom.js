// Elements are made here and nowhere else, and every text becomes a text node:
// what agents, prompts and rules say is never markup.

/** h makes an element. Children are nodes, texts, or lists of them. */
export function h(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

/** s makes an SVG element. */
export function s(tag, attributes = {}, ...children) {
  return filled(document.createElementNS('http://www.w3.org/2000/svg', tag), attributes, children);
}

function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === false || value === null || value === undefined) continue;
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? '' : String(value));
  }
  element.append(...nodes(children));
  return element;
}

function nodes(children) {
  return children.flat(9).filter((c) => c !== null && c !== undefined && c !== false)
    .map((c) => (c instanceof Node ? c : document.createTextNode(String(c))));
}

/** fill replaces what an element holds. Where the keyboard was, it stays. */
export function fill(element, ...children) {
  const find = held(element);
  element.replaceChildren(...nodes(children));
  if (find) find()?.focus({ preventScroll: true });
  return element;
}

/** held is how to find again what has the focus inside an element. */
function held(element) {
  const focused = document.activeElement;
  if (!focused || focused === element || !element.contains(focused)) return null;
  const name = (x) => `${x.tagName} ${x.getAttribute('href') || x.id || x.getAttribute('aria-label') || x.textContent}`;
  const alike = () => [...element.querySelectorAll('a, button, input, select, textarea, summary, [tabindex]')].filter((x) => name(x) === name(focused));
  const which = alike().indexOf(focused);
  return () => { const all = alike(); return focused.isConnected ? focused : all[which] || all[0]; };
}

/** coded is a text with what stands in backticks set as code. */
export const coded = (text) => text.split('`').map((part, i, all) => (i % 2 && i < all.length - 1 ? h('code', {}, part) : i % 2 ? `\`${part}` : part));

export const chip = (text, kind = '') => h('span', { class: `chip ${kind}` }, text);

export const card = (title, ...children) => h('section', { class: 'card' }, title && h('h2', {}, title), children);

export function table(caption, columns, rows, empty) {
  if (rows.length === 0) return h('p', { class: 'soft' }, empty);
  return h('div', { class: 'scroll' }, h('table', { class: 'rows', role: 'table', 'aria-label': caption },
    h('thead', {}, h('tr', {}, columns.map((c) => h('th', { scope: 'col', class: c.number ? 'n' : null }, c.head)))),
    h('tbody', {}, rows.map((row) => h('tr', { role: 'row' }, columns.map((c) => h('td', { role: 'cell', class: c.number ? 'n' : null, 'data-head': c.head }, c.cell(row))))))));
}

/** say tells the person something, on the screen and to a screen reader. */
export function say(text) {
  const line = h('p', {}, text);
  document.getElementById('said').append(line);
  setTimeout(() => line.remove(), 8000);
}

export const clock = (time) => new Date(time).toLocaleTimeString([], { hour: '2-digit', minute: '2-digit', second: '2-digit', hour12: false });

export function ago(time) {
  if (!time) return '';
  const seconds = Math.max(0, (Date.now() - new Date(time)) / 1000);
  if (seconds < 90) return `${Math.round(seconds)} s ago`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} min ago`;
  if (seconds < 129600) return `${Math.round(seconds / 3600)} h ago`;
  return new Date(time).toLocaleDateString();
}

export const last = (path) => (path || '').split(/[\\/]/).filter(Boolean).pop() || '';

/** plural is a number with the word for one or for more of it. */
export const plural = (n, one, more = `${one}s`) => `${n.toLocaleString()} ${n === 1 ? one : more}`;

/** inForce counts the rules of a daemon's status, and what stands beside them in the graph. */
export const inForce = (status) => `${plural(status.rules - (status.nodes || 0), 'rule')} in force and ${plural(status.nodes || 0, 'other node')}`;

export const short = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

export function bytes(n) {
  const units = ['B', 'KiB', 'MiB', 'GiB'];
  let i = 0;
  for (; n >= 1024 && i < units.length - 1; i += 1) n /= 1024;
  return `${i ? n.toFixed(1) : n} ${units[i]}`;
}
