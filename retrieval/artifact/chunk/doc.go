// Package chunk cuts a file's text into the pieces that are searched: Markdown
// by heading, code by declaration, anything else by blocks between blank lines.
//
// Guarantees: chunks are whole lines, in order; together they cover every line;
// none has more than [artifact.MaxChunkTokens] tokens, three of which are
// told from ten bytes; a chunk that goes on
// with a section or declaration repeats at most [artifact.OverlapTokens] tokens
// of it. Only a line that is too long by itself is cut within. The same text
// gives the same chunks in every process. Any text is valid, also code that no
// compiler accepts: what a parser cannot read is cut by what its lines look
// like.
//
// It does not read files, and does not know what a file is for.
package chunk
