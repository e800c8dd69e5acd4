package check

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"path"
	"slices"
	"strings"

	"github.com/writbus/writ/schemas/lazyregexp"
)

// Secret is a credential in the text of a file. It never holds the credential
// itself.
type Secret struct {
	Kind      string `json:"kind"` // github-token, private-key, …; persisted, only ever add
	Path      string `json:"path"`
	Line      int    `json:"line"`   // from 1
	Column    int    `json:"column"` // from 1, in bytes
	EndColumn int    `json:"end_column"`
	Preview   string `json:"preview"` // its first characters and its length
	Message   string `json:"message"` // what it is and what to do instead
}

// format is how one kind of credential looks.
type format struct {
	kind  string
	title string
	need  []string // of which a text with such a credential holds one
	re    *lazyregexp.Regexp
	valid func(m found) bool // beyond the expression; nil is true
	tests bool               // tests make such things for themselves, and may keep them
	// entropy is the least information of the secret part, in bits per
	// character; text that a person made up has less than a random one.
	entropy float64
}

// found is a match of a format.
type found struct {
	secret string   // the first group, or the whole match
	groups []string // of the expression
	after  []byte   // what follows the match
}

// maxSecretAfter bounds what a format may look at behind its match, in bytes.
const maxSecretAfter = 4 << 10

// maxSecretContent bounds what is looked through, in bytes: more than a hook's
// payload brings. That something holds a zero byte is no reason to pass it.
const maxSecretContent = 32 << 20

// Secrets finds credentials that are certain by their form – private keys,
// tokens with the mark and alphabet of their issuer, connection strings with
// a password – on the changed lines of a file, all lines when changed is nil.
// Obvious placeholders do not count; what tests make for themselves does not
// count in test files. The result is sorted by position.
func Secrets(name string, content []byte, changed []Range) []Secret {
	if len(content) > maxSecretContent || changed != nil && len(changed) == 0 {
		return nil
	}
	name = clean(name)
	var src *source
	var out []Secret
	held := bytesOf(content)
	for i := range formats {
		f := &formats[i]
		if !slices.ContainsFunc(f.need, func(n string) bool { return held.has(content, n) }) || f.tests && testPath(name) {
			continue
		}
		for _, at := range f.re.Regexp().FindAllSubmatchIndex(content, -1) {
			m := matchOf(content, at)
			if placeholder(m.secret) || entropy(m.secret) < f.entropy || f.valid != nil && !f.valid(m) {
				continue
			}
			if src == nil {
				src = newSource(name, langText, content)
			}
			line := src.lineAt(at[0])
			if changed != nil && !touches(changed, line, src.lineAt(max(at[1]-1, at[0]))) {
				continue
			}
			column := at[0] - src.starts[line-1] + 1
			out = append(out, Secret{
				Kind: f.kind, Path: name, Line: line, Column: column, EndColumn: column + at[1] - at[0], Preview: preview(m.secret),
				Message: f.title + " in the text: read it at run time from the environment or a secret store; if it is real, revoke it.",
			})
		}
	}
	slices.SortStableFunc(out, func(a, b Secret) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column), cmp.Compare(a.Kind, b.Kind))
	})
	return out
}

// byteSet has the bytes that occur in a text: most words that a search would
// look for cannot be in it.
type byteSet [256]bool

func bytesOf(text []byte) *byteSet {
	var set byteSet
	for _, c := range text {
		set[c] = true
	}
	return &set
}

// has tells whether the text of the set holds a word.
func (s *byteSet) has(text []byte, word string) bool {
	for i := range len(word) {
		if !s[word[i]] {
			return false
		}
	}
	return bytes.Contains(text, []byte(word))
}

func matchOf(content []byte, at []int) found {
	m := found{secret: string(content[at[0]:at[1]]), after: content[at[1]:min(at[1]+maxSecretAfter, len(content))]}
	for i := 2; i+1 < len(at); i += 2 {
		g := ""
		if at[i] >= 0 {
			g = string(content[at[i]:at[i+1]])
		}
		m.groups = append(m.groups, g)
	}
	if len(m.groups) > 0 && m.groups[0] != "" {
		m.secret = m.groups[0]
	}
	return m
}

// preview shows what kind of secret it is and not what it is.
func preview(s string) string {
	shown := 0
	for shown < len(s) && shown < 4 && s[shown] >= 0x20 && s[shown] < 0x7f {
		shown++
	}
	return fmt.Sprintf("%s… (%d characters)", s[:shown], len(s))
}

// entropy is the information of a text in bits per character (Shannon).
func entropy(s string) float64 {
	if s == "" {
		return 0
	}
	var counts [256]int
	for i := range len(s) {
		counts[s[i]]++
	}
	sum := 0.0
	for _, n := range counts {
		if n > 0 {
			p := float64(n) / float64(len(s))
			sum -= p * math.Log2(p)
		}
	}
	return sum
}

// standIns are words that people write where a secret would stand.
var standIns = []string{
	"example", "sample", "dummy", "placeholder", "redacted", "changeme", "change_me", "change-me", "xxxxx", "*****", ".....", "fakefake",
	"your_", "your-", "yourtoken", "yourkey", "insert", "notreal", "not-real", "not_real", "deadbeef", "0123456789abcdef", "1234567890", "abcdefghijkl", "abcdefabcdef",
	"eby8vdm02xnocqflquwj", // every copy of Azure's storage emulator has this key
}

// placeholder tells whether a text stands for a secret rather than being one.
func placeholder(s string) bool {
	l := strings.ToLower(s)
	for _, w := range standIns {
		if strings.Contains(l, w) {
			return true
		}
	}
	run := 1
	for i := 1; i < len(l); i++ {
		if l[i] == l[i-1] && l[i] != '-' && l[i] != '=' {
			if run++; run >= 6 {
				return true
			}
		} else {
			run = 1
		}
	}
	return false
}

// testPath tells whether a path is one of tests, by its folders or name.
func testPath(name string) bool {
	dir, base := path.Split(strings.ToLower(name))
	for _, d := range strings.Split(dir, "/") {
		switch d {
		case "test", "tests", "testdata", "testing", "fixtures", "__tests__", "spec", "specs", "mocks", "examples", "example", "testutil":
			return true
		}
	}
	stem, _, _ := strings.Cut(base, ".")
	// A name that ends in "test" is often another word: latest, contest.
	camel, _, _ := strings.Cut(path.Base(name), ".")
	return strings.HasPrefix(base, "test_") || stem == "test" || strings.HasSuffix(stem, "_test") || strings.HasSuffix(stem, "_tests") ||
		strings.HasSuffix(stem, "-test") || strings.HasSuffix(camel, "Test") || strings.HasSuffix(camel, "Tests") ||
		strings.Contains(base, ".test.") || strings.Contains(base, ".spec.")
}
