package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Opening /dev/fd/3 opens the file behind the descriptor anew, for writing even
// where the descriptor only reads. So what is opened for reading is kept, by
// descriptor, and counts as written once its descriptor is written by that name.

// unknownDescriptor stands for all descriptors.
const unknownDescriptor = "*"

// descriptor is the descriptor that a redirection sets.
func descriptor(r *syntax.Redirect, usual string) string {
	switch {
	case r.N == nil:
		return usual
	case strings.Trim(r.N.Value, "0123456789") == "":
		return r.N.Value
	}
	return unknownDescriptor
}

// openedFor notes a file opened for reading.
func (w *place) openedFor(fd string, file arg) {
	if file.subst != nil || file.known && device(file.val) {
		return
	}
	name := file.val
	if !file.known {
		if name, _ = file.folder(); name == "" {
			name = "."
		}
	}
	paths, _ := w.resolve(name)
	if files := w.a.opened[fd]; len(files) < maxItems {
		w.a.opened[fd] = append(files, paths...)
	}
}

// sameFile notes a descriptor that becomes a copy of another one.
func (w *place) sameFile(r *syntax.Redirect) {
	from := strings.TrimSuffix(r.Word.Lit(), "-")
	if from == "" || strings.Trim(from, "0123456789") != "" {
		return
	}
	to := descriptor(r, map[syntax.RedirOperator]string{syntax.DplIn: "0", syntax.DplOut: "1"}[r.Op])
	if files := w.a.opened[from]; len(files) > 0 && len(w.a.opened[to]) < maxItems {
		w.a.opened[to] = append(w.a.opened[to], files...)
	}
}

// reopens notes that a descriptor is written by its name in /dev or /proc.
func (a *analysis) reopens(p string) {
	switch p {
	case "/dev/stdin":
		a.reopened["0"] = true
	case "/dev/stdout":
		a.reopened["1"] = true
	case "/dev/stderr":
		a.reopened["2"] = true
	default:
		if i := strings.LastIndex(p, "/fd/"); i >= 0 {
			a.reopened[p[i+len("/fd/"):]] = true
		}
	}
}

// reopen records the files behind descriptors that are written by name.
func (a *analysis) reopen() {
	for fd, files := range a.opened {
		if !a.reopened[fd] && (fd != unknownDescriptor || len(a.reopened) == 0) {
			continue
		}
		for _, p := range files {
			a.addPath(p, true)
			a.addMention(p)
			a.reason("", "writes "+p+" through its descriptor")
		}
	}
}
