// Package cli is the client: command lines in, requests to the daemon, replies
// as tables or JSON out. Its packages hold the commands, grouped by what they
// are about, over what package client shares: streams, tables, JSON, colour and errors.
// Package markdown shows the help topics on a terminal.
//
// Guarantees: a hook never hangs (two seconds), never prints a stack trace,
// and refuses a write it could not have judged; `--json` prints one object, or
// one object per line, with stable names; exit codes are 0 for success, 1 for
// refused, not found or failed, 2 for a command line that cannot be understood
// and, in hooks, for a refusal.
//
// It decides nothing: policy, retrieval and the log live in the daemon, and
// their packages are not linked here, since a hook's cost is mostly the start
// of its process.
package cli
