// Package claude reads the hook payloads of Claude Code and writes answers in its
// form, and knows what Writ puts into its settings and commands.
//
// It works on bytes; which files they are from, and whether writing them is
// safe, is the caller's.
package claude
