package inject

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// DefaultBudget is the budget of a request that names none, in tokens.
const DefaultBudget = 50_000

// Format is how a context is written.
type Format string

// The formats. Names are part of the command line; never change.
const (
	Markdown Format = "markdown"
	JSON     Format = "json"
)

// ErrFormat is returned for an unknown format; its text lists the known ones.
var ErrFormat = errors.New("inject: unknown format")

// ParseFormat reads a format's name; "" is [Markdown]. An error wraps
// [ErrFormat].
func ParseFormat(name string) (Format, error) {
	switch f := Format(name); f {
	case "":
		return Markdown, nil
	case Markdown, JSON:
		return f, nil
	}
	return "", fmt.Errorf("%w %q: use %s or %s", ErrFormat, name, Markdown, JSON)
}

// Piece is a chunk of a file.
type Piece struct {
	Path  string  `json:"path"`
	Lines [2]int  `json:"lines"`
	Type  string  `json:"type"`
	Score float64 `json:"score"`
	// Mentioned says that the task names it: such pieces come first, in the
	// order in which they are given.
	Mentioned    bool     `json:"mentioned,omitempty"`
	Title        string   `json:"title,omitempty"`
	Heading      string   `json:"heading,omitempty"`
	Tags         []string `json:"tags,omitempty"`
	Phase        string   `json:"phase,omitempty"`
	Language     string   `json:"-"`
	LastModified string   `json:"last_modified,omitempty"` // a date, as it is to be shown
	References   []string `json:"references,omitempty"`    // paths that the file mentions
	Content      string   `json:"content"`
}

// Request is what to render.
type Request struct {
	Task   string
	Agent  string // "" for none
	Pieces []Piece
	Budget int // tokens; 0 is DefaultBudget
	Format Format
	// Count is the number of tokens of a text, in an encoding that joins no line
	// which starts with a visible character with the line before.
	Count func(text string) int
}

// Context is a rendered text.
type Context struct {
	Text    string
	Tokens  int   // of Text
	Used    []int // places in the request's pieces of those in the text, in its order
	Dropped int   // pieces that had no room
	// References are "@path" of each file in the text, once, in its order.
	References []string
}

// Render writes what fits. A piece that does not fit is left out, and smaller
// ones after it may still be there. With no piece the text is empty.
func Render(r Request) Context {
	if r.Budget <= 0 {
		r.Budget = DefaultBudget
	}
	order := r.order()
	var c Context
	if r.Format == JSON {
		c = r.fill(order, r.asJSON)
	} else {
		c = r.fill(order, r.asMarkdown)
	}
	c.Dropped = len(order) - len(c.Used)
	return c
}

// order is that of the pieces: mentioned ones as they are given, then by score,
// ties by path and line; of pieces that are the same lines the first counts.
func (r Request) order() []int {
	type place struct {
		path  string
		lines [2]int
	}
	var order []int
	seen := map[place]bool{}
	for _, mentioned := range []bool{true, false} {
		start := len(order)
		for i, p := range r.Pieces {
			if p.Mentioned != mentioned || seen[place{p.Path, p.Lines}] {
				continue
			}
			seen[place{p.Path, p.Lines}] = true
			order = append(order, i)
		}
		if !mentioned {
			slices.SortStableFunc(order[start:], func(a, b int) int {
				x, y := r.Pieces[a], r.Pieces[b]
				return cmp.Or(cmp.Compare(y.Score, x.Score), strings.Compare(x.Path, y.Path), cmp.Compare(x.Lines[0], y.Lines[0]))
			})
		}
	}
	return order
}

// fill takes pieces in their order as long as they fit, by what each costs alone,
// and then counts the text: should it be over all the same, the last piece goes.
func (r Request) fill(order []int, write func(used []int) string) Context {
	var used []int
	sum := r.Count(write(nil))
	for _, i := range order {
		cost := r.Count(r.alone(i))
		if sum+cost <= r.Budget {
			used = append(used, i)
			sum += cost
		}
	}
	for len(used) > 0 {
		text := write(used)
		if n := r.Count(text); n <= r.Budget {
			return Context{Text: text, Tokens: n, Used: used, References: r.references(used)}
		}
		used = used[:len(used)-1]
	}
	return Context{}
}

// alone is what a piece adds to the text, its reference included.
func (r Request) alone(i int) string {
	if r.Format == JSON {
		raw, _ := encode([]Piece{r.Pieces[i]})
		return "," + string(raw) + `,"@` + r.Pieces[i].Path + `"`
	}
	return r.Pieces[i].markdown() + "@" + r.Pieces[i].Path + " "
}

// references are the files in their order.
func (r Request) references(used []int) []string {
	var out []string
	for _, i := range used {
		if ref := Reference(r.Pieces[i].Path); !slices.Contains(out, ref) {
			out = append(out, ref)
		}
	}
	return out
}

// Reference is a path as a mention: "@path", or `@"path"` where blanks or other
// marks would end it. It is one line, whatever the path.
func Reference(path string) string {
	path = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' {
			return '\uFFFD'
		}
		return r
	}, path)
	if strings.ContainsFunc(path, func(r rune) bool { return r <= ' ' || strings.ContainsRune("\"#:,;()[]{}<>'`", r) }) {
		return `@"` + path + `"`
	}
	return "@" + path
}

func encode(value any) ([]byte, error) {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(value)
	return []byte(strings.TrimSuffix(b.String(), "\n")), err
}

// asJSON is one object.
func (r Request) asJSON(used []int) string {
	pieces := make([]Piece, len(used))
	for n, i := range used {
		pieces[n] = r.Pieces[i]
	}
	references := r.references(used)
	if references == nil {
		references = []string{}
	}
	raw, err := encode(struct {
		Task       string   `json:"task"`
		Agent      string   `json:"agent_type,omitempty"`
		Artifacts  []Piece  `json:"artifacts"`
		References []string `json:"references"`
	}{r.Task, r.Agent, pieces, references})
	if err != nil { // strings and numbers always encode, but for a score that is no number
		return ""
	}
	return string(raw) + "\n"
}
