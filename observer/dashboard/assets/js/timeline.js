import { card, chip, clock, coded, fill, h, say } from './dom.js';
import { after, following, get, onEvents } from './net.js';
import { place } from './sessions.js';
import { told } from './told.js';

const page = 5000; // events asked for at once
const kept = 20000; // events that can be scrubbed
const rows = 200; // events in the list, around the one chosen

/** timeline lists a session's events and lets the person go back and forth in them. */
export async function timeline(at, signal, id) {
  const parts = {
    list: h('ol', { class: 'log', 'aria-label': 'Events, newest first' }), range: h('input', { type: 'range', min: 1, value: 1, 'aria-label': 'Moment of the session' }),
    then: h('p', { class: 'wrap' }), stood: h('div', { class: 'row' }), detail: h('pre', { class: 'plain mono small' }), count: h('p', { class: 'soft small' }),
  };
  // events[from] to events[to - 1] stand in the list; gone went before events[0].
  const held = { events: [], gone: 0, from: 0, to: 0, chosen: 0, follows: true };
  const standing = moments(signal, id, parts.stood);
  const row = (i) => parts.list.children[held.to - 1 - i];
  const choose = (i) => {
    const e = held.events[i];
    if (!e) return;
    row(held.chosen)?.classList.remove('now');
    held.chosen = i;
    if (i < held.from || i >= held.to) draw();
    row(i).classList.add('now');
    const n = held.gone + i + 1;
    parts.range.value = i + 1;
    parts.range.setAttribute('aria-valuetext', `event ${n} of ${held.gone + held.events.length}, ${e.type}`);
    fill(parts.then, `${n} of ${held.gone + held.events.length} · ${new Date(e.time).toLocaleString()} · `, chip(e.type));
    parts.detail.textContent = JSON.stringify(e.data, null, 2);
    // How it stands now is told above; the daemon folds the log for moments before.
    standing(held.follows ? null : e, n);
  };
  const pick = (i) => { held.follows = i === held.events.length - 1; choose(i); };
  const item = (e) => h('li', {}, h('span', { class: 'soft' }, clock(e.time)), h('span', {}, chip(e.type)),
    h('button', { class: 'told', type: 'button', onclick: () => pick(held.events.indexOf(e)) }, coded(told(e))));
  const draw = () => {
    held.to = Math.min(held.events.length, held.chosen + rows / 2);
    held.from = Math.max(0, held.to - rows);
    held.to = Math.min(held.events.length, held.from + rows);
    fill(parts.list, held.events.slice(held.from, held.to).reverse().map(item));
  };
  const add = (events) => {
    const last = held.to === held.events.length;
    held.events.push(...events);
    const over = Math.max(0, held.events.length - kept);
    held.events.splice(0, over);
    held.gone += over;
    held.from -= over;
    held.to -= over;
    held.chosen = Math.max(0, held.chosen - over);
    parts.range.max = held.events.length;
    if (held.from < 0 || events.length > rows) {
      held.chosen = held.follows ? held.events.length - 1 : held.chosen;
      draw();
    } else if (last && held.follows) {
      parts.list.prepend(...events.map(item).reverse());
      held.to = held.events.length;
      while (parts.list.children.length > rows) { parts.list.lastChild.remove(); held.from += 1; }
    }
    choose(held.follows ? held.events.length - 1 : held.chosen);
    fill(parts.count, counted(held));
  };
  parts.range.addEventListener('input', () => pick(Number(parts.range.value) - 1));
  fill(at, card('Timeline', parts.range, parts.then, parts.stood, h('details', {}, h('summary', {}, 'The event as recorded'), parts.detail), parts.count, parts.list));
  const early = [];
  let loaded = false;
  const addNew = (events) => {
    const fresh = events.filter((e) => after(e, held.events.at(-1)));
    if (fresh.length) add(fresh);
  };
  onEvents(signal, (events) => {
    const own = events.filter((e) => e.aggregate.id === id);
    loaded ? addNew(own) : early.push(...own);
  });
  try {
    await following;
    let next = 0;
    for (;;) {
      const stretch = await get('log', { session: id, after: next, limit: page });
      if (signal.aborted) return;
      if (stretch.events.length) add(stretch.events);
      if (stretch.end || stretch.next === next) break;
      next = stretch.next;
    }
    addNew(early);
    loaded = true;
  } catch (error) {
    say(error.message);
  }
}

function counted(held) {
  const n = (x) => x.toLocaleString();
  const parts = [];
  if (held.events.length > rows) parts.push(`The list holds ${n(Math.min(rows, held.events.length))} of ${n(held.gone + held.events.length)} events, around the one chosen.`);
  if (held.gone) parts.push(`The first ${n(held.gone)} can be seen with writ session replay.`);
  return parts.join(' ');
}

/** moments asks how the session stood at an event: the daemon folds the log to there with what decides. */
function moments(signal, id, at) {
  let wanted = null;
  let timer = 0;
  signal.addEventListener('abort', () => clearTimeout(timer));
  const ask = async () => {
    const { e, n } = wanted;
    if (!e) { timer = 0; return; }
    const view = await get('session', { id, at: e.position.seq }).catch(() => null);
    timer = 0;
    if (signal.aborted) return;
    if (view && wanted.e) {
      fill(at, h('span', { class: 'soft' }, `After event ${n} it stood:`), place(view), view.gates.filter((g) => g.state !== 'none').map((g) => chip(`${g.gate} ${g.state}`, g.state === 'approved' ? 'good' : 'bad')),
        h('span', { class: 'soft small' }, `${view.refusals || 0} refused, ${(view.written || []).length} files written, ${(view.shown || []).length} rules shown`));
    }
    if (wanted.e && wanted.e !== e) timer = setTimeout(ask, 300);
  };
  return (e, n) => {
    wanted = { e, n };
    if (!e) fill(at);
    else if (!timer) timer = setTimeout(ask, 120);
  };
}
