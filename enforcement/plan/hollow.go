package plan

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/writbus/writ/schemas/glob"
	"github.com/writbus/writ/schemas/lazyregexp"
	"github.com/writbus/writ/schemas/wordset"
)

// concealed finds the first character by which a reader sees another text than
// the one that is approved: one that controls a terminal, turns the direction
// of writing, or copies a letter without being seen.
func concealed(src []byte) *Problem {
	line := 1
	for _, r := range string(src) {
		switch {
		case r == '\n':
			line++
		case r != '\t' && unicode.IsControl(r), r >= '\u202a' && r <= '\u202e', r >= '\u2066' && r <= '\u2069', r >= 0xe0000 && r <= 0xe007f:
			return &Problem{Code: HiddenText, Line: line, Text: fmt.Sprintf(
				"the plan holds the character U+%04X, which shows a reader another text than the one that is written. Take it out.", r)}
		}
	}
	return nil
}

var (
	// hiding are the attributes by which HTML is not shown.
	hiding = lazyregexp.New(`(?i)\s(?:hidden\b|style\s*=[^>]*(?:display\s*:\s*none|visibility\s*:\s*hidden|opacity\s*:\s*0\b|[";\s]color\s*:\s*(?:white|transparent|#f{3}(?:f{3})?)\b|font-size\s*:\s*0\b))`)
	folds  = lazyregexp.New(`(?i)<(/?)(?:details|template|del|s|strike|script|style)\b[^>]*>`)
)

// fold follows the elements that a reader does not see unfolded or sees struck
// out, and returns what of a piece of HTML stands outside of them.
func (r *reader) fold(html string) string {
	var seen strings.Builder
	for {
		m := folds.Regexp().FindStringSubmatchIndex(html)
		end := len(html)
		if m != nil {
			end = m[0]
		}
		if r.folded == 0 {
			seen.WriteString(html[:end])
		}
		switch {
		case m == nil:
			return seen.String()
		case m[2] == m[3]:
			r.folded++
		case r.folded > 0:
			r.folded--
		}
		html = html[m[1]:]
	}
}

// said are words that every plan could say, whatever it is about; see hollow.
var said = wordset.In(wordLists, "said")

var (
	model = lazyregexp.New(`(?i)\bas an? (?:ai |large )*language model\b`)
	// typed are words that fingers made on the way over the keyboard.
	typed = lazyregexp.New(`^(?:qwert?y?|rtyu?|uiop|asdf?|sdfg?|dfgh?|fghj?|hjkl?|jkl|zxcv?|xcvb?|cvbn?|vbnm?|bnm)+$`)
	// pseudo are paths that stand for any.
	pseudo = lazyregexp.New(`(?i:^(?:.*/)?(?:path/to|your|some)/|^(?:src/)?(?:foo|bar|baz|qux)/(?:(?:foo|bar|baz|qux)/)*(?:foo|bar|baz|qux)\.\w+$)|(?:^|/)(?:TODO|TBD|FIXME|XXX)\.[a-z]*[^dt]$`)
)

// about are the different words of a text that are about something, beside those that
// stand elsewhere already.
func about(text string, elsewhere ...map[string]bool) map[string]bool {
	seen := map[string]bool{}
	if strings.Contains(strings.ToLower(text), "language model") {
		text = model.ReplaceAllString(text, "")
	}
	for _, w := range plainWords(text) {
		w = strings.TrimSuffix(w, "'s")
		if seen[w] || hollow[w] || said[w] || decided[w] || nonsense[w] || latin[w] || slices.ContainsFunc(elsewhere, func(m map[string]bool) bool { return m[w] }) ||
			len(w) > 2 && strings.Trim(w, w[:1]) == "" || typed.MatchString(w) {
			continue
		}
		seen[w] = true
		if countWords(w) > 1 { // a script without spaces
			seen[w+" "] = true
		}
	}
	return seen
}

// leastSaid is how many different things a section has to say: what says fewer fits
// every plan.
const leastSaid = 2

// hollow tells whether the section says nothing about this work in particular, or
// nothing that the other sections do not say.
func (s *section) hollow(name string, d *document) *Problem {
	var paths map[string]bool
	if files, _ := d.find(SectionFiles); files != nil {
		named, _ := files.files()
		paths = about(strings.Join(named, " "))
	}
	text := s.text()
	of := about(text)
	p := &Problem{Code: Placeholder, Section: name, Line: s.line}
	switch {
	case name == SectionAnalysis && (len(of) < leastSaid || !worded(of) || d.copies(of, paths)):
		p.Text = "the section `## Analysis` would fit every plan. Say what is wrong or missing here, and how this work mends it."
	case name == SectionAnalysis && repeats(text):
		p.Text = "the section `## Analysis` says the same over and over. Say it once, and what else there is to say."
	case name == SectionCapabilities && len(s.capabilities()) > 0 && !s.tells(paths, about(d.text(SectionAnalysis))):
		p.Text = "no check box of `## Capabilities` says what will be different. Write what a user can observe afterwards."
	default:
		return nil
	}
	return p
}

