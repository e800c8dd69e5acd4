import { bytes, chip, h, say, short } from './dom.js';
import { build } from './help.js';
import { act } from './net.js';
import { able, signed } from './passkey.js';

/** waiting shows what waits, with its difference, and takes the person's answer. */
export function waiting(offer, keys) {
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
    h('h2', {}, `The ${offer.gate} ${problems.length > 0 ? 'cannot be approved yet' : offer.gate === 'tests' ? 'wait for your approval' : 'waits for your approval'}${offer.title ? `: ${offer.title}` : ''}`),
    offer.wish && h('p', {}, chip('you asked for'), ` ${offer.wish}`),
    offer.declined && h('p', {}, chip('declined', 'warn'), ` You asked: ${offer.declined}`),
    offer.second && h('p', {}, chip('two persons'), ` ${offer.second}`),
    problems.length > 0 && h('ul', {}, problems.map((p) => h('li', {}, p))),
    offer.plan_body && h('article', { class: 'plan', 'aria-label': 'The plan' }, offer.plan_body.map((e) => build(e, ''))),
    offer.plan_body && h('p', {}, (offer.covers || []).length > 0 ? ['It allows writing ', offer.covers.map((f) => [h('code', {}, f), ' '])] : 'It lets no file of code be written.'),
    (offer.asserts || []).map(tests),
    (offer.seen || []).length > 0 && h('ul', { class: 'seen' }, offer.seen.map((one) => h('li', {}, chip(one.verdict === 'red' ? 'seen red' : one.verdict ? one.verdict.replace('_', ' ') : 'not run yet', one.verdict === 'red' ? 'good' : 'warn'), ` ${one.text}`))),
    offer.too_weak && buttons.length < 2 && h('p', {}, `A button is not enough here: ${offer.too_weak}.`),
    offer.gate === 'tests' && !(offer.seen || []).length && h('p', {}, chip('not run', 'warn'), ' No test was run: none was seen red.'),
    offer.files.map((f) => file(f, offer)),
    problems.length === 0 && h('p', { class: 'small soft' }, `You approve exactly this (fingerprint ${short(offer.fingerprint, 13)}). A later change takes the approval back.`),
    why, h('div', { class: 'row' }, buttons));
}

/** tests lists the tests of a file with what they assert. */
function tests(one) {
  return h('div', {}, h('h3', { class: 'mono' }, one.path), h('ul', { class: 'tests' }, one.tests.map((t) => h('li', {}, h('span', { class: 'mono' }, t.name || `line ${t.line}`),
    (t.asserts || []).length > 0 ? h('ul', {}, t.asserts.map((text) => h('li', {}, h('code', {}, text)))) : [' ', chip('asserts nothing that was found', 'warn')]))));
}

function file(f, offer) {
  const known = f.new && offer.plan_body && f.path === 'plan.md'; // it stands above, as it is meant to be read
  return h('div', {}, h('h3', { class: 'mono' }, f.path, ' ', h('span', { class: 'soft small' }, f.bytes ? bytes(f.bytes) : 'gone'),
    ' ', f.new ? chip('never approved before') : f.diff ? chip('changed', 'warn') : chip('as approved before', 'good')),
  f.unshown && h('p', { class: 'soft' }, `Not shown: ${f.unshown}.`),
  f.diff && (known ? h('details', {}, h('summary', {}, 'As text'), diff(f.diff)) : diff(f.diff)));
}

/** diff shows a unified difference. */
export function diff(text) {
  const kind = (line) => (/^(\+\+\+|---|@@)/.test(line) ? 'at' : line[0] === '+' ? 'add' : line[0] === '-' ? 'del' : null);
  const lines = text.split('\n');
  if (lines[lines.length - 1] === '') lines.pop();
  return h('pre', { class: 'diff', tabindex: 0, 'aria-label': 'Difference' }, lines.map((line) => h('span', { class: kind(line) }, line || ' ')));
}
