import { card, fill, h } from './dom.js';
import { get, refreshing } from './net.js';
import { bars, lines } from './charts.js';

/** retrieval shows what prompts were given, and what comes of it. */
export function retrieval(main, signal) {
  const hours = h('select', { 'aria-label': 'Span' }, [[24, 'a day'], [168, 'a week'], [2160, 'ninety days']].map(([n, t]) => h('option', { value: n }, t)));
  const body = h('div');
  const load = async () => {
    const a = await get('activity', { hours: hours.value });
    if (signal.aborted) return;
    if (!main.contains(body)) fill(main, h('h1', {}, 'Retrieval'), card('', h('div', { class: 'row' }, h('span', {}, 'Over'), hours)), body);
    const at = (x) => new Date(x.start).getTime();
    const ratio = (x, y) => (y ? (100 * x) / y : 0);
    fill(body,
      card('Prompts that rules were shown for', lines('Percent of prompts with rules, and mean best score in percent', a.hours.filter((x) => x.prompts).map((x) => ({ at: at(x), values: [ratio(x.answered, x.prompts), 100 * x.best] })), ' %'),
        legend(['', 'prompts with rules'], ['two', 'mean score of the best rule'])),
      card('What they cost', lines('Tokens of rules for a prompt, on average per hour', a.hours.filter((x) => x.prompts).map((x) => ({ at: at(x), values: [x.tokens / x.prompts] })), '')),
      card('What became of them', bars('Outcomes per hour: followed and ignored', a.hours.filter((x) => x.followed + x.ignored).map((x) => ({ at: at(x), values: [x.followed, 0, x.ignored] }))),
        legend(['good', 'followed'], ['bad', 'ignored'])),
      card('Requests', bars('Requests per hour: allowed, asked, refused', a.hours.map((x) => ({ at: at(x), values: [x.allowed, x.asked, x.denied] }))),
        legend(['good', 'allowed'], ['two', 'asked'], ['bad', 'refused'])));
  };
  hours.addEventListener('change', load);
  refreshing(signal, (e) => ['rules.shown', 'prompt.submitted', 'tool.decided', 'outcome.recorded'].includes(e.type), load);
}

const legend = (...all) => h('p', { class: 'legend' }, all.map(([kind, text]) => h('span', {}, h('i', { class: kind }), text)));
