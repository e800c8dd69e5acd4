import { ago, card, chip, fill, h, last, short, table } from './dom.js';
import { tidy } from './charts.js';
import { get, refreshing } from './net.js';

const asked = 20; // sessions that are asked what waits in them

/** sessions shows who works, where they stand and what waits for the user. */
export function sessions(main, signal) {
  const top = h('div');
  const waiting = h('div');
  const list = h('div');
  refreshing(signal, (e) => e.position.stream === 'WRIT_SESSIONS', async () => {
    const [all, activity, status] = await Promise.all([get('sessions', { limit: 100 }), get('activity'), get('status')]);
    const offers = await Promise.all(all.sessions.filter((one) => one.mode === 'work' && !one.ended && !one.parent).slice(0, asked)
      .map((one) => get('offer', { session: one.session }).catch(() => null)));
    if (signal.aborted) return;
    if (!main.contains(list)) fill(main, h('h1', {}, 'Sessions'), top, waiting, list);
    const ready = offers.filter((o) => o && o.gate && o.gate !== 'implementation' && o.files.length && !(o.problems || []).length);
    fill(top, tiles(all.sessions, activity, status, ready.length));
    fill(waiting, ready.map((o) => callFor(o, all.sessions)));
    fill(list, card('', table('Sessions', columns, all.sessions, 'No agent has worked under guard yet. `writ init` in a project puts it under guard.')));
  });
}

function tiles(all, activity, status, waits) {
  const sum = (name) => activity.hours.reduce((n, hour) => n + hour[name], 0);
  const recent = activity.retrieval.slice(-60);
  const slowest = recent.length ? Math.max(...recent.map((m) => m.p95_ms)) : 0;
  const behind = status.views.reduce((n, v) => n + v.lag, 0);
  return h('div', { class: 'tiles' }, [
    [waits, 'wait for you'],
    [all.filter((one) => !one.ended).length, 'open sessions'],
    [sum('allowed'), 'allowed, 24 h'],
    [sum('denied') + sum('asked'), 'refused or asked, 24 h'],
    [recent.length ? `${tidy(slowest)} ms` : '–', 'slowest p95 of retrieval, last hour'],
    [behind, 'events the views are behind'],
  ].map(([n, text]) => h('div', { class: 'tile' }, h('b', {}, n), h('span', {}, text))));
}

function callFor(offer, all) {
  const one = all.find((x) => x.session === offer.session) || {};
  return h('section', { class: 'card call row' },
    h('div', {}, h('strong', {}, `The ${offer.gate} of ${last(one.project) || offer.session} waits for your approval. `),
      h('span', { class: 'soft' }, `${offer.files.map((f) => f.path).join(', ')} · ${ago(one.last_seen)}`)),
    h('a', { href: link(offer.session) }, 'Look at it'));
}

export const link = (id) => `#/session/${encodeURIComponent(id)}`;

const columns = [
  { head: 'Session', cell: (x) => h('a', { href: link(x.session), class: 'mono', title: x.session }, short(x.session, 22)) },
  { head: 'Project', cell: (x) => h('span', { title: x.project }, last(x.project)) },
  { head: 'Agent', cell: (x) => [x.host, x.parent ? chip('sub-agent') : ''] },
  { head: 'Mode', cell: (x) => place(x) },
  { head: 'Refused', number: true, cell: (x) => x.refusals || 0 },
  { head: 'Events', number: true, cell: (x) => x.events },
  { head: 'Seen', cell: (x) => (x.ended ? h('span', { class: 'soft' }, `ended ${ago(x.last_seen)}`) : ago(x.last_seen)) },
];

export function place(x) {
  if (!x.mode) return chip('no mode', 'warn');
  return [chip(x.mode), x.mode === 'work' && x.phase ? chip(x.phase, x.phase === 'implementation' ? 'good' : '') : null];
}
