import { ago, card, chip, fill, h, inForce, plural, table } from './dom.js';
import { kept, ruleInQuestion } from './judge.js';
import { get, refreshing } from './net.js';
import { graph } from './charts.js';

const link = (id) => `#/rule/${encodeURIComponent(id)}`;

/** rules shows every rule with what became of it. */
export function rules(main, signal) {
  const words = h('input', { type: 'search', placeholder: 'Filter by id, title, domain', 'aria-label': 'Filter rules' });
  const order = h('select', { 'aria-label': 'Order' }, ['shown', 'denied', 'violated', 'followed', 'ignored', 'id'].map((o) => h('option', { value: o }, `by ${o}`)));
  const list = h('div');
  const questions = h('div', { 'aria-label': 'Rules that wait for your judgement', role: 'region' });
  const summary = h('p', { class: 'soft' });
  let rows = [];
  const draw = () => {
    const text = words.value.toLowerCase();
    const by = order.value;
    const sorted = rows.filter((r) => `${r.id} ${r.title || ''} ${r.domain || ''}`.toLowerCase().includes(text))
      .sort((a, b) => (by === 'id' ? 0 : b[by] - a[by]) || a.id.localeCompare(b.id));
    fill(list, table('Rules', columns, sorted, 'No rule fits.'));
  };
  words.addEventListener('input', draw);
  order.addEventListener('change', draw);
  refreshing(signal, (e) => e.position.stream === 'WRIT_RULES' || ['rules.shown', 'rule.violated', 'tool.decided'].includes(e.type), async () => {
    const [all, activity, grown, review, health] = await Promise.all([get('rules'), get('activity'), get('graduation'), get('review'), get('status')]);
    if (signal.aborted) return;
    const zero = { shown: 0, denied: 0, violated: 0, followed: 0, ignored: 0 };
    const done = new Map(activity.rules.map((r) => [r.id, r]));
    const ladder = new Map(grown.rules.map((r) => [r.id, r]));
    rows = all.rules.map((r) => ({ ...zero, ...r, ...done.get(r.id), ladder: ladder.get(r.id) }));
    // The gates' own rules are in no corpus.
    rows.push(...activity.rules.filter((r) => r.id.startsWith('ENF-') && !all.rules.some((x) => x.id === r.id)).map((r) => ({ ...zero, ...r, title: 'enforcement' })));
    if (!main.contains(list)) fill(main, h('h1', {}, 'Rules'), summary, questions, card('', h('div', { class: 'row' }, words, order)), card('', list));
    kept(questions, review.items, (item) => ruleInQuestion(item, link), 'No rule waits for your judgement.');
    fill(summary, `${inForce(health)} · ${plural(grown.unreviewed || 0, 'proposal waits', 'proposals wait')} for review · ${grown.promoted || 0} promoted · ${grown.rejected || 0} rejected`);
    draw();
  });
}

const columns = [
  { head: 'Rule', cell: (r) => [h('a', { href: link(r.id), class: 'mono' }, r.id), h('div', { class: 'soft small' }, r.title)] },
  { head: 'Domain', cell: (r) => r.domain || '' },
  { head: 'Severity', cell: (r) => r.severity && chip(r.severity, { critical: 'bad', high: 'warn' }[r.severity]) },
  { head: 'Shown', number: true, cell: (r) => r.shown },
  { head: 'Refused', number: true, cell: (r) => r.denied },
  { head: 'Violated', number: true, cell: (r) => r.violated },
  { head: 'Followed', number: true, cell: (r) => r.followed },
  { head: 'Ignored', number: true, cell: (r) => r.ignored },
  { head: 'Weight', cell: (r) => graduation(r.ladder) },
  { head: 'Last', cell: (r) => h('span', { class: 'soft whole' }, ago(r.last)) },
];

function graduation(l) {
  if (!l) return '';
  const n = l.positive + l.negative;
  return [l.weight.toFixed(2), ' ', l.graduated ? chip('graduated', 'good') : l.flagged ? chip('to review', 'bad') : n ? chip(`${n} of 50`) : null];
}

/** rule shows one rule and its neighbours, to walk from one to the next. */
export async function rule(main, signal, id) {
  await refreshing(signal, (e) => e.aggregate.id === id && e.position.stream === 'WRIT_RULES', async () => {
    const [view, near] = await Promise.all([get('rule', { id }).catch(() => null), get('graph', { id, depth: 2 })]);
    if (signal.aborted) return;
    const r = view && view.rule;
    fill(main, h('h1', {}, id, r && r.title ? ` – ${r.title}` : ''),
      r ? card('', about(r, view)) : h('p', { class: 'soft' }, 'This node is no rule, or it has been retired.'),
      card('Neighbours', h('div', { class: 'scroll' }, graph(near, link)), near.truncated && h('p', { class: 'soft' }, 'There are more.'),
        table('Edges', [
          { head: 'From', cell: (e) => h('a', { href: link(e.from) }, e.from) },
          { head: 'Edge', cell: (e) => chip(e.type) },
          { head: 'To', cell: (e) => h('a', { href: link(e.to) }, e.to) },
        ], near.edges.filter((e) => e.from === id || e.to === id), 'It has no edges.')));
  });
}

function about(r, view) {
  const row = (name, value) => (value ? [h('dt', {}, name), h('dd', {}, value)] : null);
  const code = (text) => text && h('pre', { class: 'plain mono small' }, text);
  return h('dl', {},
    row('Type', r.type || 'Rule'), row('Severity', r.severity), row('Domain', r.domain), row('When', r.trigger), row('Do', r.statement),
    row('Why', r.rationale), row('Violation', code(r.violation)), row('Right', code(r.pass_example)),
    row('Confidence', `${r.confidence || 'none'} · weight ${view.weight.toFixed(2)} · ${view.positive} for, ${view.negative} against`),
    row('Source', view.source), row('Revisions', view.revisions), row('Text', r.body && h('pre', { class: 'plain' }, r.body)));
}
