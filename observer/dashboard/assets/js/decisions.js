import { card, chip, clock, coded, fill, h, last, short } from './dom.js';
import { after, following, get, onEvents } from './net.js';
import { link } from './sessions.js';
import { told } from './told.js';

const shown = 300; // rows
const kept = 5000; // decisions that the filters look through
const reach = 2000; // records of the log that are looked through at first
const kinds = { allow: 'good', deny: 'bad', ask: 'warn' };
const verdicts = { allow: 'allowed', deny: 'refused', ask: 'asked' };
const also = new Map(Object.entries({
  'gate.approved': 'approved', 'gate.declined': 'declined', 'gate.drifted': 'changed outside', 'plan.extended': 'plan extended', 'tool.accepted': 'tool let run',
  'plan.reopened': 'new wish', 'plan.resumed': 'plan resumed', 'approval.refused': 'not approved', 'write.unapproved': 'unapproved write', 'rule.violated': 'rule broken',
}));

const stream = 'WRIT_SESSIONS';
const spans = [['', 'the newest'], [1, 'the last hour'], [24, 'the last day'], [168, 'the last week'], [720, 'the last 30 days']];

/** listed leaves out what writ doctor asks to see whether it is refused. */
const listed = (e) => !e.aggregate.id.startsWith('writ-doctor-');
const wanted = (e) => (e.type === 'tool.decided' || also.has(e.type)) && listed(e);

/** decisions shows what agents asked for and what became of it, newest first. */
export async function decisions(main, signal) {
  const list = h('ol', { class: 'log', 'aria-label': 'Decisions' });
  const count = h('p', { class: 'soft small', id: 'count' });
  const verdict = h('select', { 'aria-label': 'Verdict' }, [['', 'every verdict'], ...Object.entries(verdicts)].map(([v, t]) => h('option', { value: v }, t)));
  const words = h('input', { type: 'search', placeholder: 'Filter by session, tool, path, rule, reason', 'aria-label': 'Filter' });
  const span = h('select', { 'aria-label': 'Span' }, spans.map(([n, t]) => h('option', { value: n }, t)));
  const hold = h('button', { type: 'button', 'aria-pressed': 'false' }, 'Pause');
  const state = { all: [], came: 0, fitting: 0, waits: [], before: 0, paused: false, problem: '' };
  const fits = (e) => (!verdict.value || e.data.verdict === verdict.value)
    && (!words.value || JSON.stringify([e.aggregate.id, e.type, e.data]).toLowerCase().includes(words.value.toLowerCase()));
  const tell = () => fill(count, holds(state, list.children.length));
  const add = (events) => { // oldest first
    state.came += events.length;
    state.all = [...events.slice(-kept).reverse(), ...state.all].slice(0, kept);
  };
  const draw = () => {
    const fitting = state.all.filter(fits);
    state.fitting = fitting.length;
    fill(list, fitting.slice(0, shown).map(line));
    tell();
  };
  const take = (events) => {
    add(events);
    const fitting = events.filter(fits);
    state.fitting = Math.min(state.fitting + fitting.length, kept);
    list.prepend(...fitting.slice(-shown).reverse().map(line));
    while (list.children.length > shown) list.lastChild.remove();
    tell();
  };
  let loaded = false;
  let known = null; // the last that was read from the log
  onEvents(signal, (events) => {
    const came = events.filter((e) => wanted(e) && after(e, known));
    if (came.length === 0) return;
    if (loaded && !state.paused) take(came);
    else state.waits.push(...came);
    if (state.paused) tell();
  });
  hold.addEventListener('click', () => {
    state.paused = !state.paused;
    hold.setAttribute('aria-pressed', String(state.paused));
    hold.textContent = state.paused ? 'Go on' : 'Pause';
    if (!state.paused) take(state.waits.splice(0));
    tell();
  });
  verdict.addEventListener('change', draw);
  words.addEventListener('input', draw);
  let asked = 0;
  const load = async () => {
    loaded = false;
    asked += 1;
    const own = asked;
    try {
      await following;
      const page = await recorded(span.value ? new Date(Date.now() - span.value * 3600e3) : null);
      if (signal.aborted || own !== asked) return; // another span was chosen meanwhile
      Object.assign(state, { all: [], came: page.left, before: page.before, problem: '' });
      known = page.last;
      add([...page.events, ...state.waits.splice(0).filter((e) => after(e, known))]);
    } catch (error) {
      if (own === asked) state.problem = error.message;
    }
    loaded = true;
    draw();
  };
  span.addEventListener('change', load);
  await load();
  fill(main, h('h1', {}, 'Decisions'), card('', h('div', { class: 'row' }, span, verdict, words, hold), count), card('', list));
  draw();
}

