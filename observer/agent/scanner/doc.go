// Package scanner is the scanner of the command language: it takes the bytes of
// an agent's answer as they arrive and hands on prose, commands and diagnostics.
//
// One scanner feeds whoever runs commands, whoever shows text and whoever
// checks a recorded stream, so that they cannot disagree about what a command is.
//
// Guaranteed:
//
//   - What is hidden was consumed as a command, and the other way round: the
//     input without a leading byte order mark is the prose plus the spans
//     [Start, End) of the commands. TestHiddenIsConsumed, FuzzScanner.
//   - Any chunking gives the same prose, commands and diagnostics in the same
//     order. TestChunking, FuzzScanner.
//   - One pass; a line of prose costs no allocation. TestProseAllocatesNothing.
//   - Prose is passed on in the call that brought it, except for the start of a
//     line that may still become a command, an incomplete rune, and what may
//     become the body of a block. TestProseIsPassedOnAtOnce.
//   - Any bytes are scanned; none is an error.
//
// Not here: which verbs exist (the caller hands in a Table), what their
// sub-verbs need, and whether an agent may run them.
package scanner
