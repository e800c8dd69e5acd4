import { ago, card, chip, fill, h, say, short, table } from './dom.js';
import { act, get } from './net.js';

const decoded = (text) => Uint8Array.from(atob(text.replace(/-/g, '+').replace(/_/g, '/')), (c) => c.charCodeAt(0));
const encoded = (buffer) => btoa(Array.from(new Uint8Array(buffer), (b) => String.fromCharCode(b)).join(''));
const known = (ids) => ids.map((id) => ({ type: 'public-key', id: decoded(id) }));

const patience = 120e3; // ms that the authenticator waits for the person

/** able is why this browser has no passkeys here, '' where it has. */
export const able = () => (window.PublicKeyCredential ? '' : 'This browser knows no passkeys here. Open the dashboard under http://localhost in a current one.');

/** signed asks a passkey for a signature over exactly what is shown. */
export async function signed(shown) {
  const c = await act('challenge', shown);
  const made = await navigator.credentials.get({ publicKey: {
    challenge: decoded(c.challenge), rpId: c.rp_id, userVerification: 'required', timeout: patience, allowCredentials: known(c.credentials),
  } });
  const r = made.response;
  return { nonce: c.nonce, credential_id: made.id, client_data: encoded(r.clientDataJSON), authenticator_data: encoded(r.authenticatorData), signature: encoded(r.signature) };
}

async function made(code) {
  const { challenge: c } = await act('enrol', { enrol: { code } });
  const one = await navigator.credentials.create({ publicKey: {
    challenge: decoded(c.challenge), rp: { id: c.rp_id, name: 'Writ' },
    user: { id: decoded(c.nonce), name: c.name, displayName: `Writ approvals: ${c.name}` },
    pubKeyCredParams: [-7, -8, -257].map((alg) => ({ type: 'public-key', alg })), attestation: 'none', timeout: patience,
    authenticatorSelection: { userVerification: 'required', residentKey: 'preferred' }, excludeCredentials: known(c.credentials),
  } });
  const r = one.response;
  const reply = await act('enrol', { enrol: { code, made: { nonce: c.nonce, client_data: encoded(r.clientDataJSON), authenticator_data: encoded(r.getAuthenticatorData()) } } });
  return reply.passkey;
}

/** enrolment is the page that a link of writ approve passkey add opens. */
export function enrolment(main, signal, code) {
  const state = h('p', { role: 'status' });
  const button = h('button', { class: 'yes', type: 'button', disabled: !!able(), onclick: async () => {
    button.disabled = true;
    try {
      const p = await made(code);
      if (signal.aborted) return;
      fill(main, h('h1', {}, 'Enrol a passkey'), card('', h('p', {}, chip('enrolled', 'good'), ` The passkey ${p.name} approves from now on.`),
        h('p', {}, h('a', { href: '#/' }, 'See what waits'))));
    } catch (error) {
      state.textContent = `Not enrolled: ${error.message}`;
      button.disabled = false;
    }
  } }, 'Enrol a passkey');
  fill(main, h('h1', {}, 'Enrol a passkey'), card('',
    h('p', {}, 'With a passkey you sign exactly what you approve: a finger, a face, a PIN or a key that you touch. The signature is kept in the log and can be checked later from the public key alone.'),
    h('p', { class: 'soft small' }, 'A terminal of yours gave out this link. It enrols one passkey, within five minutes.'),
    able() && h('p', {}, able()), h('div', { class: 'row' }, button), state));
}

/** passkeys lists what is enrolled. */
export async function passkeys() {
  const all = (await get('passkeys')).passkeys;
  return card('Passkeys', table('Passkeys', [
    { head: 'Name', cell: (p) => p.name },
    { head: 'Credential', cell: (p) => h('span', { class: 'mono' }, short(p.credential_id, 16)) },
    { head: 'Enrolled', cell: (p) => ago(p.enrolled) },
    { head: 'Approvals', number: true, cell: (p) => p.uses },
    { head: 'Last', cell: (p) => (p.used ? ago(p.used) : 'never') },
    { head: 'Counter', cell: (p) => (p.counter_fell ? chip(`fell ${p.counter_fell} times: it may have been copied`, 'bad') : '') },
  ], all, ['None is enrolled. ', h('code', {}, 'writ approve passkey add'), ', in a terminal of your own, enrols one.']));
}

/** acceptance shows what a project's settings ask for beyond what was accepted, and takes the person's yes. */
export function acceptance(settings) {
  if (!(settings.waits || []).length) return null;
  const button = h('button', { class: 'yes', type: 'button', onclick: async () => {
    button.disabled = true;
    try {
      await act('accept', { project: settings.project, digest: settings.digest });
      say('Accepted.');
    } catch (error) {
      say(error.message);
      button.disabled = false;
    }
  } }, 'Accept these settings');
  return h('section', { class: 'card call', 'aria-label': 'Settings wait' }, h('h2', {}, 'Settings wait for you'),
    h('p', {}, `.writ/config.yaml in ${settings.project} asks less of agents than what you accepted, which goes on ruling:`),
    h('ul', { class: 'mono' }, settings.waits.map((w) => h('li', {}, w))), h('div', { class: 'row' }, button));
}
