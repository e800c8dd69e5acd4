// Package curation judges proposals, sets nodes beside each other for a reviewer,
// and abstracts groups of rules for small budgets. What happens to a rule is
// decided by package rule and done by package rulebook.
//
// [Gate.Judge] is the structural gate, five checks over a proposal and the
// nodes there are. [Calibrate] carries its thresholds, which are stated for one
// embedder, over to any other. [Neighbours] and [Diff] serve review. [Compress] clusters rules and writes Abstraction nodes.
//
// Guarantees: everything is a function of its arguments, and the order of
// nodes, edges and rules in them changes no byte of an answer; a finding names
// every reason, not the first; an admitted proposal always carries the lowest
// authority and confidence; a taken id is never admitted; nothing that a
// proposal declares takes another node out of retrieval.
//
// The package stores nothing, keeps no vectors and knows no events: the caller
// appends what it decides, against the version of the corpus it judged.
package curation
