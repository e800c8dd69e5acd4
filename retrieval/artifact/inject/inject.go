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
	// Summary and Symbols say what a piece is whose text has no room.
	Summary string   `json:"summary,omitempty"`
	Symbols []string `json:"symbols,omitempty"`
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
	Brief   []int // of these the ones that are named without their text
	Dropped int   // pieces that had no room
	// References are "@path" of each file in the text, once, in its order.
	References []string
}

// Render writes what fits: of each file at least where its best piece is and what
// it declares, then the texts, best first. An agent that knows of five files in
// the room of two can read the third. With no piece the text is empty.
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
// ties by path and line; of pieces that are the same lines, or the same text, the
// first counts.
func (r Request) order() []int {
	type place struct {
		path  string
		lines [2]int
	}
	var order []int
	seen, texts := map[place]bool{}, map[string]bool{}
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
	return slices.DeleteFunc(order, func(i int) bool {
		p := r.Pieces[i]
		text := strings.TrimSpace(p.Content)
		copied := texts[text] && text != "" && !p.Mentioned
		texts[text] = true
		return copied
	})
}

// written is a piece of the text, whole or only named.
type written struct {
	piece int
	brief bool
}

// fill takes what fits by what each piece costs alone: mentioned pieces whole, the
// first piece of each file at least by name, then texts in their order. Then it
// counts the text: should it be over all the same, the last piece goes.
func (r Request) fill(order []int, write func(pieces []written) string) Context {
	left := r.Budget - r.Count(write(nil))
	whole, brief := map[int]bool{}, map[int]int{} // of a brief one what it costs
	named := map[string]bool{}
	name := func(i int) {
		if cost := r.Count(r.alone(written{i, true})); cost <= left && !named[r.Pieces[i].Path] {
			named[r.Pieces[i].Path], brief[i] = true, cost
			left -= cost
		}
	}
	for _, mentioned := range []bool{true, false} {
		for _, i := range order {
			if r.Pieces[i].Mentioned == mentioned {
				name(i)
			}
		}
		for _, i := range order {
			if cost := r.Count(r.alone(written{i, false})) - brief[i]; r.Pieces[i].Mentioned == mentioned && cost <= left {
				whole[i] = true
				left -= cost
			}
		}
	}
	var used []written
	for _, i := range order {
		if brief[i] > 0 || whole[i] {
			used = append(used, written{i, !whole[i]})
		}
	}
	for len(used) > 0 {
		text := write(used)
		if n := r.Count(text); n <= r.Budget {
			return r.context(text, n, used)
		}
		used = used[:len(used)-1]
	}
	return Context{}
}

func (r Request) context(text string, tokens int, used []written) Context {
	c := Context{Text: text, Tokens: tokens, References: r.references(used)}
	for _, w := range used {
		c.Used = append(c.Used, w.piece)
		if w.brief {
			c.Brief = append(c.Brief, w.piece)
		}
	}
	return c
}

// alone is what a piece adds to the text, its reference included.
func (r Request) alone(w written) string {
	p := r.Pieces[w.piece]
	if r.Format == JSON {
		raw, _ := encode([]jsonPiece{p.json(w.brief)})
		return "," + string(raw) + `,"@` + p.Path + `"`
	}
	return p.markdown(w.brief) + "@" + p.Path + " "
}

// references are the files in their order.
func (r Request) references(used []written) []string {
	var out []string
	for _, w := range used {
		if ref := Reference(r.Pieces[w.piece].Path); !slices.Contains(out, ref) {
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

// jsonPiece is a piece as it is written.
type jsonPiece struct {
	Piece
	Brief bool `json:"brief,omitempty"` // its text had no room
}

// json is the piece: whole, or without its text and with what says what it is.
func (p Piece) json(brief bool) jsonPiece {
	if brief {
		p.Content = ""
	} else {
		p.Summary, p.Symbols = "", nil
	}
	return jsonPiece{p, brief}
}

// asJSON is one object.
func (r Request) asJSON(used []written) string {
	pieces := make([]jsonPiece, len(used))
	for n, w := range used {
		pieces[n] = r.Pieces[w.piece].json(w.brief)
	}
	references := r.references(used)
	if references == nil {
		references = []string{}
	}
	raw, err := encode(struct {
		Task       string      `json:"task"`
		Agent      string      `json:"agent_type,omitempty"`
		Artifacts  []jsonPiece `json:"artifacts"`
		References []string    `json:"references"`
	}{r.Task, r.Agent, pieces, references})
	if err != nil { // strings and numbers always encode, but for a score that is no number
		return ""
	}
	return string(raw) + "\n"
}
