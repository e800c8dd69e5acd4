import { fill, h, say } from './dom.js';
import { get } from './net.js';

// The server sends elements as data; these are the ones that are made.
const tags = new Set(['h1', 'h2', 'h3', 'h4', 'p', 'ul', 'ol', 'li', 'pre', 'code', 'strong', 'em', 'a', 'table', 'tr', 'th', 'td', 'div', 'blockquote', 'hr']);

const link = (topic, section) => `#/help/${encodeURIComponent(topic)}${section ? `/${encodeURIComponent(section)}` : ''}`;

/** help shows the topics to read, and one of them, at a section where one is named. */
export async function help(main, signal, topic, section) {
  try {
    const [all, page] = await Promise.all([get('help'), topic ? get('help', { topic }) : null]);
    if (signal.aborted) return;
    fill(main, h('div', { class: 'help' }, contents(all.topics, topic), page ? article(page) : overview(all.topics)));
    if (!page) return;
    document.title = `${page.title} – Help – Writ`;
    const at = section && document.getElementById(section);
    if (at) { at.scrollIntoView(); at.focus({ preventScroll: true }); } else scrollTo(0, 0);
  } catch (error) {
    if (signal.aborted) return;
    fill(main, h('h1', {}, 'Help'), h('p', {}, 'This page cannot be shown. ', h('a', { href: '#/help' }, 'All topics')));
    say(error.message);
  }
}

function grouped(topics) {
  return Object.entries(topics.reduce((all, t) => ({ ...all, [t.group]: [...(all[t.group] || []), t] }), {}));
}

/** contents lists the topics beside a page, and finds words in all of them. */
function contents(topics, current) {
  const words = h('input', { type: 'search', placeholder: 'Find in all topics', 'aria-label': 'Find in all topics' });
  const list = h('div', { 'aria-live': 'polite' });
  const draw = () => {
    const wanted = words.value.toLowerCase().split(/\s+/).filter(Boolean);
    const fitting = topics.filter((t) => wanted.every((w) => `${t.title} ${t.text}`.toLowerCase().includes(w)));
    fill(list, fitting.length === 0 && h('p', { class: 'soft' }, 'No topic has these words.'), grouped(fitting).map(([group, some]) => [
      h('h2', { class: 'small soft' }, group),
      h('ul', {}, some.map((t) => h('li', {}, h('a', { href: link(t.name), 'aria-current': t.name === current ? 'page' : null }, t.title)))),
    ]));
  };
  words.addEventListener('input', draw);
  draw();
  const narrow = matchMedia('(max-width: 60rem)').matches;
  return h('nav', { 'aria-label': 'Topics', class: 'topics' }, h('details', { open: !(narrow && current) }, h('summary', {}, 'Topics'), words, list));
}

function overview(topics) {
  return h('article', { class: 'card' }, h('h1', {}, 'Help'),
    h('p', {}, 'The same in a terminal: ', h('code', {}, 'writ help topics'), '.'),
    grouped(topics).map(([group, some]) => [h('h2', {}, group),
      h('dl', {}, some.map((t) => [h('dt', {}, h('a', { href: link(t.name) }, t.title)), h('dd', {}, t.summary)]))]));
}

function article(page) {
  const sections = page.body.filter((e) => e.t === 'h2' && e.a);
  const made = page.body.map((e) => build(e, page.name));
  if (sections.length > 2) {
    made.splice(2, 0, h('nav', { 'aria-label': 'Sections', class: 'small' }, h('ul', { class: 'row' },
      sections.map((e) => h('li', {}, h('a', { href: link(page.name, e.a.id) }, words(e)))))));
  }
  return h('article', { class: 'card' }, made, h('p', { class: 'soft small' }, 'In a terminal: ', h('code', {}, `writ help ${page.name}`)));
}

const words = (e) => (typeof e === 'string' ? e : (e.c || []).map(words).join(''));

/** build makes an element of what the server describes. */
export function build(e, topic) {
  if (typeof e === 'string') return e;
  if (!tags.has(e.t)) return words(e);
  const children = (e.c || []).map((c) => build(c, topic));
  const attributes = { ...e.a };
  if (attributes.href && !/^(#\/|https?:)/.test(attributes.href)) delete attributes.href;
  if (/^h[23]$/.test(e.t) && attributes.id) {
    return h(e.t, { ...attributes, tabindex: '-1' }, children, ' ',
      h('a', { class: 'anchor', href: link(topic, attributes.id), 'aria-label': `Link to the section ${words(e)}` }, '#'));
  }
  return h(e.t, attributes, children);
}
