package retrieval

import (
	"encoding/json"
	"math"
	"strconv"
	"sync/atomic"
	"unicode/utf8"

	"github.com/writbus/writ/schemas"
)

// mostKept bounds the encoded rules that an index keeps, in bytes.
const mostKept = 1 << 20

// keptRules are the rules of an index as JSON, kept once they were asked for.
type keptRules struct {
	texts []atomic.Pointer[[]byte] // per document
	bytes atomic.Int64
}

func keepRules(n int) *keptRules { return &keptRules{texts: make([]atomic.Pointer[[]byte], n)} }

// ruleFields are the fields of a rule that a hit has beside its own.
type ruleFields struct {
	schemas.Rule
	ID   *struct{} `json:"id,omitempty"`   // a hit has its own
	Type *struct{} `json:"type,omitempty"` // likewise
}

// of returns the fields of a document's rule without braces. None are kept of a
// hit that no index made.
func (k *keptRules) of(doc int32, rule *schemas.Rule) ([]byte, error) {
	if k != nil {
		if kept := k.texts[doc].Load(); kept != nil {
			return *kept, nil
		}
	}
	text, err := json.Marshal(ruleFields{Rule: *rule})
	if err != nil {
		return nil, err
	}
	text = text[1 : len(text)-1]
	if k != nil && k.bytes.Add(int64(len(text))) <= mostKept {
		k.texts[doc].Store(&text)
	}
	return text, nil
}

// AppendJSON appends the answer as [json.Marshal] writes it, in a third of the
// time: the rules of its hits, which must be as the index gave them, are encoded
// once for all answers of an index. An error is that of [json.Marshal].
func (a Answer) AppendJSON(b []byte) ([]byte, error) {
	w := writing{b: append(b, '{')}
	w.list(`"rules":`, len(a.Rules), a.Rules == nil, func(i int) { w.hit(&a.Rules[i]) })
	w.text(`,"mode":`, a.Mode)
	w.text(`,"tier":`, a.Tier)
	w.float(`,"probability":`, a.Probability)
	w.bool(`,"literal":`, a.Literal)
	w.text(`,"embedder":`, a.Embedder)
	w.text(`,"profile":`, a.Profile)
	if a.Problem != "" {
		w.text(`,"problem":`, a.Problem)
	}
	w.text(`,"index":{"version":`, a.Index.Version)
	w.text(`,"built_at":`, a.Index.BuiltAt)
	w.int(`,"rules":`, int64(a.Index.Rules))
	w.int(`},"tokens":`, int64(a.Tokens))
	w.int(`,"budget":`, int64(a.Budget))
	w.text(`,"encoding":`, a.Encoding)
	w.text(`,"block":`, a.Block)
	if len(a.Conflicts) > 0 {
		w.list(`,"conflicts":`, len(a.Conflicts), false, func(i int) {
			w.text(`{"kept":`, a.Conflicts[i].Kept)
			w.text(`,"left_out":`, a.Conflicts[i].LeftOut)
			w.raw(`}`)
		})
	}
	w.list(`,"stages":`, len(a.Stages), a.Stages == nil, func(i int) {
		w.text(`{"name":`, a.Stages[i].Name)
		w.int(`,"candidates":`, int64(a.Stages[i].Candidates))
		w.int(`,"nanos":`, a.Stages[i].Nanos)
		w.raw(`}`)
	})
	l := a.Latency
	w.float(`,"latency_us":{"analyse":`, l.Analyse)
	w.float(`,"bm25":`, l.BM25)
	w.float(`,"vector":`, l.Vector)
	w.float(`,"graph":`, l.Graph)
	w.float(`,"rank":`, l.Rank)
	w.float(`,"render":`, l.Render)
	w.float(`,"total":`, l.Total)
	w.raw(`}}`)
	if w.failed {
		_, err := json.Marshal(a) // says what cannot be written
		return nil, err
	}
	return w.b, nil
}

// writing is JSON that is being written.
type writing struct {
	b      []byte
	failed bool // of a number that JSON does not have
}

