import { ago, bytes, card, chip, clock, fill, h, say, short } from './dom.js';
import { act, get, onEvent, refreshing } from './net.js';
import { place } from './sessions.js';
import { told } from './told.js';

const page = 5000;

/** session shows one session: its gates, what waits, and its history. */
export function session(main, signal, id) {
  const parts = { head: h('div'), offer: h('div'), gates: h('div'), time: h('div') };
  const shown = { print: '' };
  timeline(parts.time, signal, id);
  refreshing(signal, (e) => e.aggregate.id === id, async () => {
    const [view, offer] = await Promise.all([get('session', { id }), get('offer', { session: id })]);
    if (signal.aborted) return;
    if (!main.contains(parts.head)) fill(main, h('h1', {}, `Session ${id}`), Object.values(parts));
    fill(parts.head, card('', facts(view)));
    fill(parts.gates, card('Gates', h('div', { class: 'row' }, view.gates.map(gate))));
    // What the person reads or types into stays while it is the same offer.
    const print = JSON.stringify([offer.gate, offer.fingerprint, offer.problems, offer.declined]);
    if (print !== shown.print) {
      shown.print = print;
      fill(parts.offer, waiting(offer));
    }
  });
}

function facts(v) {
  const row = (name, value) => (value ? [h('dt', {}, name), h('dd', {}, value)] : null);
  return h('dl', {},
    row('Stands', place(v)), row('Project', v.project), row('Agent', [v.host, v.model ? ` · ${v.model}` : '', v.parent ? ` · sub-agent of ${v.parent}` : '']),
    row('Began', v.started && `${new Date(v.started).toLocaleString()} (${ago(v.started)})`),
    row('Next', v.next), row('Written', (v.written || []).join(', ')),
    row('Rules shown', (v.shown || []).map((r) => h('a', { href: `#/rule/${encodeURIComponent(r)}`, class: 'chip' }, r))));
}

function gate(g) {
  const kind = { approved: 'good', drifted: 'bad' }[g.state] || '';
  const how = g.state === 'none' ? 'not approved' : `${g.state === 'drifted' ? 'changed since its approval' : 'approved'} · ${g.channel} · ${ago(g.approved_at)} · ${short(g.fingerprint, 13)}`;
  return h('span', { class: 'small' }, chip(g.gate, kind), how);
}

/** waiting shows what waits, with its difference, and takes the person's answer. */
function waiting(offer) {
  if (!offer.gate || offer.gate === 'implementation') return null;
  const problems = offer.problems || [];
  const why = h('textarea', { id: 'why', placeholder: 'What should the agent change?', 'aria-label': 'What should the agent change?' });
  const buttons = [];
  const done = (what, extra) => async () => {
    buttons.forEach((b) => { b.disabled = true; });
    try {
      const reply = await act(what, { session: offer.session, gate: offer.gate, fingerprint: offer.fingerprint, ...extra() });
      say(reply.message);
    } catch (error) {
      say(error.message);
    }
    buttons.forEach((b) => { b.disabled = false; });
  };
  buttons.push(h('button', { class: 'yes', type: 'button', disabled: problems.length > 0, onclick: done('approve', () => ({})) }, `Approve the ${offer.gate}`));
  buttons.push(h('button', { class: 'no', type: 'button', onclick: (e) => (why.value.trim() ? done('decline', () => ({ reason: why.value }))(e) : (say('Say what should change first.'), why.focus())) }, 'Decline'));
  return h('section', { class: 'card call', 'aria-label': `The ${offer.gate} waits` },
    h('h2', {}, `The ${offer.gate} waits for your approval`),
    offer.declined && h('p', {}, chip('declined', 'warn'), ` You asked: ${offer.declined}`),
    problems.length > 0 && h('ul', {}, problems.map((p) => h('li', {}, p))),
    offer.files.map(file),
    h('p', { class: 'small soft' }, `You approve exactly this, fingerprint ${short(offer.fingerprint, 13)}. A later change takes the approval back.`),
    why, h('div', { class: 'row' }, buttons));
}

