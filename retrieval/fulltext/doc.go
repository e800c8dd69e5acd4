// Package fulltext is the index behind searches that a person types: query
// strings, phrases, words with typing errors, prefixes, facets, and the matched
// words marked. It is a Bleve index on disk, built from the same rules and with
// the same analyser as the ranking index, which alone decides what an agent
// gets.
//
// Guarantees: an index says up to which sequence of the log it holds the rules,
// in the same batch that writes them; [Open] gives one that holds what it was
// asked for, building it again when it is missing, of another version or
// sequence, or damaged, and says which; any bytes are a request, and one that
// cannot be read is [ErrQuery]. Hits of equal score are ordered by id. An index
// may be used from any number of goroutines.
//
// Scores are Bleve's and not comparable with those of retrieval. It does not
// read the log and knows no sessions.
package fulltext
