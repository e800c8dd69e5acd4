// Package daemon is the composition root: the one place where bus,
// projections, retrieval, enforcement and the host adapters meet.
//
// It guarantees one daemon per data directory, that an answer leaves only
// after the fact behind it was acknowledged by the log, that decisions of one
// session are taken one after another, and that a stop – asked for or not –
// loses nothing that was acknowledged.
//
// It holds no policy: what may be written is enforcement's, what matters for a
// prompt is retrieval's, what a host understands is enforcement/host's.
package daemon
