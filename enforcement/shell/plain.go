package shell

import (
	"strings"

	"github.com/writbus/writ/schemas/lazyregexp"
)

// maxPlainLine is the longest plain line, in bytes.
const maxPlainLine = 4096

// plainPrograms are the programs that a plain line may run. Each only reads,
// with every option that Analyse takes for reading; what they read cannot make
// them run anything. Some ask a service that a hold keeps out of reach. What an agent may ask of writ has a list of its own.
var plainPrograms = setOfWords(`
	: basename cat cd cksum cmp comm cut date df dirname du echo expand expr factor
	false file find fold grep egrep fgrep head id jq join ls md5sum nl nproc od paste
	printenv pwd readlink realpath rev rg seq sha1sum sha256sum sha512sum sleep sort stat
	strings sum tac tail test tr tree true tty type uname uniq wc which whoami writ atq hostnamectl localectl timedatectl`)

// plainFirst are the programs of which a plain line may run what begins with one of
// these words, or two of them. But for git they are those that act elsewhere, whose
// sockets, rights and data at home a hold keeps away; "" is any word.
var plainFirst = map[string]map[string]bool{
	"git": setOfWords(`
		blame branch cat-file describe diff diff-tree grep log ls-files ls-tree merge-base
		name-rev reflog remote rev-list rev-parse shortlog show show-ref status tag var version`),
	"gh": {
		"pr view": true, "pr list": true, "pr checks": true, "pr status": true, "pr diff": true, "issue view": true, "issue list": true, "issue status": true,
		"run list": true, "run view": true, "repo view": true, "release list": true, "release view": true, "workflow list": true, "workflow view": true,
	},
	"aws": {"": true}, "gcloud": {"": true}, "az": {"": true},
	"kubectl": setOfWords("get describe logs top explain version api-resources api-versions cluster-info events"),
	"helm":    setOfWords("list ls get status history version"),
	"docker":  plainDocker, "podman": plainDocker, "nerdctl": plainDocker,
	"docker-compose": setOfWords("ps logs images top port version ls"),
	"incus":          setOfWords("list info version"), "lxc": setOfWords("list info version"),
	"systemctl": setOfWords("status is-active is-enabled is-failed list-units list-unit-files list-timers list-sockets list-jobs show cat"),
	"loginctl":  setOfWords("list-sessions list-users list-seats session-status user-status seat-status show-session show-user show-seat"),
	"busctl":    setOfWords("list"), "resolvectl": setOfWords("status query statistics"), "networkctl": setOfWords("status list"),
	"launchctl": setOfWords("list print"), "crontab": setOfWords("-l"), "screen": setOfWords("-ls -list"),
	"tmux": setOfWords("ls list-sessions list-windows list-panes list-clients lsw lsp lsc has-session has display-message capture-pane show-options show-environment"),
}

// plainDocker are words of docker's; of compose no option stands before them that names
// files, in which others are named.
var plainDocker = map[string]bool{
	"ps": true, "images": true, "inspect": true, "logs": true, "version": true, "info": true, "stats": true, "top": true, "port": true, "diff": true,
	"history": true, "events": true, "image": true, "container": true, "network": true, "volume": true, "context": true, "system": true,
	"compose ps": true, "compose logs": true, "compose images": true, "compose top": true, "compose port": true, "compose version": true, "compose ls": true,
}

func setOfWords(words string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(words) {
		set[w] = true
	}
	return set
}

// Plain reports whether every shell reads a command line in the one way in which
// it is read here: words of letters, digits and a few marks, or text in quotes in
// which nothing has a meaning, joined by &&, ||, ; and |. No word of it is
// expanded, assigned, redirected or a keyword, and each command is one of a
// short list of programs that only read. What such a line does is what Analyse
// says of it, so it may run as it is.
func Plain(line string) bool {
	commands, ok := PlainWords(line)
	if !ok {
		return false
	}
	for _, words := range commands {
		if !plainPrograms[words[0]] && !beginsPlain(words) || words[0] == "sort" && startsProgram(words) || namesMore(words) {
			return false
		}
	}
	return true
}

