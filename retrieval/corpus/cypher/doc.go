// Package cypher reads graph dumps written as Cypher scripts: statements that
// create nodes and relationships from literal values, one by one or as rows of
// an UNWIND, as graph exporters write them.
//
// Guarantees: nothing is executed, a script only describes a graph; every
// statement that is not understood whole is skipped and reported with its
// line; [Read] ends for any input in time linear in its length and nests no
// deeper than a fixed bound; the same script gives the same graph.
//
// The package is no database: MATCH finds only nodes of the same script, by a
// property whose name ends in "id", and what WHERE, WITH, CALL and the rest of
// the language would do is not done.
package cypher
