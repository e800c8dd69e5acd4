// Package check finds violations of rules in code by machine: it runs the
// checks that rules carry over the lines of a file that changed, and tells
// secrets that must not be written at all.
//
// A check is a regular expression over one line, or a query: a piece of code
// with holes, matched against the syntax tree (Go) or the nesting of tokens
// (Python, JavaScript, TypeScript, Java, Rust and languages like them). Every
// byte of a file is classified as code, string or comment first, so that the
// word eval in a sentence, or the method of model.eval(), is not eval.
//
// # Contexts
//
// A pattern sees the bytes of its contexts – code, string, comment; code when
// it names none. The quotes of strings are seen in both code and string. What
// it does not see is a zero byte in a string or in code, and a blank in a
// comment. Its unless is matched with the whole lines of the finding, and with
// the lines above it that hold only a comment. Prose (Markdown, plain text) is
// all comment.
//
// # Queries
//
// A query is code with holes. $x is one expression – in Go a statement or type
// as well – equal wherever it occurs again; $_ is any; $...x is any number of
// arguments, statements or tokens up to the end of the statement; $(x ~ re) is
// a hole whose text the regular expression matches, one token long outside Go.
// In Python a ; stands for the end of a line. A name that is called is neither
// a method of that name nor its declaration.
//
// Each further line is a condition. "inside P" wants P around the match in the
// same function, "within P" anywhere around; P is a pattern – of the head of a
// block, outside Go – or in Go a keyword: for func if switch select case go
// defer struct. "having P" and "file having P" want a match in the innermost
// function, or in the file. "not inside", "not within", "without" and "file
// without" refuse. "before P" and "not before P" look at what follows
// directly, which Go writes as a run of statements instead. Holes mean the
// same as in the first line:
//
//	$resp, $err := http.Get($_)
//	without $resp.Body.Close()
//
// Guarantees: equal input gives equal output in the same order; no input makes
// it panic; time grows about linearly with the file. A check that does not
// compile is reported with its rule and field, and the others still run.
//
// Whether a write is allowed is not decided here but in the parent package: what
// is found is one of the facts for enforcement.Decide.
//
// It does no I/O, resolves no types or imports, and does not look into binary
// files, files over [MaxBytes], or – for line patterns – lines over [MaxLine].
// Credentials it finds in any bytes.
package check