// beginsPlain reports a program of plainFirst with its words.
func beginsPlain(words []string) bool {
	first := plainFirst[words[0]]
	return len(words) > 1 && (first[""] || first[words[1]] || len(words) > 2 && first[words[1]+" "+words[2]])
}

// plainSort are the long options of sort that start no program; one of the others
// does, and may be shortened.
var plainSort = setOfWords(`
	-- --check --field-separator --general-numeric-sort --human-numeric-sort --ignore-case --ignore-leading-blanks --key --month-sort
	--numeric-sort --reverse --stable --unique --version-sort --zero-terminated`)

// more are the words by which a program reads files that no word names – those of a
// list, those behind the links in a folder – or a part of a word does, has another
// program read, runs what is in a word, as zsh's test does, or sets the system's clock:
// with one of them it is only held that it does no more.
var more = map[string]*lazyregexp.Regexp{
	"aws": lazyregexp.New(`fileb?://`), "az": lazyregexp.New(`^(--[^=]*=)?@`), "gcloud": lazyregexp.New(`^--[^=]*file`),
	"date": lazyregexp.New(`^-[^-]*[sf]|^--(s|fi)|^[0-9]`),
	"file": lazyregexp.New(`^-[^-]*[CfmpzZ]|^--(c|f|mag|no-s|p|u)`),
	"grep": dereferences, "egrep": dereferences, "fgrep": dereferences,
	"jq":      lazyregexp.New(`^-[^-]*[fL]|^--(from-file|library-path)|import|include`),
	"kubectl": lazyregexp.New(`file=`),
	"rg":      lazyregexp.New(`^-[^-]*[Lz]|^--(follow|search-zip)`),
	"sort":    lazyregexp.New(`^-[^-]*T`),
	"strings": lazyregexp.New(`^@`),
	"test":    lazyregexp.New(`[[$]`),
}

var dereferences = lazyregexp.New(`^-[^-]*R|^--de`)

// shows are the options with which a program only shows something, of those that take options of the whole
// program anywhere, by several of which they run another program or keep their data in a folder.
var shows = map[string]*lazyregexp.Regexp{"docker": containers, "podman": containers, "nerdctl": containers, "kubectl": clusters, "helm": clusters}

var (
	containers = lazyregexp.New(`^-([afilnqst]+|n[0-9]+|-(all|digests|filter|follow|format|help|last|latest|no-stream|no-trunc|quiet|services|since|size|status|tail|time|` +
		`timestamps|type|until|version)(=.*)?)$`)
	clusters = lazyregexp.New(`^-([Apqw]*([clnovL].*)?|-(all|all-containers|all-namespaces|api-group|api-version|chunk-size|client|container|containers|context|field-selector|` +
		`filter|help|ignore-not-found|kube-context|label-columns|limit|max|namespace|namespaced|no-headers|output|prefix|previous|recursive|request-timeout|revision|selector|short|` +
		`show-kind|show-labels|since|since-time|sort-by|subresource|tail|timestamps|types|verbs|version|watch|watch-only)(=.*)?)$`)
)

// attached is a name of a file behind the letter of an option, in one word; a sole
// slash separates fields.
var attached = lazyregexp.New(`^-[^-].+/|^-[^-]/.`)

// namesMore reports whether words may name a file by a part of a word, or read more
// than they name.
func namesMore(words []string) bool {
	unsure, sure := more[words[0]], shows[words[0]]
	for _, w := range words[1:] {
		if unsure != nil && unsure.MatchString(w) || sure != nil && strings.HasPrefix(w, "-") && !sure.MatchString(w) || attached.MatchString(w) {
			return true
		}
	}
	return false
}

// readsNothing are the programs of plain lines that read no file's content.
var readsNothing = setOfWords(": basename cd dirname echo expr factor false id ls printenv pwd readlink realpath seq sleep stat test true tty type uname which whoami")

