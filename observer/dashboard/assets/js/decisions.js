import { card, chip, clock, fill, h, last, say, short } from './dom.js';
import { get, onEvent } from './net.js';
import { link } from './sessions.js';

const kept = 300;
const kinds = { allow: 'good', deny: 'bad', ask: 'warn' };
const also = new Set(['gate.approved', 'gate.declined', 'gate.drifted', 'approval.refused', 'write.unapproved', 'rule.violated']);

/** decisions shows what agents asked for and what became of it, newest first. */
export async function decisions(main, signal) {
  const list = h('ol', { class: 'log', 'aria-label': 'Decisions' });
  const verdict = h('select', { 'aria-label': 'Verdict' }, [['', 'every verdict'], ['allow', 'allowed'], ['deny', 'refused'], ['ask', 'asked']].map(([v, t]) => h('option', { value: v }, t)));
  const words = h('input', { type: 'search', placeholder: 'Filter by session, tool, path, rule, reason', 'aria-label': 'Filter' });
  const all = [];
  const fits = (e) => (!verdict.value || e.data.verdict === verdict.value) && JSON.stringify([e.aggregate.id, e.type, e.data]).toLowerCase().includes(words.value.toLowerCase());
  const draw = () => fill(list, all.filter(fits).slice(0, kept).map(line));
  const add = (e) => {
    if (e.type !== 'tool.decided' && !also.has(e.type)) return false;
    all.unshift(e);
    all.length = Math.min(all.length, 5 * kept);
    return true;
  };
  onEvent(signal, (e) => {
    if (add(e) && fits(e)) {
      list.prepend(line(e));
      if (list.children.length > kept) list.lastChild.remove();
    }
  });
  verdict.addEventListener('change', draw);
  words.addEventListener('input', draw);
  try {
    const status = await get('status');
    const end = status.streams.find((s) => s.name === 'WRIT_SESSIONS').last;
    const page = await get('log', { stream: 'WRIT_SESSIONS', after: Math.max(0, end - 2000), limit: 5000 });
    if (signal.aborted) return;
    const came = all.splice(0).reverse();
    page.events.forEach(add);
    came.filter((e) => !page.events.some((p) => p.id === e.id && p.type === e.type)).forEach(add);
  } catch (error) {
    say(error.message);
  }
  fill(main, h('h1', {}, 'Decisions'), card('', h('div', { class: 'row' }, verdict, words)), card('', list));
  draw();
}

function line(e) {
  const d = e.data;
  const what = d.command ? `${d.tool}: ${short(d.command, 160)}` : `${d.tool || e.type} ${(d.targets || []).map((t) => t.rel || t.path).join(', ')}`;
  return h('li', {},
    h('span', { class: 'soft' }, clock(e.time)),
    h('span', {}, chip(d.verdict || e.type, kinds[d.verdict] || 'warn'), d.rule && h('div', { class: 'small' }, d.rule)),
    h('div', {}, h('div', { class: 'mono wrap' }, what), d.reason && h('div', { class: 'soft wrap' }, d.reason),
      h('a', { class: 'small', href: link(e.aggregate.id) }, `${short(e.aggregate.id, 26)} ${last(d.dir)}`)));
}