func (w *writing) hit(h *Hit) {
	w.text(`{"id":`, h.ID)
	w.text(`,"type":`, h.Type)
	w.float(`,"score":`, h.Score)
	w.text(`,"tier":`, h.Tier)
	w.float(`,"probability":`, h.Probability)
	w.text(`,"rendered":`, h.Rendered)
	if len(h.Conflicts) > 0 {
		w.list(`,"conflicts":`, len(h.Conflicts), false, func(i int) { w.text("", h.Conflicts[i]) })
	}
	fields, err := h.kept.of(h.doc, &h.Rule)
	w.failed = w.failed || err != nil
	w.raw(`,`)
	w.b = append(w.b, fields...)
	y := &h.Why
	w.float(`,"why":{"bm25":`, y.BM25)
	w.float(`,"vector":`, y.Vector)
	w.float(`,"severity":`, y.Severity)
	w.float(`,"confidence":`, y.Confidence)
	w.float(`,"graph":`, y.Graph)
	w.float(`,"coverage":`, y.Coverage)
	if y.Pinned {
		w.bool(`,"pinned":`, true)
	}
	w.int(`,"ranks":{"bm25":`, int64(y.Ranks.BM25))
	w.int(`,"vector":`, int64(y.Ranks.Vector))
	w.int(`,"pass1":`, int64(y.Ranks.Pass1))
	w.raw(`}`)
	if len(y.Terms) > 0 {
		w.list(`,"terms":`, len(y.Terms), false, func(i int) {
			w.text(`{"term":`, y.Terms[i].Term)
			w.float(`,"score":`, y.Terms[i].Score)
			w.raw(`}`)
		})
	}
	if len(y.Evidence) > 0 {
		w.list(`,"evidence":`, len(y.Evidence), false, func(i int) { w.float("", y.Evidence[i]) })
	}
	w.raw(`}}`)
}

func (w *writing) raw(s string) { w.b = append(w.b, s...) }

func (w *writing) int(key string, n int64) {
	w.raw(key)
	w.b = strconv.AppendInt(w.b, n, 10)
}

func (w *writing) bool(key string, is bool) {
	w.raw(key)
	w.b = strconv.AppendBool(w.b, is)
}

// list writes n values, of which none is nothing rather than an empty list.
func (w *writing) list(key string, n int, none bool, value func(int)) {
	w.raw(key)
	if none {
		w.raw(`null`)
		return
	}
	w.raw(`[`)
	for i := range n {
		if i > 0 {
			w.raw(`,`)
		}
		value(i)
	}
	w.raw(`]`)
}

// float writes a number as ECMAScript does, which encoding/json follows.
func (w *writing) float(key string, x float64) {
	w.raw(key)
	size := math.Abs(x)
	switch {
	case math.IsNaN(x) || math.IsInf(x, 0):
		w.failed = true
	case size != 0 && (size < 1e-6 || size >= 1e21):
		w.b = strconv.AppendFloat(w.b, x, 'e', -1, 64)
		if n := len(w.b); n >= 4 && w.b[n-4] == 'e' && w.b[n-2] == '0' { // e-09 is e-9
			w.b[n-2] = w.b[n-1]
			w.b = w.b[:n-1]
		}
	default:
		w.b = strconv.AppendFloat(w.b, x, 'f', -1, 64)
	}
}

// plain are the bytes that a text has as they are; encoding/json escapes what
// HTML would take for its own, too.
var plain = func() (is [256]bool) {
	for b := 0x20; b < utf8.RuneSelf; b++ {
		is[b] = b != '"' && b != '\\' && b != '<' && b != '>' && b != '&'
	}
	return is
}()

const hexDigits = "0123456789abcdef"

func (w *writing) text(key, s string) {
	b := append(append(w.b, key...), '"')
	from := 0
	for at := 0; at < len(s); {
		c := s[at]
		if plain[c] {
			at++
			continue
		}
		if c < utf8.RuneSelf {
			b = escaped(append(b, s[from:at]...), c)
			at++
			from = at
			continue
		}
		r, size := utf8.DecodeRuneInString(s[at:])
		switch {
		case r == utf8.RuneError && size == 1:
			b = append(append(b, s[from:at]...), `\ufffd`...)
			from = at + size
		case r == '\u2028' || r == '\u2029': // line ends to JavaScript
			b = append(append(b, s[from:at]...), `\u202`...)
			b = append(b, hexDigits[r&15])
			from = at + size
		}
		at += size
	}
	w.b = append(append(b, s[from:]...), '"')
}

func escaped(b []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(b, '\\', c)
	case '\n':
		return append(b, '\\', 'n')
	case '\t':
		return append(b, '\\', 't')
	case '\r':
		return append(b, '\\', 'r')
	case '\b':
		return append(b, '\\', 'b')
	case '\f':
		return append(b, '\\', 'f')
	}
	return append(b, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
}
