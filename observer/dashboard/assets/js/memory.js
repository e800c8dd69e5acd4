import { ago, card, chip, fill, h, table } from './dom.js';
import { kept, observation, proposal } from './judge.js';
import { get, refreshing } from './net.js';

/** memory shows what is remembered, what waits for a person, and how the write gate judges. */
export function memory(main, signal) {
  const drift = h('div');
  const health = h('div');
  const proposals = h('div');
  const found = h('div', { 'aria-label': 'Observations', role: 'region' });
  const more = h('button', { type: 'button' }, 'Show more');
  const words = h('input', { type: 'search', placeholder: 'Search what was observed', 'aria-label': 'Search observations' });
  const verdict = h('select', { 'aria-label': 'Verdict' }, [['hold', 'held: not recalled yet'], ['allow', 'allowed: recalled'], ['discard', 'discarded: kept for audit']].map(([v, t]) => h('option', { value: v }, t)));
  let pages = 1;
  let asked = 0;
  const list = async () => {
    asked += 1;
    const own = asked;
    const text = words.value.trim();
    let items = [];
    let next = 0;
    if (text) {
      items = (await get('recall', { text })).hits;
    } else {
      for (let i = 0; i < pages && (i === 0 || next); i += 1) {
        const page = await get('observations', { verdict: verdict.value, after: next || '' });
        items.push(...page.items);
        next = page.next;
      }
    }
    if (signal.aborted || own !== asked) return; // a later question is under way
    kept(found, items, observation, text ? 'Nothing that was observed fits.' : 'There is none.');
    more.hidden = !next;
  };
  more.addEventListener('click', () => { pages += 1; list(); });
  words.addEventListener('input', list);
  verdict.addEventListener('change', () => { pages = 1; list(); });
  refreshing(signal, (e) => e.position.stream === 'WRIT_MEMORY', async () => {
    const [hour, week, open] = await Promise.all([get('memory', { minutes: 60 }), get('memory', { week: 1 }), get('proposals')]);
    if (signal.aborted) return;
    if (!main.contains(found)) {
      fill(main, h('h1', {}, 'Memory'), drift, card('Proposals', proposals), card('Observations', h('div', { class: 'row' }, words, verdict), found, more), health);
    }
    kept(proposals, open.proposals, proposal, 'Reflection proposes nothing.');
    fill(drift, hour.alarms.length > 0 && h('section', { class: 'card call', role: 'alert' }, h('h2', {}, 'Drift'),
      hour.alarms.map((a) => h('p', {}, chip(a.alarm, 'bad'), ` ${percent(a.ratio)}, limit ${percent(a.limit)}, since ${ago(a.since)}`))));
    fill(health, gate(hour, week));
    await list();
  });
}

/** gate shows what the write gate did in the last hour and week. */
function gate(hour, week) {
  const spans = [{ name: 'last hour', t: hour.window }, { name: 'this week', t: week.window }, week.before && { name: 'the week before', t: week.before }].filter(Boolean);
  return [
    h('div', { class: 'tiles' }, [[week.total, 'observations ever'], [week.forgotten, 'forgotten'], [week.window.allow + week.window.hold + week.window.discard, 'this week'],
      [percent(week.proposal_noise || 0), 'of proposals rejected this week']].map(([n, t]) => h('div', { class: 'tile' }, h('b', {}, n), h('span', {}, t)))),
    card('Verdicts', table('Verdicts', [
      { head: 'Span', cell: (r) => r.name },
      { head: 'Allow', number: true, cell: (r) => r.t.allow },
      { head: 'Hold', number: true, cell: (r) => r.t.hold },
      { head: 'Discard', number: true, cell: (r) => r.t.discard },
      { head: 'Held', number: true, cell: (r) => percent(r.t.hold_ratio) },
      { head: 'Discarded', number: true, cell: (r) => percent(r.t.discard_ratio) },
      { head: 'Fallback', number: true, cell: (r) => percent(r.t.fallback_ratio) },
      { head: 'Why', cell: (r) => Object.entries(r.t.fallback_reasons || {}).map(([k, n]) => chip(`${k} ${n}`)) },
    ], spans, '')),
    hour.alarms.length === 0 && h('p', { class: 'soft' }, 'No drift alarm is raised.'),
  ];
}

const percent = (x) => `${(100 * x).toFixed(0)} %`;
