package plan

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// files lists the paths the section names, and those of them that are to be
// gone when the plan has been carried out.
func (s *section) files() (all, gone []string) {
	for _, b := range s.blocks {
		for _, m := range b.paths() {
			if !slices.Contains(all, m.path) {
				all = append(all, m.path)
			}
			if m.gone && !slices.Contains(gone, m.path) {
				gone = append(gone, m.path)
			}
		}
	}
	return all, gone
}

type mention struct {
	path string
	gone bool
}

// paths finds the paths in one block: in code spans leniently, in running
// text only what cannot be a word, and in links the text or else a relative
// destination.
func (b block) paths() []mention {
	type piece struct {
		text string // what stands there
		path string // the path it names, if it does
	}
	var pieces []piece
	first := true
	for _, s := range b.spans {
		if s.auto {
			continue
		}
		if s.code {
			p := piece{text: s.text}
			if t := strings.TrimSpace(s.text); pathLike(t, true) {
				p.path = clean(t)
			}
			pieces = append(pieces, p)
			first = false
			continue
		}
		linked := s.link == ""
		fields := strings.Fields(s.text)
		for i, w := range fields {
			p := piece{text: w}
			t := withoutEdges(w)
			lead := first && b.kind != paragraph && (i+1 == len(fields) || !startsWord(fields[i+1]))
			if pathLike(t, false) || lead && strings.Contains(t, "/") && pathLike(t, true) || lead && bareName[t] {
				p.path = clean(t)
				linked = true
			}
			pieces = append(pieces, p)
			first = false
		}
		if !linked && !strings.Contains(s.link, ":") && pathLike(s.link, true) {
			pieces = append(pieces, piece{path: clean(s.link)})
		}
	}
	var out []mention
	removing := len(pieces) > 0 && removal.MatchString(strings.Trim(pieces[0].text, edgePunctuation))
	for i, p := range pieces {
		if p.path == "" {
			continue
		}
		out = append(out, mention{path: p.path, gone: removing || i+1 < len(pieces) && leaves(pieces[i+1].text, pieces[min(i+2, len(pieces)-1)].text)})
	}
	return out
}

// withoutEdges takes the punctuation of the sentence from a word, and leaves the
// brackets whose other half is within: [id]/page.tsx.
func withoutEdges(w string) string {
	t := strings.Trim(w, edgePunctuationOfPaths)
	at := strings.Index(w, t)
	before, after := w[:at], w[at+len(t):]
	for _, pair := range []string{"[]", "()", "{}"} {
		opened, closed := pair[:1], pair[1:]
		for strings.Count(t, closed) > strings.Count(t, opened) && strings.HasSuffix(before, opened) {
			t, before = opened+t, strings.TrimSuffix(before, opened)
		}
		for strings.Count(t, opened) > strings.Count(t, closed) && strings.HasPrefix(after, closed) {
			t, after = t+closed, strings.TrimPrefix(after, closed)
		}
	}
	return t
}

const edgePunctuationOfPaths = ",;:!?()[]{}<>\"'“”‘’«»*`–—…"

var removal = regexp.MustCompile(`(?i)^(?:delet(?:e|ed|es)|remov(?:e|ed|es)|drop(?:ped|s)?)$`)

// leaves reads the words right behind a path: an arrow (it is renamed), or
// that it is deleted, perhaps behind a dash.
func leaves(next, afterNext string) bool {
	switch trimmed := strings.Trim(next, edgePunctuation+"-"); {
	case next == "→" || next == "->" || next == "=>":
		return true
	case removal.MatchString(trimmed):
		return true
	case trimmed == "":
		return removal.MatchString(strings.Trim(afterNext, edgePunctuation+"-"))
	}
	return false
}

func startsWord(s string) bool {
	return s != "" && strings.ContainsAny(s[:1], "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")
}

