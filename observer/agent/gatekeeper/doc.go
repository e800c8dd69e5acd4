// Package gatekeeper decides what agents of the command language may write and
// run, as the gates decide for the tools of any other host.
//
// It guarantees that an act in a guarded project is decided and recorded as a
// hook's report of it would be, in a session of its own under the id of the run,
// and that a command runs under the runner that confines it; where there is none,
// what nobody can judge takes a person's word.
//
// It holds no policy and runs nothing: enforcement decides, and the handlers of
// verbs do what was allowed. The write gate of memory is another: package
// observation.
package gatekeeper
