// Package search finds the files and chunks of a project that a text asks for.
//
// An [Analyser] turns documents into entries, in as many goroutines as the
// caller likes; an [Index] of them is an immutable snapshot in segments. An
// update makes another snapshot that shares what is the same, so that one
// changed file costs little; [Index.Compact] makes one segment of all. Postings
// are bytes, vectors codes of one byte a dimension: about 600 bytes a chunk.
//
// Guarantees: what an index answers depends on its entries alone, not on the
// updates that led to it; the same entries give the same bytes once compacted;
// scores of words are textbook BM25F; filters apply before the best are chosen;
// words match whole; a longer query never lowers a hit that holds the added
// word, but for what its meaning changes; any bytes are a valid query; ties are
// in the order of paths. An index may be searched from any number of goroutines.
//
// It reads no files, so that hits have lines and no text, and takes time from
// the clock it is given. retrieval/lexical is the same formula over the fields
// of rules: there every term is computed ahead, at 12 bytes a posting, which a
// project's files would not fit, and a snapshot is computed anew, which the
// files of a project change too often for.
package search
