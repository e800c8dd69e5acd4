import { h, say } from './dom.js';
import { get, refreshing } from './net.js';

const wanted = () => 'Notification' in window && Notification.permission === 'granted' && localStorage.getItem('notify') === 'yes';

/** notifying tells whether the person wants to hear what waits, also of a page out of sight. */
export function notifying() {
  try { return wanted(); } catch { return false; /* storage is off */ }
}

/** bell is the button that turns notifications of this browser on and off. */
export function bell() {
  if (!('Notification' in window)) return null;
  const button = h('button', { type: 'button' });
  const show = () => {
    button.textContent = notifying() ? 'Notifies you' : 'Notify me';
    button.setAttribute('aria-pressed', String(notifying()));
    button.title = notifying() ? 'A desktop notification comes when a plan or tests wait for you. Click to end that.' : 'Get a desktop notification when a plan or tests wait for you, while a page of the dashboard is open.';
  };
  button.addEventListener('click', async () => {
    if (notifying()) {
      localStorage.removeItem('notify');
    } else if (await Notification.requestPermission() === 'granted') {
      localStorage.setItem('notify', 'yes');
    } else {
      say('The browser does not let this page notify you. Its settings for this site have the switch.');
    }
    show();
    dispatchEvent(new Event('notify'));
  });
  show();
  return button;
}

/** watchWaits tells of each plan and each file of tests that begins to wait, once. */
export function watchWaits() {
  let known = null; // what waited when it was asked last
  let stop = null;
  const watch = () => {
    stop?.abort();
    stop = null;
    known = null;
    if (!notifying()) return;
    stop = new AbortController();
    const { signal } = stop;
    refreshing(signal, (e) => e.position.stream === 'WRIT_SESSIONS', async () => {
      const { items } = await get('waits');
      if (signal.aborted) return;
      const now = new Map(items.map((one) => [`${one.session} ${one.gate} ${one.fingerprint}`, one]));
      for (const [key, one] of now) if (known && !known.has(key)) tell(key, one);
      known = now;
    });
  };
  addEventListener('notify', watch);
  watch();
}

function tell(key, one) {
  const note = new Notification(`The ${one.gate} ${one.gate === 'tests' ? 'wait' : 'waits'} for you`, { body: [one.wish || one.session, one.project, one.plan].filter(Boolean).join('\n').replaceAll('`', ''), tag: key });
  note.addEventListener('click', () => {
    window.focus();
    location.hash = `#/session/${encodeURIComponent(one.session)}`;
    note.close();
  });
}
