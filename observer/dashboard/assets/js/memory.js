import { ago, card, chip, fill, h, table } from './dom.js';
import { get, refreshing } from './net.js';

/** memory shows what the write gate let through. */
export function memory(main, signal) {
  refreshing(signal, (e) => e.position.stream === 'WRIT_MEMORY', async () => {
    const [hour, week] = await Promise.all([get('memory', { minutes: 60 }), get('memory', { week: 1 })]);
    if (signal.aborted) return;
    fill(main, h('h1', {}, 'Memory'),
      hour.alarms.length > 0 && h('section', { class: 'card call', role: 'alert' }, h('h2', {}, 'Drift'),
        hour.alarms.map((a) => h('p', {}, chip(a.alarm, 'bad'), ` ${percent(a.ratio)}, limit ${percent(a.limit)}, since ${ago(a.since)}`))),
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
      ], [{ name: 'last hour', t: hour.window }, { name: 'this week', t: week.window }, week.before && { name: 'the week before', t: week.before }].filter(Boolean), '')),
      hour.alarms.length === 0 && h('p', { class: 'soft' }, 'No drift alarm is raised.'));
  });
}

const percent = (x) => `${(100 * x).toFixed(0)} %`;
