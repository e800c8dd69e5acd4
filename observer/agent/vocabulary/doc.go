// Package vocabulary joins the one table of verbs to all that is made from it:
// the scanner's table, the reference that is committed beside this file, and
// what writ agent lint shows.
//
// It guarantees that the scanner knows the verbs of enforcement/dialect and no
// others (TestTheScannerKnowsTheTable), and that help/verbs.md is what the table
// says (TestReferenceIsCurrent). It scans and
// runs nothing: lines are scanned by package scanner; what a verb is, and who may
// use it, is said by enforcement/dialect.
package vocabulary
