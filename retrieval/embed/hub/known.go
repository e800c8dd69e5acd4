package hub

import (
	_ "embed" // known.txt
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// ErrUnknown is returned by [Find]; the error names the models there are.
var ErrUnknown = errors.New("hub: unknown model")

// ErrUnpinned is returned by [Pull] for a model whose files this release has no
// sums of; the error says how to use it all the same.
var ErrUnpinned = errors.New("hub: the sums of its files are not known to this release")

// File is one file of a model.
type File struct {
	Path   string // below the model's folder and its URL, slash-separated
	Size   int64  // bytes
	SHA256 string // hexadecimal
}

// Model is one that can be pulled.
type Model struct {
	Name    string // of the folder, and for people
	Summary string
	License string // SPDX
	Dim     int    // dimensions of its vectors
	URL     string // its files are below, at a fixed revision
	Files   []File // all that shape its vectors; none: it is not pulled, but fetched by hand
	About   int64  // bytes of a model without files
}

// Size is that of all files, bytes.
func (m Model) Size() int64 {
	n := m.About
	for _, f := range m.Files {
		n += f.Size
	}
	return n
}

//go:embed known.txt
var knownText string

// known are the models of known.txt, in its order.
var known = sync.OnceValue(func() (all []Model) {
	for _, paragraph := range strings.Split(strings.ReplaceAll(knownText, "\r", ""), "\n\n")[1:] {
		lines := strings.Split(strings.TrimSpace(paragraph), "\n")
		m := Model{Summary: lines[1]}
		scan(lines[0], &m.Name, &m.License, &m.Dim, &m.URL)
		for _, line := range lines[2:] {
			if about, is := strings.CutPrefix(line, "about "); is {
				scan(about, &m.About)
				continue
			}
			var f File
			scan(line, &f.SHA256, &f.Size, &f.Path)
			m.Files = append(m.Files, f)
		}
		all = append(all, m)
	}
	return all
})

// scan reads the words of a line of known.txt.
func scan(line string, into ...any) {
	if _, err := fmt.Sscan(line, into...); err != nil {
		panic("hub: known.txt: " + line + ": " + err.Error())
	}
}

// Known are the models that can be pulled. Do not modify them.
func Known() []Model { return slices.Clone(known()) }

// Find returns a model by its name, in any case.
func Find(name string) (Model, error) {
	var names []string
	for _, m := range known() {
		if strings.EqualFold(m.Name, name) {
			return m, nil
		}
		names = append(names, m.Name)
	}
	return Model{}, fmt.Errorf("%w: %q; these are known: %s", ErrUnknown, name, strings.Join(names, ", "))
}