function file(f) {
  return h('div', {}, h('h3', { class: 'mono' }, f.path, ' ', h('span', { class: 'soft small' }, f.bytes ? bytes(f.bytes) : 'gone'),
    ' ', f.new ? chip('never approved before') : f.diff ? chip('changed', 'warn') : chip('as approved before', 'good')),
  f.unshown && h('p', { class: 'soft' }, `Not shown: ${f.unshown}.`), f.diff && diff(f.diff));
}

function diff(text) {
  const kind = (line) => (/^(\+\+\+|---|@@)/.test(line) ? 'at' : line[0] === '+' ? 'add' : line[0] === '-' ? 'del' : null);
  const lines = text.split('\n');
  if (lines[lines.length - 1] === '') lines.pop();
  return h('pre', { class: 'diff', tabindex: 0, 'aria-label': 'Difference' }, lines.map((line) => h('span', { class: kind(line) }, line || ' ')));
}

/** timeline lists a session's events and lets the person go back and forth in them. */
async function timeline(at, signal, id) {
  const list = h('ol', { class: 'log' });
  const range = h('input', { type: 'range', min: 1, value: 1, 'aria-label': 'Moment of the session' });
  const then = h('p', { class: 'wrap' });
  const stood = h('div', { class: 'row', role: 'status' });
  const detail = h('pre', { class: 'plain mono small' });
  const events = [];
  let following = true;
  let asking = 0;
  signal.addEventListener('abort', () => clearTimeout(asking));
  // The daemon folds the log to that moment with what decides.
  const standing = async (e) => {
    const view = await get('session', { id, at: e.position.seq }).catch(() => null);
    if (!view || signal.aborted || events[range.value - 1] !== e) return;
    fill(stood, h('span', { class: 'soft' }, 'It stood:'), place(view), view.gates.filter((g) => g.state !== 'none').map((g) => chip(`${g.gate} ${g.state}`, g.state === 'approved' ? 'good' : 'bad')),
      h('span', { class: 'soft small' }, `${view.refusals || 0} refused, ${(view.written || []).length} files written, ${(view.shown || []).length} rules shown`));
  };
  const select = (n) => {
    const e = events[n - 1];
    if (!e) return;
    range.value = n;
    range.setAttribute('aria-valuetext', `event ${n} of ${events.length}, ${e.type}`);
    [...list.children].forEach((li, i) => li.classList.toggle('now', i === events.length - n));
    fill(then, `${n} of ${events.length} · ${new Date(e.time).toLocaleString()} · `, chip(e.type));
    clearTimeout(asking);
    asking = setTimeout(() => standing(e), 120);
    detail.textContent = JSON.stringify(e.data, null, 2);
  };
  const add = (e) => {
    events.push(e);
    range.max = events.length;
    const n = events.length;
    list.prepend(h('li', {}, h('span', { class: 'soft' }, clock(e.time)), h('span', {}, chip(e.type)),
      h('a', { href: `#/session/${encodeURIComponent(id)}`, onclick: (x) => { x.preventDefault(); following = n === events.length; select(n); } }, told(e))));
    if (following) select(n);
  };
  range.addEventListener('input', () => { following = Number(range.value) === events.length; select(Number(range.value)); });
  fill(at, card('Timeline', range, then, stood, h('details', {}, h('summary', {}, 'The event as recorded'), detail), list));
  const early = [];
  let loaded = false;
  onEvent(signal, (e) => { if (e.aggregate.id === id) (loaded ? add(e) : early.push(e)); });
  try {
    let after = 0;
    for (;;) {
      const stretch = await get('log', { session: id, after, limit: page });
      if (signal.aborted) return;
      stretch.events.forEach(add);
      if (stretch.end || stretch.next === after) break;
      after = stretch.next;
    }
    const known = new Set(events.map((e) => e.position.seq));
    early.filter((e) => !known.has(e.position.seq)).forEach(add);
    loaded = true;
  } catch (error) {
    say(error.message);
  }
}
