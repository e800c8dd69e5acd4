// Package neo4jmirror keeps a copy of the knowledge graph in a Neo4j database,
// and reads graphs out of one. It is the only importer of the Neo4j driver.
//
// In Neo4j every node carries its node type as a label (Rule, Skill, …) and
// beside it the label WritNode, under which its id is unique; a property per
// field; and a relationship per edge whose target is in the graph. What the
// mirror made it recognises by that label and by the relationships' property
// writ_mirror, and it changes and deletes nothing else: foreign properties on
// its nodes stay, and a node that has to go while somebody else's
// relationships hang on it is marked writ_stale instead.
//
// Beside every node stands what the mirror wrote of it (writ_base, writ_edges), so
// that a change by hand is told apart from one of the log: [Compare] says which side
// changed. A push overwrites and deletes no node that was changed by hand unless it
// is named, and adopts one that was made by hand and says what the graph says. Before
// it is done it compares all that is there, writes again what was deleted, and reports
// the rest.
//
// Guarantees: how far the mirror has come – stream sequence and event id – is
// written in the transaction of the writes it speaks of, so a push that was
// killed anywhere goes on without doubling or losing anything; two pushes at
// once do not mix, one of them is told; a database that mirrors another log is
// not touched unless asked to; a server that cannot be used is refused before
// anything is written, with an error that says why.
//
// It does not decide what the graph is: that is its Source's. Queries never
// come here. It follows a log only for as long as it is called.
package neo4jmirror
