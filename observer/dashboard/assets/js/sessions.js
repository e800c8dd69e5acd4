import { ago, card, chip, fill, h, last, short, table } from './dom.js';
import { get, refreshing } from './net.js';
import { bell } from './notify.js';
import { waiting } from './review.js';

const listed = 100; // sessions that are shown

/** sessions shows what waits for the user, who works, and where they stand. */
export function sessions(main, signal) {
  const top = h('div');
  const queue = h('div', { 'aria-label': 'What waits for you', role: 'region' });
  const list = h('div');
  const open = new Map(); // the reviews that are open, by what they show
  refreshing(signal, (e) => e.position.stream === 'WRIT_SESSIONS', async () => {
    const [all, activity, status, waits, keys, others] = await Promise.all([get('sessions', { limit: listed }), get('activity', { hours: 168 }), get('status'), get('waits'), get('passkeys'), judgements()]);
    if (signal.aborted) return;
    if (!main.contains(list)) fill(main, h('div', { class: 'row' }, h('h1', { class: 'grow' }, 'Sessions'), bell()), queue, top, list);
    fill(top, tiles(activity, status, waits.counts, others));
    const known = new Map(waits.items.map((one) => [print(one), one]));
    for (const key of open.keys()) if (!known.has(key)) open.delete(key);
    // What the person reads or types into stays while it is the same offer.
    if (queue.dataset.shown !== [...known.keys()].join()) {
      fill(queue, [...known].map(([key, one]) => callFor(one, key, open, keys.passkeys.length)));
      queue.dataset.shown = [...known.keys()].join();
    }
    fill(list, card('', table('Sessions', columns, all.sessions, ['No agent has worked under guard yet. ', h('code', {}, 'writ init'), ' in a project puts it under guard.'])));
  });
}

const print = (one) => `${one.session} ${one.gate} ${one.fingerprint}`;

/** judgements counts what else waits for a person: proposed rules, and what reflection proposes. */
async function judgements() {
  const [grown, reflected] = await Promise.all([get('graduation'), get('proposals')]);
  const count = (n, text, page) => n > 0 && [h('a', { href: page }, n), text];
  return [count(grown.unreviewed, 'proposed rules: judge them', '#/rules'), count(reflected.proposals.length, 'proposals of the memory: judge them', '#/memory')].filter(Boolean);
}

function tiles(activity, status, counts, others) {
  const since = (hours) => activity.hours.filter((hour) => Date.now() - new Date(hour.start) < hours * 3600e3);
  const sum = (hours, ...names) => since(hours).reduce((n, hour) => n + names.reduce((m, name) => m + (hour[name] || 0), 0), 0);
  const behind = status.views.reduce((n, v) => n + v.lag, 0);
  return h('div', { class: 'tiles' }, [
    [counts.waiting, 'wait for you'],
    ...others,
    [counts.live.toLocaleString(), `live sessions; ${counts.idle} idle, ${counts.ended} ended`],
    [sum(24, 'allowed'), 'allowed, 24 h'],
    [sum(24, 'denied', 'asked'), 'refused or asked, 24 h'],
    [sum(168, 'tokens', 'memory', 'files').toLocaleString(), `tokens given, 7 days; ${sum(168, 'followed')} rules followed, ${sum(168, 'ignored')} not`],
    behind > 0 && [behind, 'events the views are behind'],
  ].filter(Boolean).map(([n, text]) => h('div', { class: 'tile' }, h('b', {}, n), h('span', {}, text))));
}

/** callFor is one entry of the queue, with its review in place. */
function callFor(one, key, open, keys) {
  const review = open.get(key) || h('div');
  const show = h('button', { type: 'button', 'aria-expanded': String(open.has(key)), 'aria-description': `the ${one.gate} of ${one.wish || one.session}` }, open.has(key) ? 'Close' : 'Review here');
  show.addEventListener('click', async () => {
    const opening = !open.has(key);
    show.setAttribute('aria-expanded', String(opening));
    show.textContent = opening ? 'Close' : 'Review here';
    if (!opening) {
      open.delete(key);
      fill(review);
      return;
    }
    open.set(key, review);
    const offer = await get('offer', { session: one.session, gate: one.gate }).catch((error) => ({ error: error.message }));
    fill(review, offer.error ? h('p', {}, offer.error) : waiting(offer, keys) || h('p', {}, 'It waits no more.'));
  });
  const facts = [one.files.join(', '), one.tests > 0 && `${one.red || 0} of ${one.tests} test files seen red`, one.changed && 'changed since you approved it', one.second];
  return h('section', { class: 'card call', 'aria-label': `The ${one.gate} of ${one.wish || one.session}` },
    h('div', { class: 'row' },
      h('div', { class: 'grow' },
        h('h2', {}, one.wish || one.session),
        h('p', {}, `The ${one.gate} of `, h('strong', { title: one.project }, last(one.project) || one.session), one.gate === 'tests' ? ' wait for your approval' : ' waits for your approval', one.plan && `: ${one.plan}`),
        h('p', { class: 'soft small' }, `${facts.filter(Boolean).join(' · ')} · ${one.host || 'an agent'} · ${ago(one.since)} · `, h('span', { class: 'mono' }, short(one.session, 14)))),
      show, h('a', { href: link(one.session) }, 'Look at it')),
    review);
}

export const link = (id) => `#/session/${encodeURIComponent(id)}`;

const columns = [
  { head: 'Session', cell: (x) => [h('a', { href: link(x.session), title: x.session }, x.title ? short(x.title, 70) : short(x.session, 22)), h('div', { class: 'mono small soft' }, short(x.session, 14))] },
  { head: 'Project', cell: (x) => h('span', { class: 'name', title: x.project }, last(x.project)) },
  { head: 'Agent', cell: (x) => [x.host, x.parent ? chip('sub-agent') : ''] },
  { head: 'Mode', cell: (x) => place(x) },
  { head: 'Refused', number: true, cell: (x) => x.refusals || 0 },
  { head: 'Given', number: true, cell: (x) => { const g = x.given || {}; const n = (g.rules || 0) + (g.memory || 0) + (g.files || 0); return h('span', { title: 'tokens' }, n.toLocaleString()); } },
  { head: 'Events', number: true, cell: (x) => x.events },
  { head: 'Seen', cell: (x) => [h('span', { class: x.standing === 'live' ? null : 'soft' }, x.ended ? `ended ${ago(x.last_seen)}` : ago(x.last_seen)), x.standing === 'idle' ? [' ', chip('idle')] : ''] },
];

export function place(x) {
  if (!x.mode) return chip('no mode', 'warn');
  return [chip(x.mode), x.mode === 'work' && x.phase ? chip(x.phase, x.phase === 'implementation' ? 'good' : '') : null];
}
