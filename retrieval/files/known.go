package files

import (
	"cmp"
	"slices"
	"strings"
)

// known are the files that are remembered, in the index or not, and what there is
// to say of all of them together.
type known struct {
	all      map[string]*file
	folders  map[string]int // the files and the folders with files in each
	left     map[Reason]int
	problems map[string]string // by path
	moved    bool              // the problems, since they were listed
}

func newKnown(n int) *known {
	return &known{all: make(map[string]*file, n), folders: map[string]int{}, left: map[Reason]int{}, problems: map[string]string{}}
}

func (k *known) put(path string, f *file) {
	before := k.all[path]
	k.all[path] = f
	if before == nil {
		k.inFolders(path, 1)
	}
	k.account(path, before, f)
}

func (k *known) remove(path string) {
	before := k.all[path]
	if before == nil {
		return
	}
	delete(k.all, path)
	k.inFolders(path, -1)
	k.account(path, before, nil)
}

// inFolders counts a file that came or left in its folder, and a folder that came
// or left with it in that above.
func (k *known) inFolders(path string, sign int) {
	for at := strings.LastIndexByte(path, '/'); at > 0; at = strings.LastIndexByte(path, '/') {
		path = path[:at]
		if now := count(k.folders, path, sign); now > 1 || now == 1 && sign < 0 {
			return
		}
	}
}

func (k *known) account(path string, before, now *file) {
	if before != nil && before.left != "" {
		count(k.left, before.left, -1)
	}
	if now != nil && now.left != "" {
		count(k.left, now.left, 1)
	}
	was, why := k.problems[path], now.trouble()
	switch {
	case was == why:
		return
	case why == "":
		delete(k.problems, path)
	default:
		k.problems[path] = why
	}
	k.moved = true
}

// trouble is what is to say of a file that could not be indexed as it should.
func (f *file) trouble() string {
	switch {
	case f == nil:
		return ""
	case f.problem != "":
		return f.problem
	case f.info != nil && f.info.Replaced > 0:
		return notUTF8(f.info.Replaced)
	}
	return ""
}

// list are the problems of the files and some others, by path.
func (k *known) list(others []Problem) []Problem {
	k.moved = false
	all := slices.Clone(others)
	for path, why := range k.problems {
		all = append(all, Problem{path, why})
	}
	slices.SortFunc(all, func(a, b Problem) int { return cmp.Or(strings.Compare(a.Path, b.Path), strings.Compare(a.Why, b.Why)) })
	return all
}
