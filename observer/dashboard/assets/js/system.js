import { ago, bytes, card, chip, fill, h, inForce, table } from './dom.js';
import { get, refreshing } from './net.js';
import { passkeys } from './passkey.js';

/** system shows the daemon, its streams and its views. */
export function system(main, signal) {
  refreshing(signal, () => true, async () => {
    const [s, keys] = await Promise.all([get('status'), passkeys()]);
    if (signal.aborted) return;
    const row = (name, value) => [h('dt', {}, name), h('dd', {}, value)];
    fill(main, h('h1', {}, 'System'),
      (s.warnings || []).length > 0 && h('section', { class: 'card call' }, h('h2', {}, 'Warnings'), s.warnings.map((w) => h('p', {}, w))),
      card('', h('dl', {}, row('Version', s.version), row('Process', `${s.pid}, started ${ago(s.started)}`), row('Data', s.data_dir), row('Durability', s.durability),
        row('Gate', `fails ${s.fail}`), row('Confinement', s.confinement), row('Rules', `${inForce(s)}, found by ${s.embedder}`), row('Memory', bytes(s.memory_bytes)))),
      keys,
      card('Views', table('Views', [
        { head: 'View', cell: (v) => v.name },
        { head: 'State', cell: (v) => chip(v.state, v.state === 'live' ? 'good' : v.state === 'stopped' ? 'bad' : 'warn') },
        { head: 'Behind', number: true, cell: (v) => v.lag },
        { head: 'Built', cell: (v) => v.state === 'rebuilding' ? `${Math.floor(100 * (v.done || 0))} %${v.left_ms ? `, about ${Math.round(v.left_ms / 1000)} s left` : ''}` : '' },
        { head: 'Quarantined', number: true, cell: (v) => v.quarantined || 0 },
        { head: 'Problem', cell: (v) => v.error || '' },
      ], s.views, 'There is no view.')),
      card('Streams', table('Streams', [
        { head: 'Stream', cell: (x) => x.name },
        { head: 'Messages', number: true, cell: (x) => x.messages },
        { head: 'Last', number: true, cell: (x) => x.last },
        { head: 'Size', number: true, cell: (x) => bytes(x.bytes) },
      ], s.streams, 'There is no stream.')));
  });
}
