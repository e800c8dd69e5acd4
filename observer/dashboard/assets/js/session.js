import { ago, card, chip, fill, h, short } from './dom.js';
import { get, refreshing } from './net.js';
import { acceptance } from './passkey.js';
import { diff, waiting } from './review.js';
import { place } from './sessions.js';
import { timeline } from './timeline.js';
import { by } from './told.js';

/** session shows one session: its gates, what waits, and its history. */
export function session(main, signal, id) {
  const parts = { title: h('h1'), offer: h('div'), settings: h('div'), head: h('div'), gates: h('div'), changes: h('div'), time: h('div') };
  const shown = { print: '', changes: '' };
  timeline(parts.time, signal, id);
  refreshing(signal, (e) => [id, 'settings', 'passkeys'].includes(e.aggregate.id), async () => {
    const [view, offer, keys, changes] = await Promise.all([get('session', { id }), get('offer', { session: id }), get('passkeys'), get('changes', { id })]);
    const settings = view.project ? await get('settings', { project: view.project }).catch(() => ({})) : {};
    if (signal.aborted) return;
    if (!main.contains(parts.head)) fill(main, parts.title, Object.values(parts).slice(1));
    fill(parts.title, view.title || `Session ${id}`);
    fill(parts.head, card('', facts(view, offer)));
    fill(parts.settings, acceptance(settings));
    fill(parts.gates, card('Gates', h('div', { class: 'row' }, view.gates.map(gate))));
    // What is unfolded stays so while nothing was changed.
    if (shown.changes !== JSON.stringify(changes)) {
      shown.changes = JSON.stringify(changes);
      fill(parts.changes, changes.files.length > 0 && changed(changes));
    }
    // What the person reads or types into stays while it is the same offer.
    const print = JSON.stringify([offer.gate, offer.fingerprint, offer.problems, offer.declined, offer.seen, offer.too_weak, offer.second, keys.passkeys.length]);
    if (print !== shown.print) {
      shown.print = print;
      fill(parts.offer, waiting(offer, keys.passkeys.length));
    }
  });
}

function facts(v, offer) {
  const row = (name, value) => (value ? [h('dt', {}, name), h('dd', {}, value)] : null);
  return h('dl', {},
    row('Wish', v.wish), row('Session', h('span', { class: 'mono' }, v.session)),
    row('Stands', [chip(v.standing, { live: 'good', idle: 'warn' }[v.standing]), place(v)]), row('Given', given(v)), row('Rules', became(v)), row('Project', v.project), row('Agent', [v.host, v.model ? ` · ${v.model}` : '', v.parent ? ` · sub-agent of ${v.parent}` : '']),
    row('Began', v.started && `${new Date(v.started).toLocaleString()} (${ago(v.started)})`),
    row('Next', (!offer.gate || offer.gate === 'implementation') && v.next),
    row('Rules shown', (v.shown || []).map((r) => h('a', { href: `#/rule/${encodeURIComponent(r)}`, class: 'chip' }, r))));
}

/** given says how many tokens a session was given, of what, and for its last prompt. */
export function given(v) {
  const kinds = Object.entries(v.given || {}).filter(([, n]) => n > 0);
  const all = kinds.reduce((n, [, one]) => n + one, 0);
  if (!all) return '';
  return `${all.toLocaleString()} tokens (${kinds.map(([kind, n]) => `${kind} ${n.toLocaleString()}`).join(', ')}), ${(v.given_since_prompt || 0).toLocaleString()} since the last of ${v.prompts || 0} prompts`;
}

function became(v) {
  const audit = v.audit || {};
  const n = (list) => (list || []).length;
  if (!n(audit.shown)) return '';
  return `${n(audit.shown)} rules given: ${n(audit.followed)} followed, ${n(audit.broken)} not, ${Math.max(0, n(audit.shown) - n(audit.followed) - n(audit.broken))} that no check judged`;
}

/** changed lists the files that a session changed, with what allowed each and, unfolded, the difference. */
function changed(c) {
  let asked = null;
  const look = async (f, at) => {
    asked = asked || get('changes', { id: c.session, diffs: 1 });
    const all = await asked.catch((error) => ({ files: [], error: error.message }));
    const one = all.files.find((x) => x.path === f.path) || {};
    fill(at, one.diff ? [h('p', { class: 'soft small' }, `Compared with ${short(all.base, 13)}, the last commit before the session.`), diff(one.diff)] : h('p', { class: 'soft' }, `Not shown: ${one.unshown || all.error || 'it is gone'}.`));
  };
  return card('What it changed', c.files.map((f) => {
    const at = h('div');
    return h('details', { class: 'changed', ontoggle: (e) => e.target.open && look(f, at) }, h('summary', {}, h('span', { class: 'mono' }, f.path), ' ',
      h('span', { class: 'soft small' }, f.gate ? `${f.gate} approved · ${by(f.channel)} · ${short(f.fingerprint, 13)}` : `in ${[f.mode, f.phase].filter(Boolean).join(', ')}`),
      f.unapproved && [' ', chip('nothing allowed it', 'bad')], f.changed_since && [' ', chip('changed since by others', 'warn')]), at);
  }));
}

function gate(g) {
  const kind = { approved: 'good', drifted: 'bad' }[g.state] || '';
  const how = g.state === 'none' ? (g.waits ? (g.gate === 'implementation' ? 'goes on until you approve it' : 'waits for you') : (g.problems || []).length ? `cannot be approved yet: ${g.problems.join('; ')}` : 'not yet') : `${g.state === 'drifted' ? 'changed since its approval' : 'approved'} · ${by(g.channel)} · ${ago(g.approved_at)} · ${short(g.fingerprint, 13)}`;
  return h('span', { class: 'small' }, chip(g.gate, kind), how);
}
