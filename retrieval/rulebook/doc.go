// Package rulebook is the service of rules: it answers what rules there are and
// which matter to a prompt, and takes what people, agents, files and Writ itself
// do to them.
//
// What may be done to a rule is decided by package rule; the service loads what
// a decision looks at, records what was decided, and answers once queries see
// it. Two proposals at once are judged one after the other: the second sees the
// first. An import takes all of its files or none, unless it is asked for those
// that are sound.
//
// The rules that the program ships are brought in beside the services, see
// [Book.Begin]; who needs them waits with [Book.Ready]. Rules that somebody
// edited or retired stay as they are.
//
// Which rules matter to a prompt, in what order and how much of each, is decided
// by package retrieval, over the snapshot that package index keeps; the mirror in
// Neo4j and the drawing of the graph are package graph.
package rulebook
