package files

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/writbus/writ/retrieval/artifact"
	"github.com/writbus/writ/schemas/gitignore"
	"github.com/writbus/writ/schemas/glob"
)

// Reason says why a file is not in the index. It is a key of what commands
// print; never change.
type Reason string

// The reasons.
const (
	ByVCS        Reason = "vcs"        // a folder of version control
	Private      Reason = "private"    // Writ's own data
	ByGitignore  Reason = "gitignore"  // a rule of a .gitignore
	ByWritignore Reason = "writignore" // a rule of a .writignore
	Hidden       Reason = "hidden"     // begins with a dot, and no glob names it
	Vendored     Reason = "vendored"   // somebody else's sources
	Generated    Reason = "generated"  // a program wrote it
	Binary       Reason = "binary"     // no text
	TooLarge     Reason = "too-large"  // above artifact.MaxFileBytes
	Data         Reason = "data"       // more data than people write, and no glob asks for it
	Secret       Reason = "secret"     // named as keys and passwords are
	Link         Reason = "link"       // a symbolic link: what it leads to is found by itself
	Special      Reason = "special"    // a pipe, a socket, a device
	BadName      Reason = "bad-name"   // a line end or another control character, or not UTF-8
	Unreadable   Reason = "unreadable" // the system refuses
	Unselected   Reason = "unselected" // no glob selects it
	Missing      Reason = "missing"    // there is no such file
)

// vcsNames are folders, or files that lead to them, of version control.
var vcsNames = map[string]bool{".git": true, ".hg": true, ".svn": true, ".bzr": true, ".jj": true, "CVS": true, "_darcs": true}

// Versioned says whether a folder is the top of what version control keeps.
func Versioned(root string) bool {
	for name := range vcsNames {
		if isThere(filepath.Join(root, name)) {
			return true
		}
	}
	return false
}

// vendorNames are folders of other people's sources.
var vendorNames = map[string]bool{
	"vendor": true, "node_modules": true, "bower_components": true, "third_party": true, "third-party": true, "thirdparty": true,
	"jspm_packages": true, "site-packages": true, "Godeps": true, "Pods": true, "__pycache__": true,
}

// maxIgnoreFile bounds an ignore file, bytes.
const maxIgnoreFile = 1 << 20

// excludeFile has a repository's own exclusions, in the folder info of what its
// worktrees share.
const excludeFile = "exclude"

// ErrGlob is returned for a glob that cannot be understood.
var ErrGlob = glob.ErrGlob

// selection decides which files of a project are looked at.
type selection struct {
	root  string
	texts []string // of the globs
	globs []glob.Glob
	usual bool // the globs are the defaults
	// private is a folder of nobody's business, from the project; "" for none.
	private string
	above   gitignore.Files // ignore files of the repository's folders above the project
	beside  []string        // folders outside the project in which rules for it lie, or may come to lie
}

// CheckGlobs returns ErrGlob naming the first glob that cannot be understood.
func CheckGlobs(globs []string) error {
	_, err := glob.ParseAll(globs)
	return err
}

// newSelection reads the globs, and the ignore files above the project.
func newSelection(root string, globs []string, private string) (*selection, error) {
	s := &selection{root: root, texts: globs}
	if rel, err := filepath.Rel(root, private); private != "" && err == nil {
		s.private = filepath.ToSlash(rel)
	}
	s.above, s.beside = aboveOf(root)
	var err error
	s.globs, err = glob.ParseAll(globs)
	return s, err
}

// aboveOf reads the ignore files between the top of the repository that holds a
// project and the project, and the repository's own exclusions, and lists the folders
// of these files.
func aboveOf(root string) (all gitignore.Files, folders []string) {
	top := root
	for !isThere(filepath.Join(top, ".git")) {
		parent := filepath.Dir(top)
		if parent == top {
			return nil, nil // in no repository
		}
		top = parent
	}
	rel, err := filepath.Rel(top, root)
	if err != nil {
		return nil, nil
	}
	lead := filepath.ToSlash(rel)
	if lead == "." {
		lead = ""
	}
	info := filepath.Join(commonOf(top), "info")
	if isThere(info) {
		folders = append(folders, info)
	}
	if text, err := readSmall(filepath.Join(info, excludeFile)); err == nil {
		all = append(all, ignoreFile(".git/info/exclude", "", lead, text))
	}
	for dir := top; dir != root; {
		folders = append(folders, dir)
		if text, err := readSmall(filepath.Join(dir, ".gitignore")); err == nil {
			all = append(all, ignoreFile(filepath.Join(dir, ".gitignore"), "", lead, text))
		}
		first, rest, _ := strings.Cut(lead, "/")
		dir, lead = filepath.Join(dir, first), rest
	}
	return all, folders
}

// commonOf is where the repository at a folder keeps what its worktrees share: .git,
// or what a file of that name leads to.
func commonOf(top string) string {
	dir := filepath.Join(top, ".git")
	follow := func(file, prefix string) {
		text, err := readSmall(file)
		to, found := strings.CutPrefix(strings.TrimSpace(text), prefix)
		if err != nil || !found || to == "" {
			return
		}
		if from := filepath.Dir(file); !filepath.IsAbs(to) {
			to = filepath.Join(from, to)
		}
		dir = to
	}
	follow(dir, "gitdir: ")
	follow(filepath.Join(dir, "commondir"), "")
	return dir
}

func ignoreFile(name, base, lead, text string) *gitignore.File {
	f := gitignore.Parse(text)
	f.Name, f.Base, f.Lead = name, base, lead
	return f
}

