// Package claude knows what Writ puts into Claude Code's settings and
// commands, and edits the settings' text.
//
// Guarantees: whatever is not Writ's keeps its bytes, its order and its place;
// merging twice changes nothing the second time; what Merge added, Remove
// takes out again.
//
// It works on bytes; which files they are from, and whether writing them is
// safe, is the caller's.
package claude
