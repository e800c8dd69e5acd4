import { say } from './dom.js';

// What this page shows with whatever it asks: handed to the one that a link opened, and
// kept for its tab. A cookie alone goes to every port of this machine.
const handed = document.querySelector('meta[name=key]').content;
if (handed) sessionStorage.setItem('key', handed);
const key = handed || sessionStorage.getItem('key') || '';

const unreachable = () => { throw new Error('Writ cannot be reached. Run `writ dash` in a terminal: it starts the daemon and opens a new page.'); };

async function answered(response) {
  if (response.status === 401) {
    throw new Error('This tab is not let in, or no longer. Run `writ dash` in a terminal.');
  }
  const body = await response.json().catch(() => ({}));
  if (!response.ok) throw new Error(body.error || `The daemon answered ${response.status}.`);
  return body;
}

/** get asks to see something; parameters that are empty are left out. */
export async function get(what, parameters = {}) {
  const query = new URLSearchParams(Object.entries(parameters).filter(([, v]) => v !== undefined && v !== ''));
  return answered(await fetch(`api/${what}?${query}`, { headers: { 'Writ-Key': key } }).catch(unreachable));
}

/** act does something in the person's name. */
export async function act(what, body) {
  const id = crypto.randomUUID();
  return answered(await fetch(`api/${what}`, {
    method: 'POST', headers: { 'Content-Type': 'application/json', 'Writ-Key': key }, body: JSON.stringify({ ...body, act_id: id }),
  }).catch(unreachable));
}

const listeners = new Set();
const recent = new Set();
let queue = [];
let awaited = false; // a frame that will hand the queue over

/** onEvents calls fn with the events of the log that came since it was called last, at most once a frame, until signal. */
export function onEvents(signal, fn) {
  listeners.add(fn);
  signal.addEventListener('abort', () => listeners.delete(fn));
}

/**
 * after tells whether an event stands behind another, or none, if both are of one
 * stream. What was read from the log is told once more a little later.
 */
export function after(e, other) {
  if (!other || e.position.stream !== other.position.stream) return true;
  const part = (at) => at.position.part || 0;
  return e.position.seq > other.position.seq || (e.position.seq === other.position.seq && part(e) > part(other));
}

function take(e) {
  const key = `${e.position.stream}:${e.position.seq}:${e.position.part || 0}`;
  if (recent.has(key)) return; // a reconnection sends the last message once more
  recent.add(key);
  if (recent.size > 500) recent.delete(recent.values().next().value);
  queue.push(e);
  if (awaited) return;
  awaited = true;
  const late = setTimeout(handOver, 250); // a window that is covered draws no frames
  requestAnimationFrame(() => { clearTimeout(late); handOver(); });
}

function handOver() {
  if (!awaited) return;
  awaited = false;
  const events = queue;
  queue = [];
  listeners.forEach((fn) => fn(events));
}

const quick = 150; // ms from an event to what it changes, where nothing was asked shortly before
const pause = 400; // ms between two answers at least, and as long again as they take

const greeted = new Set(); // called when the log is followed, and no event will be missed

/** following resolves once every later event will be told. What is asked for then misses none. */
export const following = new Promise((resolve) => { greeted.add(resolve); });

/** refreshing calls load now, and again soon after events that matter, however many come. */
export function refreshing(signal, matters, load) {
  let timer = 0;
  let running = false;
  let again = false;
  let rest = 0; // until then nothing is asked
  const run = async () => {
    timer = 0;
    running = true;
    const began = performance.now();
    try {
      await load();
    } catch (error) {
      const loading = document.getElementById('loading');
      if (!signal.aborted && loading) loading.textContent = error.message; // the page has nothing else to show
      else if (!signal.aborted) say(error.message);
    }
    const ended = performance.now();
    rest = ended + Math.max(pause, 2 * (ended - began));
    running = false;
    if (again) { again = false; soon(); }
  };
  const soon = () => {
    if (signal.aborted || timer) return;
    if (running) { again = true; return; }
    timer = setTimeout(run, Math.max(quick, rest - performance.now()));
  };
  onEvents(signal, (events) => { if (events.some(matters)) soon(); });
  greeted.add(soon); // what happened before the log was followed may be missing
  signal.addEventListener('abort', () => { clearTimeout(timer); greeted.delete(soon); });
  return run();
}

const patience = 20e3; // ms that a page out of sight goes on following

/**
 * connect follows the log and says so in pulse. The browser reconnects by itself
 * and says where it was. A page that nobody sees gives its connection back, since
 * a browser has six of them for a host; it goes on where it was when it is looked
 * at again. anew is called where too much has passed to be told one by one.
 */
export function connect(pulse, anew) {
  const show = (state, text) => { pulse.className = `pulse ${state}`; if (pulse.textContent !== text) pulse.textContent = text; };
  let source = null;
  let at = '';
  let leaving = 0;
  const open = () => {
    source = new EventSource(`api/live?key=${key}${at ? `&from=${encodeURIComponent(at)}` : ''}`);
    source.addEventListener('hello', (message) => {
      at = message.lastEventId;
      show('live', 'live');
      greeted.forEach((fn) => fn());
      if (JSON.parse(message.data).skipped) anew();
    });
    source.addEventListener('behind', (message) => {
      const n = Number(message.data);
      show('live', n > 500 ? `live, ${n.toLocaleString()} events behind` : 'live');
    });
    source.addEventListener('error', () => {
      show('lost', source.readyState === EventSource.CLOSED ? 'closed: run `writ dash` again' : 'connection lost');
    });
    source.addEventListener('message', (message) => {
      at = message.lastEventId;
      take(JSON.parse(message.data));
    });
  };
  document.addEventListener('visibilitychange', () => {
    clearTimeout(leaving);
    if (document.hidden) {
      leaving = setTimeout(() => { if (awake()) return; source.close(); source = null; show('', 'resting'); }, patience);
    } else if (!source) {
      open();
    }
  });
  open();
}
