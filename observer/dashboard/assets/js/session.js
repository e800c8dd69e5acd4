import { ago, bytes, card, chip, fill, h, say, short } from './dom.js';
import { act, get, refreshing } from './net.js';
import { able, acceptance, signed } from './passkey.js';
import { place } from './sessions.js';
import { timeline } from './timeline.js';

/** session shows one session: its gates, what waits, and its history. */
export function session(main, signal, id) {
  const parts = { head: h('div'), settings: h('div'), offer: h('div'), gates: h('div'), time: h('div') };
  const shown = { print: '' };
  timeline(parts.time, signal, id);
  refreshing(signal, (e) => [id, 'settings', 'passkeys'].includes(e.aggregate.id), async () => {
    const [view, offer, keys] = await Promise.all([get('session', { id }), get('offer', { session: id }), get('passkeys')]);
    const settings = view.project ? await get('settings', { project: view.project }).catch(() => ({})) : {};
    if (signal.aborted) return;
    if (!main.contains(parts.head)) fill(main, h('h1', {}, `Session ${id}`), Object.values(parts));
    fill(parts.head, card('', facts(view)));
    fill(parts.settings, acceptance(settings));
    fill(parts.gates, card('Gates', h('div', { class: 'row' }, view.gates.map(gate))));
    // What the person reads or types into stays while it is the same offer.
    const print = JSON.stringify([offer.gate, offer.fingerprint, offer.problems, offer.declined, offer.seen, offer.too_weak, keys.passkeys.length]);
    if (print !== shown.print) {
      shown.print = print;
      fill(parts.offer, waiting(offer, keys.passkeys.length));
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
function waiting(offer, keys) {
  // The implementation waits for as long as it goes on; it is shown where the dashboard may be the only way.
  if (!offer.gate || (offer.gate === 'implementation' && !offer.too_weak)) return null;
  const problems = offer.problems || [];
  const why = h('textarea', { id: 'why', placeholder: 'What should the agent change?', 'aria-label': 'What should the agent change?' });
  const buttons = [];
  const done = (what, extra) => async () => {
    buttons.forEach((b) => { b.disabled = true; });
    try {
      const shown = { session: offer.session, gate: offer.gate, fingerprint: offer.fingerprint };
      const reply = await act(what, { ...shown, ...await extra(shown) });
      say(reply.message);
    } catch (error) {
      say(error.message);
    }
    buttons.forEach((b) => { b.disabled = false; });
  };
  const approves = (text, extra) => buttons.push(h('button', { class: 'yes', type: 'button', disabled: problems.length > 0, onclick: done('approve', extra) }, text));
  if (!offer.too_weak) approves(`Approve the ${offer.gate}`, () => ({}));
  if (keys > 0 && !able()) approves(`Approve the ${offer.gate} with a passkey`, async (shown) => ({ signed: await signed(shown) }));
  buttons.push(h('button', { class: 'no', type: 'button', onclick: (e) => (why.value.trim() ? done('decline', () => ({ reason: why.value }))(e) : (say('Say what should change first.'), why.focus())) }, 'Decline'));
  return h('section', { class: 'card call', 'aria-label': `The ${offer.gate} waits` },
    h('h2', {}, `The ${offer.gate} waits for your approval`),
    offer.declined && h('p', {}, chip('declined', 'warn'), ` You asked: ${offer.declined}`),
    problems.length > 0 && h('ul', {}, problems.map((p) => h('li', {}, p))),
    (offer.seen || []).length > 0 && h('ul', { class: 'seen' }, offer.seen.map((one) => h('li', {}, chip(one.verdict === 'red' ? 'seen red' : one.verdict ? one.verdict.replace('_', ' ') : 'not run yet', one.verdict === 'red' ? 'good' : 'warn'), ` ${one.text}`))),
    offer.too_weak && buttons.length < 2 && h('p', {}, `A button is not enough here: ${offer.too_weak}.`),
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
