// Package enforcement decides what an agent may do, and remembers why.
//
// A session is folded from its events by Evolve; Decide answers a command on
// the folded State with a verdict and the events to record. Nothing else holds
// policy: adapters translate hosts into commands, the daemon reads files and
// appends events.
//
// Guarantees:
//   - both functions are pure: no clock, file system, randomness or goroutine,
//     and equal input gives equal output;
//   - Evolve never fails and ignores what it does not know; the State it gives
//     encodes to the same JSON whether folded live or from the log;
//   - a refusal is a Decision, and the zero Decision denies;
//   - in work mode no code write is allowed without two live approvals by a
//     user, workers of an orchestrator apart; one act of a user approves once;
//   - a gate that was invalidated, or whose files were changed from outside,
//     refuses until it is approved again or its files are restored.
//
// In state.go is what a session is, in evolve.go what events make of it. Commands
// are decided on in tool.go (with judge.go: may this be written, and did an
// approved file drift), shellcommand.go, mode.go and phase.go, prompt.go and
// wish.go, approve.go (with assurance.go: how sure is it that a person consented),
// decline.go, endturn.go (with claim.go and evidence.go: what is said to be done,
// and what ran), aftercheck.go and content.go (what a command or a change left
// behind), compact.go, role.go and lifecycle.go. What agents and people read is
// written in text.go.
//
// It does not read files, run commands, confine processes or speak any host's
// protocol, and it does not see what a command that it cannot judge does while
// it runs: that is for confinement and for the comparison afterwards.
package enforcement
