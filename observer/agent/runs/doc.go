// Package runs keeps the agents at work: it starts them for people and for
// schedules, lets them be watched, answered and stopped, hands verbs to their
// handlers, and serves those to other daemons.
//
// It guarantees that a request that comes twice starts one run, that what breaks
// in a run ends that run alone, that what is kept of a run for whoever watches is
// bounded, and that each run that ends with its daemon is recorded as stopped, at
// the latest when the daemon starts again.
//
// How an agent works is package agent's, and what its verbs may do the gates'.
package runs
