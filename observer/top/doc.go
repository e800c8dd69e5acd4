// Package top is the live view of a daemon in a terminal: sessions, decisions,
// lag and latency, for a person who watches.
//
// It guarantees: it only reads, in the role that may do nothing else; text of
// the log cannot move the cursor or change colours; and a frame never is wider
// or higher than the terminal.
//
// It does not: keep a history beyond what fits (writ log does), or start a
// daemon.
package top
