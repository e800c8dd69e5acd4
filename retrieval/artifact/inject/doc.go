// Package inject renders what an agent should read for a task: the pieces of a
// project's files that were found, whole, within a budget of tokens.
//
// Guarantees: a text never has more tokens than its budget, counted with the
// real encoding; the text of a piece is there whole or not at all; what the task mentions
// comes first, then the best; no piece of text can end its own fence or pass for
// another; the same pieces give the same text.
//
// It does not search, read files or remember what was shown. The budget is that of
// files; that of rules is package retrieval's.
package inject