// where names a rule for people.
func where(f *gitignore.File, r *gitignore.Rule) string {
	return fmt.Sprintf("%s:%d: %s", f.Name, r.Line, strings.TrimSpace(r.Text))
}

func isThere(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

func readSmall(path string) (string, error) {
	stat := os.Stat
	if filepath.Base(path) == ".gitignore" {
		stat = os.Lstat // git follows no link here
	}
	info, err := stat(path)
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() || info.Size() > maxIgnoreFile {
		return "", fmt.Errorf("%s: %w", path, fs.ErrInvalid)
	}
	raw, err := os.ReadFile(path)
	return string(raw), err
}

// folder is what holds for the entries of one folder.
type folder struct {
	path string // from the project, "" for the project
	git  gitignore.Files
	writ gitignore.Files
	// globs are those that select the files in it and below: of a hidden folder,
	// only those that name it.
	globs []glob.Glob
}

// top is the project's own folder.
func (s *selection) top() folder { return s.with(folder{git: s.above, globs: s.globs}, "", verdict{}) }

// with is a folder below another, of which v was said, with the ignore files in
// it.
func (s *selection) with(parent folder, at string, v verdict) folder {
	f := folder{path: at, git: parent.git, writ: parent.writ, globs: parent.globs}
	if v.named != nil {
		f.globs = v.named
	}
	for name, all := range map[string]*gitignore.Files{".gitignore": &f.git, ".writignore": &f.writ} {
		text, err := readSmall(filepath.Join(s.root, filepath.FromSlash(at), name))
		if err == nil {
			*all = append(slices.Clip(*all), ignoreFile(path.Join(at, name), at, "", text))
		}
	}
	return f
}

// verdict is what is said of one path, before anything of it is read.
type verdict struct {
	reason Reason // "" to go on
	detail string
	wanted bool // a .writignore asks for it, whatever else says no
	// named are the globs that name something hidden.
	named []glob.Glob
}

// judge says what the rules say of an entry of a folder.
func (s *selection) judge(in folder, name string, isFolder bool) verdict {
	file := path.Join(in.path, name)
	var v verdict
	switch {
	case vcsNames[name]:
		return verdict{reason: ByVCS, detail: name + " belongs to version control"}
	case s.private != "" && file == s.private:
		return verdict{reason: Private, detail: "it holds Writ's own data"}
	case !printable(name):
		return verdict{reason: BadName, detail: fmt.Sprintf("its name %q holds characters that cannot be printed; rename it", name)}
	}
	if f, r, found := in.writ.Match(file, isFolder); found {
		if !r.Include {
			return verdict{reason: ByWritignore, detail: where(f, r)}
		}
		v.wanted = true
	}
	if !isFolder && !in.selects(file) {
		return verdict{reason: Unselected, detail: "no glob of the index selects it: " + strings.Join(s.texts, ", ")}
	}
	if v.wanted {
		return v
	}
	if f, r, found := in.git.Match(file, isFolder); found && !r.Include {
		return verdict{reason: ByGitignore, detail: where(f, r)}
	}
	if name[0] == '.' {
		v.named = s.naming(name)
	}
	switch {
	case name[0] == '.' && v.named == nil:
		return verdict{reason: Hidden, detail: name + " begins with a dot and no glob names it"}
	case isFolder && vendorNames[name]:
		return verdict{reason: Vendored, detail: "folders named " + name + " hold other people's files; !" + file + "/ in .writignore takes them in"}
	}
	return v
}

func (f folder) selects(file string) bool {
	return glob.Any(f.globs, file)
}

// naming are the globs that name something hidden.
func (s *selection) naming(name string) (globs []glob.Glob) {
	for i, text := range s.texts {
		for part := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == '/' || r == '{' || r == '}' || r == ',' }) {
			if part[0] != '.' {
				continue
			}
			if fits, _ := path.Match(part, name); fits {
				globs = append(globs, s.globs[i])
				break
			}
		}
	}
	return globs
}

func printable(name string) bool {
	return name != "" && utf8.ValidString(name) && strings.IndexFunc(name, func(r rune) bool { return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' }) < 0
}

// judgeFile says what an entry's kind and size say.
func judgeFile(info fs.FileInfo) verdict {
	switch mode := info.Mode(); {
	case mode&fs.ModeSymlink != 0:
		return verdict{reason: Link, detail: "symbolic links are not followed"}
	case !mode.IsRegular():
		return verdict{reason: Special, detail: "it is not a regular file"}
	case info.Size() > artifact.MaxFileBytes:
		return verdict{reason: TooLarge, detail: fmt.Sprintf("it has %d bytes, at most %d are indexed", info.Size(), artifact.MaxFileBytes)}
	}
	return verdict{}
}

// judgeKind says what a file's kind, name and size say. What a .writignore asks
// for is no secret, and data that a glob asks for is not too much.
func (s *selection) judgeKind(file string, info fs.FileInfo, wanted bool) verdict {
	v := judgeFile(info)
	switch {
	case v.reason != "" || wanted:
	case secret(file):
		return verdict{reason: Secret, detail: "it is named as keys and passwords are; !" + file + " in .writignore takes it in"}
	case s.usual && info.Size() > mostOf(file):
		return verdict{reason: Data, detail: fmt.Sprintf("it has %d bytes of data, at most %d are indexed where no path of `writ index build` asks for them", info.Size(), mostOf(file))}
	}
	return v
}
