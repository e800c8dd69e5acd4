// Package rule is the life of a rule: [Evolve] folds its events into a [State],
// and [Decide] answers a [Command] on that state with what is to be recorded.
// Both are pure; the same state and the same command give the same decision.
//
// What holds of every state:
//
//  1. Revisions counts the events that changed the rule, and Last is the position
//     of the latest of them. An outcome is no change.
//  2. Rule.ID is the id of the aggregate, whatever a payload claims.
//  3. A rule that has a Status keeps one: nothing that was in the log is undone,
//     and a retired rule comes back with its history.
//  4. A proposal (authority "ai-provisional") is shown to no agent, takes no rule's
//     place, and overwrites nothing that a person wrote or promoted.
//
// What holds of every state that decisions led to, besides:
//
//  5. Only a proposal is refused or rejected, and a proposal has the lowest
//     confidence, however often it is edited. Only a promotion raises it.
//  6. Reasons are those of a rule that is not in force; one in force has none.
//  7. What a refusal answers changes nothing: a decision records one event or
//     none, and a refusal records none.
//  8. What releases brought is beside the rest of the state and changed by releases
//     alone, by name: an act or an import of this machine leaves it, and a release
//     leaves what this machine has.
//
// It does not look at the corpus: whether a mandatory rule fits the band, which
// edges lead where, and what a proposal resembles come in with the command, as
// the service read them.
package rule
