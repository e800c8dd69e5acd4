import { short } from './dom.js';

const most = 240;

/** by names a channel of approvals for people, as schemas.ChannelText does. */
export const by = (channel) => (channel === 'prompt_unsourced' ? 'prompt (the host does not say who typed it)' : channel);

/** told says in a line what an event means. */
export function told(e) {
  const d = e.data || {};
  const line = {
    'session.started': () => `${d.host || 'an agent'} ${d.source || 'began'} in ${d.dir || d.project}`,
    'session.ended': () => d.reason || 'ended',
    'prompt.submitted': () => d.prompt,
    'rules.shown': () => `${(d.rules || []).map((r) => r.id).join(', ')} (${d.tokens} tokens)`,
    'tool.decided': () => `${d.verdict}: ${d.tool} ${d.command || (d.targets || []).map((t) => t.rel || t.path).join(', ')}${d.reason ? ` – ${d.reason}` : ''}`,
    'tool.finished': () => `${d.tool}${d.failed ? ' failed' : ''} ${(d.files || []).map((f) => f.path).join(', ')}`,
    'mode.changed': () => `${d.from || 'none'} → ${d.to}`,
    'phase.changed': () => `${d.from || ''} → ${d.to} ${d.reason || ''}`,
    'gate.approved': () => `${d.gate} approved by ${by(d.channel)}${by(d.channel).startsWith(d.assurance) ? '' : ` (${d.assurance})`}, now ${d.next_phase || 'as before'}`,
    'passkey.enrolled': () => `the passkey ${d.name} was enrolled`,
    'passkey.removed': () => 'a passkey was removed',
    'passkey.used': () => `the ${d.gate} of ${d.session} signed${d.counter_was ? ', with a counter that fell' : ''}`,
    'gate.declined': () => `${d.gate} declined: ${d.reason}`,
    'gate.drifted': () => `${d.gate} changed from outside: ${(d.changes || []).map((c) => c.path).join(', ')}`,
    'gate.invalidated': () => `${d.gate} taken back: ${d.reason}`,
    'gates.closed': () => `all gates closed: ${d.reason}`,
    'plan.extended': () => `${(d.files || []).join(', ')} added to the plan by ${by(d.channel)}`,
    'tool.accepted': () => `${d.tool} let run for this session by ${by(d.channel)}`,
    'plan.reopened': () => 'a new wish: planning is open again',
    'plan.resumed': () => `back to the approved plan by ${by(d.channel)}`,
    'approval.refused': () => `${d.gate || ''} not approved (${by(d.channel)}): ${d.reason}`,
    'rule.violated': () => (d.violations || []).map((v) => `${v.rule} at ${v.path}:${v.line}`).join(', '),
    'write.unapproved': () => `${(d.changes || []).map((c) => c.path).join(', ')} written without approval`,
    'hook.observed': () => d.hook,
  }[e.type];
  const text = line ? line() : JSON.stringify(d);
  return short(String(text ?? ''), most);
}
