// Package settings says what an installation of Writ for a coding agent consists
// of, puts its hooks into the agent's JSON settings and takes them out again, by
// editing the text.
//
// Guarantees: whatever is not Writ's keeps its bytes, its order and its place;
// merging twice changes nothing the second time; what Merge added, Remove
// takes out again.
//
// It works on bytes; what a host's hooks look like is a Host's, and which files
// they are from, and whether writing them is safe, is the caller's.
package settings
