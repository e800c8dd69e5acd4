import { ago, card, chip, fill, h, short } from './dom.js';
import { get, refreshing } from './net.js';
import { acceptance } from './passkey.js';
import { waiting } from './review.js';
import { place } from './sessions.js';
import { timeline } from './timeline.js';

/** session shows one session: its gates, what waits, and its history. */
export function session(main, signal, id) {
  const parts = { title: h('h1'), head: h('div'), settings: h('div'), offer: h('div'), gates: h('div'), time: h('div') };
  const shown = { print: '' };
  timeline(parts.time, signal, id);
  refreshing(signal, (e) => [id, 'settings', 'passkeys'].includes(e.aggregate.id), async () => {
    const [view, offer, keys] = await Promise.all([get('session', { id }), get('offer', { session: id }), get('passkeys')]);
    const settings = view.project ? await get('settings', { project: view.project }).catch(() => ({})) : {};
    if (signal.aborted) return;
    if (!main.contains(parts.head)) fill(main, parts.title, Object.values(parts).slice(1));
    fill(parts.title, view.title || `Session ${id}`);
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
    row('Wish', v.wish), row('Session', h('span', { class: 'mono' }, v.session)),
    row('Stands', [chip(v.standing, { live: 'good', idle: 'warn' }[v.standing]), place(v)]), row('Given', given(v)), row('Became', became(v)), row('Project', v.project), row('Agent', [v.host, v.model ? ` · ${v.model}` : '', v.parent ? ` · sub-agent of ${v.parent}` : '']),
    row('Began', v.started && `${new Date(v.started).toLocaleString()} (${ago(v.started)})`),
    row('Next', v.next), row('Written', (v.written || []).join(', ')),
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

function gate(g) {
  const kind = { approved: 'good', drifted: 'bad' }[g.state] || '';
  const how = g.state === 'none' ? 'not approved' : `${g.state === 'drifted' ? 'changed since its approval' : 'approved'} · ${g.channel} · ${ago(g.approved_at)} · ${short(g.fingerprint, 13)}`;
  return h('span', { class: 'small' }, chip(g.gate, kind), how);
}
