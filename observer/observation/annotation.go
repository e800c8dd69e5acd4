package observation

import (
	"regexp"
	"strconv"
	"strings"
)

// The keys an annotation knows, aliases resolved.
const (
	keyGate       = "gate"
	keyConfidence = "confidence"
	keyCategory   = "category"
	keyReason     = "reason"
)

// knownKeys resolves what an annotation may call its keys, in lower case.
var knownKeys = map[string]string{
	"gate":       keyGate,
	"verdict":    keyGate,
	"confidence": keyConfidence,
	"conf":       keyConfidence,
	"category":   keyCategory,
	"reason":     keyReason,
}

const (
	blanks   = " \t"
	newlines = "\r\n"
	// delimiters end a key or a bare value.
	delimiters = blanks + newlines + ",=]"
)

var (
	bullets = []string{"-", "*", "•"}
	marks   = []string{"🔴", "🟡", "🟢"}
)

// variation is U+FE0F, which asks for the coloured form of the mark before it.
const variation = "\uFE0F"

// cutMarkers cuts at most one bullet, then at most one priority mark, and the
// blanks after each.
func cutMarkers(s string) string {
	s, _ = cutOne(s, bullets)
	s = strings.TrimLeft(s, blanks)
	s, marked := cutOne(s, marks)
	if marked {
		s = strings.TrimPrefix(s, variation)
	}
	return strings.TrimLeft(s, blanks)
}

func cutOne(s string, prefixes []string) (string, bool) {
	for _, prefix := range prefixes {
		if rest, ok := strings.CutPrefix(s, prefix); ok {
			return rest, true
		}
	}
	return s, false
}

// annotation holds the known pairs of an annotation by resolved key, the last
// of duplicates.
type annotation map[string]string

// presence says what a text begins with.
type presence int

const (
	absent    presence = iota // no bracket, or none with a known key and "="
	malformed                 // a bracket with a known key and "=" that is no annotation
	present                   // an annotation, perhaps with an unknown verdict
)

// readAnnotation reads the annotation that s begins with, and returns what
// follows it. A pair is key=value; blanks may stand around "=", and blanks and
// commas, any number of them, between pairs. A quoted value holds anything but
// its quote and newlines; a bare one ends at a delimiter and is not empty.
// Unknown keys are read and dropped.
func readAnnotation(s string) (a annotation, rest string, state presence) {
	rest, ok := strings.CutPrefix(s, "[")
	if !ok {
		return nil, s, absent
	}
	r := reader{rest: rest}
	a = annotation{}
	state = absent
	for first := true; ; first = false {
		separated := r.skip(blanks + newlines + ",")
		if r.take("]") {
			break
		}
		key := r.until(delimiters)
		r.skip(blanks + newlines)
		if key == "" || !first && !separated || !r.take("=") {
			return nil, s, state
		}
		name, known := knownKeys[lowerASCII(key)]
		if known {
			state = malformed
		}
		r.skip(blanks + newlines)
		value, ok := r.value()
		if !ok {
			return nil, s, state
		}
		if known {
			a[name] = value
		}
	}
	if _, ok := a[keyGate]; !ok || r.brokenLine {
		return nil, s, state
	}
	return a, r.rest, present
}

// reader reads an annotation from its front.
type reader struct {
	rest       string
	brokenLine bool // a newline was read
}

// skip drops leading bytes of a set and says whether there were any.
func (r *reader) skip(set string) bool {
	rest := strings.TrimLeft(r.rest, set)
	skipped := r.rest[:len(r.rest)-len(rest)]
	r.note(skipped)
	r.rest = rest
	return skipped != ""
}

func (r *reader) take(token string) bool {
	rest, ok := strings.CutPrefix(r.rest, token)
	r.rest = rest
	return ok
}

// until reads up to a byte of a set, or to the end.
func (r *reader) until(set string) string {
	end := strings.IndexAny(r.rest, set)
	if end < 0 {
		end = len(r.rest)
	}
	word := r.rest[:end]
	r.rest = r.rest[end:]
	return word
}

// value reads a value, bare or quoted.
func (r *reader) value() (string, bool) {
	for _, quote := range []string{`"`, `'`} {
		if r.take(quote) {
			word := r.until(quote)
			r.note(word)
			return word, r.take(quote)
		}
	}
	word := r.until(delimiters)
	return word, word != ""
}

func (r *reader) note(read string) {
	r.brokenLine = r.brokenLine || strings.ContainsAny(read, newlines)
}

// gated applies the annotation to the text that follows it, trimmed.
func (a annotation) gated(text string) Gated {
	g := Gated{
		Text:       text,
		Verdict:    lowerASCII(a[keyGate]),
		Reason:     cutReason(a[keyReason]),
		Confidence: readConfidence(a[keyConfidence]),
	}
	switch known := g.Verdict == Allow || g.Verdict == Hold || g.Verdict == Discard; {
	case !known:
		g = fallback(text, UnknownVerdict)
	case text == "":
		g = fallback(text, EmptyObservation)
	}
	g.Category = a[keyCategory]
	return g
}

var decimal = regexp.MustCompile(`^-?[0-9]+(\.[0-9]+)?%?$`)

// readConfidence reads a decimal number, perhaps in percent, clamped to 0..1;
// anything else has the default.
func readConfidence(s string) float64 {
	if !decimal.MatchString(s) {
		return defaultConfidence
	}
	number, percent := strings.CutSuffix(s, "%")
	// The only error left is an overflow, whose infinity is clamped too.
	c, _ := strconv.ParseFloat(number, 64)
	if percent {
		c /= 100
	}
	return min(max(c, 0), 1)
}

// cutReason trims a reason, then cuts it to maxReason code points.
func cutReason(s string) string {
	s = strings.TrimSpace(s)
	if s == "" {
		return defaultReason
	}
	n := 0
	for at := range s {
		if n == maxReason {
			return s[:at]
		}
		n++
	}
	return s
}

// lowerASCII lowers A to Z alone: no other letter folds into a key or verdict.
func lowerASCII(s string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, s)
}