/** recorded reads what is in the log since a moment, or at its end: its events, the last of them, how many had no place, and what went before unread. */
async function recorded(since) {
  const status = await get('status');
  const end = status.streams.find((s) => s.name === stream).last;
  const before = since ? await firstSince(since, end) : Math.max(0, end - reach);
  const found = { before, events: [], last: null, left: 0 };
  for (let next = before; ;) {
    const page = await get('log', { stream, after: next, limit: 5000, type: [...also.keys(), 'tool.decided'].join() });
    found.last = page.events.at(-1) || found.last;
    found.events.push(...page.events.filter((e) => listed(e) && (!since || new Date(e.time) >= since)));
    found.left += found.events.splice(0, Math.max(0, found.events.length - kept)).length;
    if (page.end || page.next === next) return found;
    next = page.next;
  }
}

/** firstSince is a record shortly before the first of a moment or later. */
async function firstSince(since, end) {
  let low = 0;
  for (let high = end; high - low > 500;) {
    const middle = Math.floor((low + high) / 2);
    const [e] = (await get('log', { stream, after: middle, limit: 1 })).events;
    if (!e || new Date(e.time) >= since) high = middle;
    else low = middle;
  }
  return low;
}

/** holds says what the list holds and what it does not. */
function holds(state, rows) {
  const n = (x) => x.toLocaleString();
  const newest = state.all[0];
  if (state.problem) return [`What was decided cannot be read. ${state.problem}`];
  const parts = [newest ? `${n(rows)} of ${n(state.came)} shown, the newest is sessions/${newest.position.seq}` : 'Nothing was decided yet'];
  if (state.fitting > rows) parts.push(`${n(state.fitting - rows)} more fit the filter`);
  if (state.came > state.all.length) parts.push(`${n(state.came - state.all.length)} older ones are not held here any more`);
  if (state.before) parts.push(`the log's first ${n(state.before)} records were not looked through`);
  const leftOut = state.came > rows || state.before > 0;
  return [`${parts.join('; ')}.`, leftOut && [' All of them: ', h('code', {}, 'writ log --type tool.decided')],
    state.paused && h('strong', {}, ` Paused; ${n(state.waits.length)} came since.`)];
}

function line(e) {
  const d = e.data;
  const decided = e.type === 'tool.decided';
  const what = d.command ? `${d.tool}: ${short(d.command, 160)}` : `${d.tool} ${(d.targets || []).map((t) => t.rel || t.path).join(', ')}`;
  return h('li', {},
    h('span', { class: 'soft' }, clock(e.time)),
    h('span', {}, chip(verdicts[d.verdict] || also.get(e.type) || e.type, kinds[d.verdict] || 'warn'), d.rule && h('div', { class: 'small' }, d.rule)),
    h('div', {}, h('div', { class: decided ? 'mono wrap' : 'wrap' }, decided ? what : coded(told(e))), decided && d.reason && h('div', { class: 'soft wrap' }, coded(d.reason)),
      h('a', { class: 'small', href: link(e.aggregate.id) }, `${short(e.aggregate.id, 26)} ${last(d.dir)}`)));
}
