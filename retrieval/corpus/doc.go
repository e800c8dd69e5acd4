// Package corpus is the written form of the knowledge graph: one Markdown file
// per node, its fields as YAML front matter, the edges it may have, and the
// corpus that ships with the program.
//
// Guarantees: [Parse] is strict (a key nobody knows is an error) and names the
// file and line of everything it refuses; Parse(Render(r)) is r for every node
// that Parse accepts, so export and import round-trip; [Load] reports every
// problem of a folder and still returns what is sound; the same files give the
// same answer in the same order.
//
// The package does not decide what enters the store: redundancy, conflicts,
// the cap of the mandatory band and what to do about a warning are the
// business of package rulebook's import. It reads no clock and writes no file.
package corpus
