package corpus

import "regexp"

// idPattern is the shape of a rule id; persisted in every log, never change.
var idPattern = regexp.MustCompile(`^[A-Z][A-Z0-9]*(-[A-Z][A-Z0-9]*)+(-[0-9]{3}|-[A-Z][A-Z0-9]*)$`)

// ValidID reports whether s is a rule id: three or more parts joined by
// hyphens, each a capital letter followed by capital letters and digits, the
// last one of that shape or exactly three digits (GO-CTX-FIRST-001).
func ValidID(s string) bool { return idPattern.MatchString(s) }