// ReadsFiles reports whether a command of a plain line may read what is in the files
// that its words name; what acts elsewhere is judged by itself.
func ReadsFiles(words []string) bool {
	return !readsNothing[words[0]] && (words[0] == "git" || plainFirst[words[0]] == nil)
}

// startsProgram reports whether words of sort may hold the option by which it
// starts a program.
func startsProgram(words []string) bool {
	for _, w := range words[1:] {
		if name, _, _ := strings.Cut(w, "="); strings.HasPrefix(name, "--") && !plainSort[name] {
			return true
		}
	}
	return false
}

// PlainWords splits a line of the form that Plain describes into its commands and
// their words, whatever the programs are; ok is false for any other line.
func PlainWords(line string) (commands [][]string, ok bool) {
	if len(line) > maxPlainLine {
		return nil, false
	}
	p := plainReader{rest: strings.Trim(line, " ")}
	for {
		words, ok := p.command()
		if !ok {
			return nil, false
		}
		commands = append(commands, words)
		switch p.joint() {
		case "":
			return commands, p.rest == ""
		case ";":
			if p.rest == "" {
				return commands, true
			}
		}
	}
}

// plainReader reads a plain line from its beginning.
type plainReader struct{ rest string }

// keywords are the words that bash or zsh takes for its grammar, or for a sign of
// what follows, where a command may begin; brackets and braces are in no plain
// word.
var keywords = setOfWords(`
	if then else elif fi for foreach while until do done case esac select function repeat end
	in time coproc nocorrect noglob command builtin exec eval -
	alias declare export float integer local readonly typeset`)

// command reads one command. Its first word stands without quotes, has no "="
// and is no keyword.
func (p *plainReader) command() (words []string, ok bool) {
	for {
		p.rest = strings.TrimLeft(p.rest, " ")
		if p.rest == "" || strings.ContainsRune(";&|", rune(p.rest[0])) {
			return words, len(words) > 0
		}
		word, quoted, ok := p.word()
		if !ok {
			return nil, false
		}
		if len(words) == 0 && (quoted || keywords[word] || strings.ContainsAny(word, "=%")) {
			return nil, false
		}
		words = append(words, word)
	}
}

// word reads one word: pieces in quotes and pieces of plain letters.
func (p *plainReader) word() (word string, quoted, ok bool) {
	var b strings.Builder
	for i := 0; ; i++ {
		if p.rest == "" || strings.ContainsRune(" ;&|", rune(p.rest[0])) {
			return b.String(), quoted, i > 0
		}
		switch c := p.rest[0]; {
		case c == '\'' || c == '"':
			text, rest, closed := strings.Cut(p.rest[1:], string(c))
			if !closed || !printable(text) || c == '"' && strings.ContainsAny(text, "$`\\!") {
				return "", false, false
			}
			quoted = true
			b.WriteString(text)
			p.rest = rest
		case plainLetter(c) && (b.Len() > 0 || c != '='): // zsh looks behind empty quotes for the sign of a program's path
			b.WriteByte(c)
			p.rest = p.rest[1:]
		default:
			return "", false, false
		}
	}
}

// joint reads what joins two commands, "" for nothing.
func (p *plainReader) joint() string {
	for _, joint := range []string{"&&", "||", ";", "|"} {
		if rest, found := strings.CutPrefix(p.rest, joint); found {
			if joint == "|" && strings.HasPrefix(rest, "&") || joint == ";" && strings.HasPrefix(rest, ";") {
				return ""
			}
			p.rest = strings.TrimLeft(rest, " ")
			return joint
		}
	}
	return ""
}

// plainLetter reports a byte that has no meaning for a shell anywhere in a word,
// but for "=" and "%" at its beginning.
func plainLetter(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("_@%+=:,./-", c) >= 0
}

func printable(text string) bool {
	for i := range len(text) {
		if text[i] < ' ' || text[i] > '~' {
			return false
		}
	}
	return true
}
