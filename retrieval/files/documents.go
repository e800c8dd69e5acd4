package files

import (
	"maps"

	"github.com/writbus/writ/retrieval/artifact"
)

// documents are those of a snapshot, by path. They do not change; with makes
// others, which share what is the same.
type documents struct {
	base  map[string]*Info
	over  map[string]*Info // in place of base's; nil for what left
	tally Tally
}

// Tally counts what a snapshot holds.
type Tally struct {
	Documents int
	Types     map[artifact.Type]int
	Languages map[string]int
	Bytes     int64
	Symbols   int
}

// mostOver is how many documents may differ from those that are shared before
// all are put together.
const mostOver = 512

func (d documents) get(path string) *Info {
	if i, there := d.over[path]; there {
		return i
	}
	return d.base[path]
}

// each calls f with every document, in no order.
func (d documents) each(f func(path string, i *Info)) {
	for path, i := range d.base {
		if _, other := d.over[path]; !other {
			f(path, i)
		}
	}
	for path, i := range d.over {
		if i != nil {
			f(path, i)
		}
	}
}

// with are the documents with some in place of those with the same paths, and
// without those that are nil.
func (d documents) with(changes map[string]*Info) documents {
	next := documents{base: d.base, over: maps.Clone(d.over), tally: d.tally.clone()}
	for path, i := range changes {
		next.tally.add(d.get(path), -1)
		next.tally.add(i, 1)
	}
	if len(d.over)+len(changes) > mostOver {
		next.base, next.over = make(map[string]*Info, next.tally.Documents), nil
		d.each(func(path string, i *Info) {
			if _, other := changes[path]; !other {
				next.base[path] = i
			}
		})
		for path, i := range changes {
			if i != nil {
				next.base[path] = i
			}
		}
		return next
	}
	if next.over == nil {
		next.over = make(map[string]*Info, len(changes))
	}
	maps.Copy(next.over, changes)
	return next
}

func (t Tally) clone() Tally {
	t.Types, t.Languages = maps.Clone(t.Types), maps.Clone(t.Languages)
	if t.Types == nil {
		t.Types, t.Languages = map[artifact.Type]int{}, map[string]int{}
	}
	return t
}

// add counts a document, or takes it away; nil is none.
func (t *Tally) add(i *Info, sign int) {
	if i == nil {
		return
	}
	t.Documents += sign
	t.Bytes += int64(sign) * i.Size
	t.Symbols += sign * i.SymbolCount
	count(t.Types, i.Type, sign)
	count(t.Languages, i.Language, sign)
}

// count counts in a map that holds no zeros.
func count[K comparable](in map[K]int, key K, sign int) (now int) {
	if now = in[key] + sign; now == 0 {
		delete(in, key)
	} else {
		in[key] = now
	}
	return now
}
