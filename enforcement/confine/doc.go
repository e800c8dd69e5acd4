// Package confine lets the kernel hold a command to what a phase allows, for
// the commands that no parser can judge, and finds afterwards what changed.
//
// Run starts a command under Landlock: it may write the places of its Profile
// and nothing else, it cannot read Writ's own data, and it gains no
// privileges. What Landlock cannot express, a protected path inside a folder
// that may be written, is kept by Guard: remembered before the command and
// restored after it. Package worktree is the after-check: what a command changed,
// whatever program it was.
//
// Guarantees:
//   - the calling process stays unconfined, and the command cannot reach into it;
//   - whatever the command starts inherits its limits, for good, also what
//     outlives it; with Options.Whole nothing does;
//   - the command's streams, process group, signals and exit status are those
//     it would have without confinement;
//   - without Landlock nothing runs, unless the caller asks for best effort;
//   - restoring never follows a link out of the guarded folder.
//
// It is in front of every command that nobody can judge, so it has to begin at
// once. Packages are initialised in the order of their paths, each as soon as
// what it imports is; with nothing imported here that is initialised late – fmt,
// strings, path/filepath, golang.org/x/sys – a program can run this before its
// own libraries are (see cmd/writ/early, whose test holds the list).
//
// It decides nothing: which profile a session gets is said by package runner. It does not
// limit the network, and a helper outside that takes orders over a socket
// writes with its own rights: DESIGN.md lists what is not stopped.
package confine
