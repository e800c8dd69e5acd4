import { ago, chip, fill, h, last, plural, say } from './dom.js';
import { act } from './net.js';

/**
 * judging takes what a person says of something: a reason, and a button for each
 * verdict { text, kind, what, body, why }. why says that it needs a reason.
 */
export function judging(name, verdicts) {
  const reason = h('input', { type: 'text', placeholder: 'Why?', 'aria-label': `Why, of ${name}` });
  const buttons = verdicts.map((v) => h('button', { type: 'button', class: v.kind, 'aria-description': name, onclick: () => judge(v) }, v.text));
  const judge = async (v) => {
    const why = reason.value.trim();
    if (v.why && !why) {
      say(`Say why first: ${v.text.toLowerCase()} is kept with its reason.`);
      reason.focus();
      return;
    }
    buttons.forEach((b) => { b.disabled = true; });
    try {
      const reply = await act(v.what, { ...v.body, reason: why });
      [reply.message, ...(reply.problems || []), ...(reply.rule?.reasons || [])].filter(Boolean).forEach(say);
    } catch (error) {
      say(error.message);
    }
    buttons.forEach((b) => { b.disabled = false; });
  };
  return h('div', { class: 'row' }, reason, buttons);
}

/**
 * kept fills an element with an entry for each item, and leaves an entry alone, with
 * what is typed into it, while its item is the same.
 */
export function kept(at, items, entry, empty) {
  const before = new Map([...at.children].map((child) => [child.dataset.item, child]));
  const now = items.map((item) => {
    const key = JSON.stringify(item);
    const made = before.get(key) || entry(item);
    made.dataset.item = key;
    return made;
  });
  if (now.length > 0 && now.length === at.children.length && now.every((x, i) => x === at.children[i])) return;
  fill(at, now.length ? now : h('p', { class: 'soft' }, empty));
}

/** ruleInQuestion shows a rule that an agent proposed, or that outcomes speak against. */
export function ruleInQuestion(item, link) {
  const r = item.rule;
  const row = (name, text) => text && [h('dt', {}, name), h('dd', {}, text)];
  const body = { id: r.id, seen: item.revision };
  const flagged = item.why === 'flagged';
  return h('section', { class: 'card call', 'aria-label': `${r.id} waits for your judgement` },
    h('h2', {}, h('a', { href: link(r.id), class: 'mono' }, r.id), ` ${r.title || ''}`),
    h('p', { class: 'small soft' }, chip(flagged ? 'outcomes speak against it' : 'proposed', 'warn'), chip(r.severity || 'no severity', { critical: 'bad', high: 'warn' }[r.severity]),
      [r.domain, item.by && `by ${item.by}`, ago(item.since)].filter(Boolean).join(' · ')),
    h('dl', {}, row('When', r.trigger), row('Do', r.statement), row('Why', r.rationale),
      flagged && row('Outcomes', `${item.positive || 0} of ${(item.positive || 0) + (item.negative || 0)} followed it`),
      (item.near || []).map((near, i) => [h('dt', {}, 'Near'), h('dd', {}, h('a', { href: link(near.id) }, near.id), ` (${item.neighbours[i].similarity.toFixed(2)}) ${near.statement || ''}`)])),
    (item.incomplete || []).length > 0 && h('p', {}, chip('lacks', 'warn'), item.incomplete.join(', ')),
    judging(r.id, [
      !flagged && { text: 'Promote', kind: 'yes', what: 'rule', body: { ...body, act: 'promote' } },
      !flagged && { text: 'Reject', kind: 'no', why: true, what: 'rule', body: { ...body, act: 'reject' } },
      { text: 'Trust it less', why: true, what: 'rule', body: { ...body, act: 'downweight' } },
    ].filter(Boolean)));
}

/** observation shows one observation, as it is remembered, with what a person may make of it. */
export function observation(x) {
  const id = { id: x.observation_id, scope: x.scope };
  const verdict = (x.regated || []).at(-1)?.write_verdict || x.write_verdict;
  const others = [['allow', 'Allow', 'yes'], ['hold', 'Hold', ''], ['discard', 'Discard', '']].filter(([v]) => v !== verdict);
  return h('section', { class: 'entry', 'aria-label': `Observation ${x.observation_id}` },
    h('p', { class: 'wrap' }, x.lost ? 'Its key is missing: nobody can read it.' : x.text),
    h('p', { class: 'small soft' }, chip(verdict, { allow: 'good', discard: 'bad' }[verdict] || 'warn'), x.category && chip(x.category),
      [x.scope === 'global' ? 'every project' : last(x.scope), x.write_reason, x.source, ago(x.time)].filter(Boolean).join(' · ')),
    h('details', {}, h('summary', {}, 'Judge it'), judging(`observation ${x.observation_id}`, [
      ...others.map(([write_verdict, text, kind]) => ({ text, kind, why: true, what: 'regate', body: { ...id, write_verdict } })),
      { text: 'Forget', kind: 'no', why: true, what: 'forget', body: id },
    ])));
}

/** proposal shows what reflection made of observations. */
export function proposal(x) {
  const body = { proposal_id: x.proposal_id };
  return h('section', { class: 'entry', 'aria-label': `Proposal ${x.proposal_id}` },
    h('p', { class: 'wrap' }, x.text),
    x.rule && h('details', {}, h('summary', {}, 'The rule as it would be proposed'), h('pre', { class: 'plain mono small' }, x.rule)),
    h('p', { class: 'small soft' }, chip(x.kind), [x.scope === 'global' ? 'every project' : last(x.scope), `from ${plural((x.observations || []).length, 'observation')}`, ago(x.time)].join(' · ')),
    judging(`proposal ${x.proposal_id}`, [
      { text: 'Accept', kind: 'yes', what: 'triage', body: { ...body, decision: 'accepted' } },
      { text: 'Reject', kind: 'no', what: 'triage', body: { ...body, decision: 'rejected' } },
    ]));
}
