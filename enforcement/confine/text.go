package confine

// What strings and fmt do, as far as it is needed here: see doc.go for why they
// are not imported.

func hasPrefix(s, prefix string) bool {
	return len(s) >= len(prefix) && s[:len(prefix)] == prefix
}

func hasSuffix(s, suffix string) bool {
	return len(s) >= len(suffix) && s[len(s)-len(suffix):] == suffix
}

func cutPrefix(s, prefix string) (rest string, found bool) {
	if !hasPrefix(s, prefix) {
		return s, false
	}
	return s[len(prefix):], true
}

func indexByte(s string, b byte) int {
	for i := range len(s) {
		if s[i] == b {
			return i
		}
	}
	return -1
}

func split(s string, by byte) []string {
	var parts []string
	for {
		at := indexByte(s, by)
		if at < 0 {
			return append(parts, s)
		}
		parts = append(parts, s[:at])
		s = s[at+1:]
	}
}

// trimmed is a text without white space around it.
func trimmed(s string) string {
	blank := func(b byte) bool { return b == ' ' || b == '\n' || b == '\r' || b == '\t' }
	for s != "" && blank(s[0]) {
		s = s[1:]
	}
	for s != "" && blank(s[len(s)-1]) {
		s = s[:len(s)-1]
	}
	return s
}

// lower is a text with its letters of ASCII small.
func lower(s string) string {
	small := []byte(s)
	for i, b := range small {
		if 'A' <= b && b <= 'Z' {
			small[i] = b + 'a' - 'A'
		}
	}
	return string(small)
}

// because is an error with its reason.
func because(err error, why string) error { return &reason{err, why} }

type reason struct {
	err error
	why string
}

func (r *reason) Error() string { return r.err.Error() + ": " + r.why }

func (r *reason) Unwrap() error { return r.err }

// fault is an error with what it is about.
type fault struct {
	what string
	err  error
}

func wrong(what string, err error) error { return &fault{what, err} }

func (f *fault) Error() string { return f.what + ": " + f.err.Error() }

func (f *fault) Unwrap() error { return f.err }