// worded tells whether there is more in what a text is about than numbers and letters.
func worded(about map[string]bool) bool {
	return slices.ContainsFunc(slices.Collect(maps.Keys(about)), func(w string) bool { return len(w) > 1 && strings.ContainsFunc(w, unicode.IsLetter) })
}

// tells tells whether a capability says something beside the paths; a number alone does
// only where the analysis speaks of it, too. A ticked one is a problem of its own.
func (s *section) tells(paths, analysis map[string]bool) bool {
	for _, c := range s.capabilities() {
		says := about(c.Text, paths)
		for w := range says {
			if len(says) >= leastSaid || analysis[w] || len(w) > 1 && unicode.IsLetter([]rune(w)[0]) {
				return true
			}
		}
		if c.Ticked {
			return true
		}
	}
	return false
}

// copies tells whether what a text is about is no more than the title and the paths, or
// is that of the files, of the capabilities or of one of them once more.
func (d *document) copies(of, paths map[string]bool) bool {
	boxes, _ := d.find(SectionCapabilities)
	same := func(text string) bool { return maps.Equal(about(text), of) }
	title := about(d.title)
	return !slices.ContainsFunc(slices.Collect(maps.Keys(of)), func(w string) bool { return !paths[w] && !title[w] }) || same(d.text(SectionFiles)) || same(d.text(SectionCapabilities)) ||
		boxes != nil && slices.ContainsFunc(boxes.capabilities(), func(c Capability) bool { return same(c.Text) })
}

// text is what the section says below its headings.
func (s *section) text() string {
	var all strings.Builder
	for _, b := range s.blocks {
		if b.kind != subheading && b.kind != header {
			all.WriteString(b.text() + "\n")
		}
	}
	return all.String()
}

func (d *document) text(name string) string {
	if s, _ := d.find(name); s != nil {
		return s.text()
	}
	return ""
}

// repeats tells whether a text consists of one passage over and over.
func repeats(text string) bool {
	words := plainWords(text)
	distinct := map[string]bool{}
	for _, w := range words {
		distinct[w] = true
	}
	return len(words) >= 6 && len(words) <= 200 && len(distinct)*3 <= len(words)
}

// boundless finds a path that names everything: the project itself, or a
// pattern in which no name stands but that of one folder above all.
func (s *section) boundless() *Problem {
	for _, b := range s.blocks {
		for _, m := range b.paths() {
			if broad(m.path) {
				return &Problem{Code: TooBroad, Section: SectionFiles, Line: b.line, Text: fmt.Sprintf(
					"%s names everything, so an approval of it would approve anything. List the files you will write.", clip(m.path))}
			}
		}
	}
	return nil
}

var choice = lazyregexp.New(`\[[^\]]*\]|\{[^}]*\}`)

// broad tells whether one of the alternatives of a path names everything.
func broad(p string) bool {
	alternatives, ok := glob.Braces(p)
	return !ok && everything(p) || slices.ContainsFunc(alternatives, everything)
}

// roots are the folders that hold a project's code as a whole.
var roots = wordSet("src source lib app pkg internal cmd packages")

// everything tells whether a path leaves open which file it is: no name stands in it but
// that of a folder above all code. An ending is no name.
func everything(p string) bool {
	p = path.Clean(p)
	if p == "." || p == "/" || p == ".." || p == "~" || roots[p] {
		return true
	}
	if !strings.ContainsAny(p, "*?[{") {
		return false
	}
	var named []string
	parts := strings.Split(choice.ReplaceAllString(p, "*"), "/")
	for i, part := range parts {
		if i == len(parts)-1 && strings.ContainsAny(part, "*?") {
			part = strings.TrimSuffix(part, path.Ext(part))
		}
		if strings.Trim(part, "*?.") != "" {
			named = append(named, part)
		}
	}
	last := parts[len(parts)-1]
	return len(named) == 0 || len(named) == 1 && (roots[named[0]] || strings.Contains(p, "**") && strings.Trim(last, "*?.") == "")
}

// negation are words that turn "no matching rules" into its opposite.
var negation = wordset.In(wordLists, "negation")

// reason is where a sentence says why.
var reason = lazyregexp.New(`(?is)(?:\(|\b(?:because|since|as|which)\b).*`)

// statesNone tells whether a text says, un-negated, that no rule matches.
func statesNone(text string) bool {
	for sentence := range strings.FieldsFuncSeq(text, func(r rune) bool { return strings.ContainsRune(".;!", r) }) {
		if strings.Contains(sentence, "?") {
			continue
		}
		words := plainWords(reason.ReplaceAllString(sentence, ""))
		text := " " + strings.Join(words, " ") + " "
		if strings.Contains(text, " no matching rules ") && strings.Count(text, " no ") == 1 && !slices.ContainsFunc(words, func(w string) bool { return negation[w] }) {
			return true
		}
	}
	return false
}
