// Package retrieval finds the few rules that matter for a prompt, and says why.
//
// It is a pipe of values: analyse, word and vector candidates, graph
// neighbours, fusion, two-pass ranking, budget, rendering. [Analyse] turns a
// rule into a [Document], [NewIndex] turns documents into an immutable
// snapshot, [Index.Search] answers a [Query] from it, [Index.Mandatory] is the
// band that is always on.
//
// Guarantees: the same documents, options and query give the same bytes in any
// process, whatever the order of the documents; any bytes are a valid query; an
// index may be searched from any number of goroutines while newer ones are
// built; mandatory rules are never retrieved; nothing is injected when nothing
// is relevant; a rendered block never exceeds its budget, counted in real
// tokens.
//
// It reads no clock (times come from [Options].Clock), no file, no
// configuration, and keeps no memory between queries: what a session has seen
// arrives in the query.
package retrieval
