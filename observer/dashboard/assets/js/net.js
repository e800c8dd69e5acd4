import { say } from './dom.js';

async function answered(response) {
  if (response.status === 401) {
    throw new Error('This browser is no longer let in. Run `writ dash` in a terminal.');
  }
  const body = await response.json().catch(() => ({}));
  if (!response.ok) throw new Error(body.error || `The daemon answered ${response.status}.`);
  return body;
}

/** get asks to see something; parameters that are empty are left out. */
export async function get(what, parameters = {}) {
  const query = new URLSearchParams(Object.entries(parameters).filter(([, v]) => v !== undefined && v !== ''));
  return answered(await fetch(`api/${what}?${query}`));
}

/** act does something in the person's name. */
export async function act(what, body) {
  const id = crypto.randomUUID();
  return answered(await fetch(`api/${what}`, {
    method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ ...body, act_id: id }),
  }));
}

const listeners = new Set();
const recent = new Set();

/** onEvent calls fn with every event of the log that comes, until signal. */
export function onEvent(signal, fn) {
  listeners.add(fn);
  signal.addEventListener('abort', () => listeners.delete(fn));
}

/** refreshing calls load now, and again soon after events that matter. */
export function refreshing(signal, matters, load) {
  let timer = 0;
  let running = false;
  let again = false;
  const run = async () => {
    if (running) { again = true; return; }
    running = true;
    try {
      await load();
    } catch (error) {
      if (!signal.aborted) say(error.message);
    }
    running = false;
    if (again && !signal.aborted) { again = false; soon(); }
  };
  const soon = () => { clearTimeout(timer); timer = setTimeout(run, 150); };
  onEvent(signal, (e) => { if (matters(e)) soon(); });
  signal.addEventListener('abort', () => clearTimeout(timer));
  return run();
}

/** connect follows the log. The browser reconnects by itself and says where it was. */
export function connect(pulse) {
  const source = new EventSource('api/live');
  const show = (state, text) => { pulse.className = `pulse ${state}`; pulse.textContent = text; };
  source.addEventListener('hello', () => show('live', 'live'));
  source.addEventListener('error', () => show('lost', 'connection lost'));
  source.addEventListener('message', (message) => {
    const e = JSON.parse(message.data);
    const key = `${e.position.stream}:${e.position.seq}:${e.position.part || 0}`;
    if (recent.has(key)) return; // a reconnection sends the last message once more
    recent.add(key);
    if (recent.size > 500) recent.delete(recent.values().next().value);
    pulse.classList.toggle('beat');
    listeners.forEach((fn) => fn(e));
  });
}
