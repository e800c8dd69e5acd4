import { fill, h } from './dom.js';
import { connect } from './net.js';
import { notifying, watchWaits } from './notify.js';
import { sessions } from './sessions.js';
import { session } from './session.js';
import { decisions } from './decisions.js';
import { rules, rule } from './rules.js';
import { retrieval } from './retrieval.js';
import { memory } from './memory.js';
import { system } from './system.js';
import { help } from './help.js';
import { enrolment } from './passkey.js';

const pages = [
  [/^\/$/, 'Sessions', sessions],
  [/^\/session\/(.+)$/, 'Session', session],
  [/^\/decisions$/, 'Decisions', decisions],
  [/^\/rules$/, 'Rules', rules],
  [/^\/rule\/(.+)$/, 'Rule', rule],
  [/^\/retrieval$/, 'Retrieval', retrieval],
  [/^\/memory$/, 'Memory', memory],
  [/^\/system$/, 'System', system],
  [/^\/passkey\/(.+)$/, 'Passkey', enrolment],
  [/^\/help$/, 'Help', help],
  [/^\/help\/([^/]+)$/, 'Help', help],
  [/^\/help\/([^/]+)\/(.+)$/, 'Help', help],
];

let leaving = new AbortController();

function show() {
  leaving.abort();
  leaving = new AbortController();
  const path = location.hash.slice(1) || '/';
  const main = document.getElementById('main');
  const [pattern, title, page] = pages.find(([p]) => p.test(path)) || pages[0];
  document.title = `${title} – Writ`;
  for (const link of document.querySelectorAll('nav a')) {
    if (link.hash === `#${path}` || (title === 'Session' && link.hash === '#/') || (title === 'Rule' && link.hash === '#/rules') || (title === 'Help' && link.hash === '#/help')) link.setAttribute('aria-current', 'page');
    else link.removeAttribute('aria-current');
  }
  fill(main, h('p', { class: 'soft', id: 'loading' }, 'Loading …'));
  page(main, leaving.signal, ...(path.match(pattern) || []).slice(1).map(decodeURIComponent));
}

document.querySelector('.skip').addEventListener('click', (e) => {
  e.preventDefault();
  document.getElementById('main').focus();
});

document.getElementById('theme').addEventListener('click', () => {
  const dark = getComputedStyle(document.documentElement).colorScheme === 'dark'
    || (!document.documentElement.dataset.theme && matchMedia('(prefers-color-scheme: dark)').matches);
  document.documentElement.dataset.theme = dark ? 'light' : 'dark';
  localStorage.setItem('theme', document.documentElement.dataset.theme);
});

window.addEventListener('hashchange', () => { show(); document.getElementById('main').focus(); });
// The ticket that the page was opened with has done its work.
if (location.search) history.replaceState(null, '', `${location.pathname}${location.hash}`);
connect(document.getElementById('pulse'), show, notifying);
watchWaits();
show();
