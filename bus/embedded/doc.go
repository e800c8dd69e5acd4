// Package embedded runs the nats-server that holds the log of a single
// machine: JetStream on disk, listening on loopback, with a user for each
// role.
//
// It guarantees that a folder is used by one server at a time, that nothing
// listens beyond this machine without TLS, and that a store which lost what it
// once acknowledged is noticed at the next start: a stream that cannot be read
// stops the start, a shorter one is among the server's findings.
//
// It does not create streams (bus.EnsureStreams does), limit the process's
// memory, or run a cluster: an existing cluster is used through bus alone.
package embedded
