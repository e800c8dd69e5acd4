// Package agent runs agents: it asks a model, scans what it says as it
// arrives, runs the commands that the agent may run, and feeds the results back
// until there is an answer.
//
// The order of a command is fixed: capability and delegation, budget, taint,
// earlier results, the record of the dispatch, the handler, the record of the
// result, the frame. A denial is a result and an event, and nothing else
// happens.
//
// Guaranteed:
//
//   - What is hidden from whoever watches was consumed as a command, and the
//     other way round. TestHiddenIsConsumed.
//   - No result, whatever it says, ends a frame, starts a command or grants a
//     capability. FuzzForgedResults.
//   - Nothing is dropped silently: every command of a response has a result or
//     is named with the reason why it has none. TestEveryCommandIsAccountedFor.
//   - Nothing of a response that is not whole is run. TestACutResponseRunsNothing.
//   - What a run holds in memory is bounded, whatever the model and the handlers
//     send. daemon.BenchmarkAgentsInParallel measures it.
//
// It knows no bus, no files but constitutions, and no model's protocol: the
// daemon hands those in.
package agent