// bareName are file names without an extension that people know as files.
var bareName = wordSet(`Makefile makefile GNUmakefile Dockerfile Containerfile Jenkinsfile Vagrantfile Procfile
	Rakefile Gemfile Brewfile Justfile justfile Taskfile Caddyfile Tiltfile Earthfile LICENSE LICENCE COPYING
	README CHANGELOG NOTICE AUTHORS CONTRIBUTORS CODEOWNERS VERSION BUILD WORKSPACE Pipfile Podfile Cartfile
	Fastfile Appfile Guardfile Capfile Berksfile Cheffile Puppetfile Snakefile SConstruct SConscript`)

// notFiles are words with a dot that are names of products, abbreviations or
// hosts rather than files.
var notFiles = wordSet(`e.g i.e a.m p.m node.js next.js vue.js nuxt.js three.js d3.js express.js react.js
	ember.js asp.net ado.net vb.net socket.io etc.etc u.s w.r.t`)

var (
	fileEnding = regexp.MustCompile(`\.(?:[a-z][a-z0-9_+]{0,11}|[A-Z]{1,4}|[a-z0-9]{1,3}[a-z][a-z0-9]*|[1-9])$`)
	hostEnd    = regexp.MustCompile(`\.(?:com|org|net|io|dev|edu|gov)$`)
	pathRunes  = regexp.MustCompile(`^[\pL\pN\pM_.\-/\\@+~#$%&=*?\[\]{}(),!: ]+$`)
	lineSuffix = regexp.MustCompile(`(?::\d+(?::\d+|-\d+)?|#L\d+(?:-L?\d+)?)$`)
	drive      = regexp.MustCompile(`^[A-Za-z]:[\\/]`)
	dotName    = regexp.MustCompile(`^\.[A-Za-z][\w.-]*$`)
	version    = regexp.MustCompile(`^[vV]?\d+(?:\.\d+)+[a-z]?\d*$`)
)

// pathLike tells whether t is written like a path. Lenient is for code spans,
// where a folder without an extension or a name like Makefile is one too.
func pathLike(t string, lenient bool) bool {
	t = lineSuffix.ReplaceAllString(t, "")
	if t == "" || len(t) > 1024 || !pathRunes.MatchString(t) || strings.Contains(t, "://") {
		return false
	}
	if strings.Contains(t, "()") || strings.ContainsAny(t, "=") || strings.HasPrefix(t, "-") {
		return false
	}
	if strings.Contains(t, ":") && !drive.MatchString(t) {
		return false
	}
	t = strings.ReplaceAll(t, `\`, "/")
	if version.MatchString(t) || notFiles[strings.ToLower(strings.TrimSuffix(t, "."))] || strings.HasSuffix(t, ".") && !strings.Contains(t, "/") {
		return false
	}
	slashes := strings.Count(strings.TrimSuffix(t, "/"), "/")
	named := strings.HasSuffix(t, "/") && len(t) > 1 || strings.HasPrefix(t, "./") || strings.HasPrefix(t, "../") ||
		strings.HasPrefix(t, "~/")
	ends := fileEnding.MatchString(t) && strings.Trim(path.Base(t), ".*") != ""
	if strings.Contains(t, " ") {
		return lenient && ends
	}
	switch {
	case !strings.ContainsFunc(t, func(r rune) bool { return r != '.' && r != '/' && r != '*' }):
		return strings.Contains(t, "/") && strings.Contains(t, "*")
	case named:
		return true
	case ends && (slashes > 0 || !hostEnd.MatchString(t)):
		return true
	case dotName.MatchString(t):
		return lenient || len(t) > 3
	case bareName[path.Base(t)] && (lenient || slashes > 0):
		return true
	case slashes >= 2 && !strings.HasPrefix(t, "/"):
		return lenient || strings.ToLower(t) == t
	}
	return lenient && slashes >= 1
}

// clean gives the path as the plan's reader would write it again.
func clean(t string) string {
	t = lineSuffix.ReplaceAllString(t, "")
	return path.Clean(strings.ReplaceAll(t, `\`, "/"))
}
