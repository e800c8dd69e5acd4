// Package claude knows what Writ puts into Claude Code's settings and
// commands.
//
// It works on bytes; which files they are from, and whether writing them is
// safe, is the caller's.
package claude
