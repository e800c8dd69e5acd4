// Package install puts Writ into a project's files and takes it out again.
//
// Guarantees: nothing is written when anything stands in the way, and no file
// is ever half-written; a second installation changes nothing; after removal
// every file that nobody touched since has the bytes it had before, and in
// every other only Writ's own entries are gone.
//
// It does not know what the hooks do, and starts nothing.
package install
