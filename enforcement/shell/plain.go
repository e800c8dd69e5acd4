package shell

import (
	"slices"
	"strings"

	"github.com/writbus/writ/schemas/lazyregexp"
)

// maxPlainLine is the longest plain line, in bytes.
const maxPlainLine = 4096

// plainPrograms are the programs that a plain line may run. Each only reads,
// with every option that Analyse takes for reading; what they read cannot make
// them run anything. Some ask a service that a hold keeps out of reach. What an agent may ask of writ has a list of its own.
var plainPrograms = setOf(`
	: basename cat cd cksum cmp comm cut date df dirname dmesg du echo expand expr factor
	false file find fold grep egrep fgrep head id jq join ls md5sum nl nproc od paste
	lsof netstat printenv pwd readlink realpath rev rg seq sha1sum sha256sum sha512sum sleep sort ss stat
	strings sum tac tail test tr tree true tty type uname uniq wc which whoami writ atq`)

// plainFirst are the programs of which a plain line may run what begins with one of
// these words, or a pair of them: behind an option nobody knows whether a word is its
// value. But for git they are those that act elsewhere, whose sockets, rights and data
// at home a hold keeps away; "" is any word.
var plainFirst = map[string]map[string]bool{
	"git": setOf(`
		blame branch cat-file describe diff diff-tree grep log ls-files ls-tree merge-base
		name-rev reflog remote rev-list rev-parse shortlog show show-ref status tag var version`),
	"gh": setOf(`pr:view pr:list pr:checks pr:status pr:diff issue:view issue:list issue:status run:list run:view repo:view release:list release:view
		workflow:list workflow:view`),
	"aws": {"": true}, "gcloud": {"": true}, "az": {"": true},
	"kubectl": setOf("get describe logs top explain version api-resources api-versions cluster-info events"),
	"helm":    setOf("list ls get status history version"),
	"docker":  plainDocker, "podman": plainDocker, "nerdctl": plainDocker,
	"docker-compose": setOf("ps logs images top port version ls"),
	"incus":          setOf("list info version"), "lxc": setOf("list info version"),
	"busctl":    setOf("list"),
	"launchctl": setOf("list print"), "crontab": setOf("-l"), "screen": setOf("-ls -list"),
	"tmux": setOf("ls list-sessions list-windows list-panes list-clients lsw lsp lsc has-session has display-message capture-pane show-options show-environment"),
}

// plainDocker are words of docker's; of compose no option stands before them that names
// files, in which others are named.
var plainDocker = setOf(`ps images inspect logs version info stats top port diff history events image:ls image:inspect image:history
	container:ls container:inspect container:logs container:stats container:top container:port network:ls network:inspect volume:ls volume:inspect
	context:ls context:show context:inspect system:df system:info
	compose:ps compose:logs compose:images compose:top compose:port compose:version compose:ls`)

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
		for len(words) > 1 && (words[1] == "--no-pager" || shows[words[0]] == units && before.MatchString(words[1])) {
			words = append(words[:1:1], words[2:]...)
		}
		if !plainPrograms[words[0]] && !beginsPlain(words) || namesMore(words) {
			return false
		}
	}
	return true
}

// before are the options that say, before a subcommand, whose units are meant and how
// they are shown. None takes the word behind it.
var before = only(`[alqr]+|-(all|failed|full|no-legend|no-pager|plain|quiet|user|(json|output|state|type)=[\w,-]+)`)

// beginsPlain reports a program of plainFirst with its words, or one that shows units,
// with nothing else or what only reads.
func beginsPlain(words []string) bool {
	first := plainFirst[words[0]]
	return shows[words[0]] == units && (len(words) == 1 || slices.Contains(registry()[words[0]].reads, words[1])) ||
		len(words) > 1 && (first[""] || first[words[1]] || len(words) > 2 && first[words[1]+":"+words[2]])
}

// more are the words by which a program reads files that no word names – those of a
// list, those behind the links in a folder – or a part of a word does, has another
// program read, reckons with a word, as zsh's test does, goes back, or sets the system's
// clock: with one of them it is only held that it does no more.
var more = map[string]*lazyregexp.Regexp{
	"aws": lazyregexp.New(`fileb?://`), "az": lazyregexp.New(`^([^=]*=)?@`), "gcloud": lazyregexp.New(`^--[^=]*file`),
	"cd": lazyregexp.New(`^[-+]`), "git": lazyregexp.New(`%[-+ ]?G|%\(sig`), "date": lazyregexp.New(`^[0-9]`), "jq": lazyregexp.New(`import|include`), "kubectl": lazyregexp.New(`file=`),
	"grep": dereferences, "egrep": dereferences, "fgrep": dereferences,
	"strings": lazyregexp.New(`^@`), "test": lazyregexp.New(`[[$]|^-t`),
}

var dereferences = lazyregexp.New(`^-[^-]*R|^--de`)

// shows are the options that are known to do no more than show something, of programs
// that have others: by those they write, run a program, act, or read more than is named. A
// subcommand of git that has an entry is read by it.
var shows = map[string]*lazyregexp.Regexp{
	"docker": containers, "podman": containers, "nerdctl": containers, "docker-compose": containers, "kubectl": clusters, "helm": clusters,
	"systemctl": units, "loginctl": units, "busctl": units, "resolvectl": units, "networkctl": units, "hostnamectl": units, "localectl": units, "timedatectl": units,
	"incus": instances, "lxc": instances, "atq": only(`V|q.*`), "crontab": only(`l|u.*`), "screen": only(`ls|list`), "launchctl": only(``),
	"tmux": only(`[0-9]+|[aegJNpqsvwA]+|[aegJNpqsw]*[cFSEt].*`),
	"gh": only(`[aAbBcdDeEHijJlLmOpqrRsStuvy].*|-(` +
		`all|app|assignee|attempt|author|base|branch|color|comments|commit|conflict-status|created|draft|event|exclude-drafts|exclude-pre-releases|exit-status|` +
		`fail-fast|head|help|interval|job|jq|json|label|limit|log|log-failed|mention|milestone|name-only|order|patch|ref|repo|required|search|state|status|template|` +
		`user|verbose|watch|workflow|yaml)(=.*)?`),
	// What others have open is not to be seen from within a hold.
	"dmesg": only(`[TtxkuredwL]+|-(ctime|decode|follow|kernel|level|facility|since|until)(=.*)?`),
	"lsof":  only(`[lnPRtUab]*([cgipsu].*)?`), "netstat": only(`[tuwxlnpaesriWv46]+`), "ss": only(`[HOaeilmnopstuwx460]+`),
	"date": only(`[uRn]+|[uR]*[dIr].*|-(date|iso-8601|reference|rfc-3339|rfc-email|utc)(=.*)?`),
	"file": only(`[bhiIkLNrsS0]+|-(brief|dereference|extension|keep-going|mime|mime-encoding|mime-type|no-dereference|raw)`),
	"find": only(`[0-9].*|[HLPEdx]|O[0-3]|(i?(name|path|wholename|regex|lname)|[acm](min|time)|newer[acmBt]*|x?type|(max|min)depth|size|empty|print0?|printf|prune|not|and|or|o|a|perm|` +
		`[ugoa]*[+=][rwxst]+|user|group|uid|gid|links|inum|ls|quit|depth|mount|xdev|readable|writable|executable|true|false|samefile|regextype|daystart|noleaf)`),
	"jq": only(`[rncsSjaCMeR]+|-(arg|args|argjson|ascii-output|color-output|compact-output|exit-status|indent|join-output|jsonargs|monochrome-output|null-input|raw-input|raw-output|` +
		`rawfile|seq|slurp|slurpfile|sort-keys|stream|tab|unbuffered|version)`),
	"rg": only(`[^-Lz]*|-(no-)?(after-context|before-context|byte-offset|case-sensitive|color|column|context|count|count-matches|crlf|engine|files|files-with-matches|` +
		`files-without-match|filename|fixed-strings|glob|heading|help|hidden|iglob|ignore|ignore-case|ignore-vcs|invert-match|json|line-number|line-regexp|max-columns|` +
		`max-count|max-depth|max-filesize|messages|multiline|multiline-dotall|null|only-matching|passthru|pcre2|pretty|quiet|regexp|replace|smart-case|sort|sortr|stats|text|threads|` +
		`trim|type|type-list|type-not|unrestricted|version|vimgrep|with-filename|word-regexp)(=.*)?`),
	"sort": only(`[^-T]*|-(check|field-separator|general-numeric-sort|human-numeric-sort|ignore-case|ignore-leading-blanks|key|month-sort|numeric-sort|reverse|stable|unique|` +
		`version-sort|zero-terminated)(=.*)?`),
	"strings": only(`[0-9]+|[aefnostw].*|-(all|bytes|encoding|print-file-name|radix)(=.*)?`),
	"tree":    only(`[^-oR]*|-(charset|device|dirsfirst|du|filelimit|filesfirst|gitignore|help|ignore-case|inodes|matchdirs|noreport|prune|si|sort|timefmt|version)(=.*)?`),

	"git": only(`[^-O][^O]*|-(no-)?(abbrev|abbrev-commit|abbrev-ref|after|all|always|ancestry-path|author|author-date-order|before|bisect|boundary|branch|branches|cached|cc|check|` +
		`cherry-mark|cherry-pick|color|color-moved|color-words|combined|committer|compact-summary|count|cumulative|date|date-order|decorate|deduplicate|deleted|diff-algorithm|` +
		`diff-filter|dirstat|dirty|email|error-unmatch|exact-match|exclude|exclude-standard|exit-code|find-copies|find-renames|first-parent|fixed-strings|follow|format|full-diff|` +
		`full-history|full-index|full-name|full-tree|function-context|git-common-dir|git-dir|glob|graph|grep|heads|histogram|ignore-all-space|ignore-blank-lines|ignore-case|ignored|` +
		`ignore-space-at-eol|ignore-space-change|ignore-submodules|independent|inter-hunk-context|invert-grep|is-ancestor|is-bare-repository|is-inside-git-dir|is-inside-work-tree|` +
		`left-only|left-right|line-porcelain|long|match|max-count|max-parents|merge-base|merges|min-parents|minimal|modified|name-only|no-commit-id|no-ext-diff|no-textconv|objects|name-status|no-index|null|numbered|numstat|` +
		`octopus|oneline|others|parents|patch|patch-with-stat|patience|pickaxe-all|pickaxe-regex|porcelain|pretty|quiet|raw|reflog|refs|relative|relative-date|remotes|remove-empty|` +
		`renames|reverse|right-only|shortstat|short|show-cdup|show-prefix|show-stash|show-toplevel|simplify-by-decoration|simplify-merges|since|skip|sparse|stage|staged|stat|summary|` +
		`symbolic|symbolic-full-name|tags|text|topo-order|unified|unmerged|until|untracked-files|verify|walk-reflogs|word-diff|word-diff-regex)(=.*)?`),
	"git branch": refs(`arv`, `remotes|show-current`), "git tag": refs(`n0-9`, ``), "git remote": only(`v|-verbose|-all|-push`),
	"git grep": only(`[^-O][^O]*|-(all-match|and|break|cached|color|column|count|extended-regexp|files-with-matches|files-without-match|fixed-strings|full-name|function-context|` +
		`heading|ignore-case|invert-match|line-number|max-count|max-depth|name-only|not|null|only-matching|or|perl-regexp|quiet|show-function|text|threads|untracked|word-regexp)(=.*)?`),
}

var (
	containers = only(`[afilnqst]+|n[0-9]+|-(all|digests|filter|follow|format|help|last|latest|no-stream|no-trunc|quiet|services|since|size|status|tail|time|` +
		`timestamps|type|until|version)(=.*)?`)
	clusters = only(`[Apqw]*([clnovL].*)?|-(all|all-containers|all-namespaces|api-group|api-version|chunk-size|client|container|containers|context|field-selector|` +
		`filter|help|ignore-not-found|kube-context|label-columns|limit|max|namespace|namespaced|no-headers|output|prefix|previous|recursive|request-timeout|revision|selector|short|` +
		`show-kind|show-labels|since|since-time|sort-by|subresource|tail|timestamps|types|verbs|version|watch|watch-only)(=.*)?`)
	units = only(`[alqr46]+|[cinopt].*|-(after|all|before|class|failed|full|interface|json|legend|lines|no-ask-password|no-legend|no-pager|output|plain|property|quiet|` +
		`recursive|reverse|show-types|state|system|type|user|value|version)(=.*)?`)
	instances = only(`[cf].*|-(all-projects|columns|fast|format|project|resources|show-log)(=.*)?`)
)

// only is the form of those options alone that stand behind a first dash.
func only(options string) *lazyregexp.Regexp { return lazyregexp.New(`^-(` + options + `|-)?$`) }

// refs are the options that list refs, with letters and names of their own.
func refs(letters, names string) *lazyregexp.Regexp {
	return only(`[liq` + letters + `]+|-(abbrev|all|color|column|contains|format|ignore-case|list|merged|no-abbrev|no-color|no-column|no-contains|no-merged|points-at|sort|` +
		names + `)(=.*)?`)
}

// attached is a name of a file behind the letter of an option, in one word; a sole
// slash separates fields.
var attached = lazyregexp.New(`^-[^-].+/|^-[^-]/.`)

// namesMore reports whether words may name a file by a part of a word, or read more
// than they name.
func namesMore(words []string) bool {
	if words[0] == "cd" && len(words) > 2 {
		return true // of two words zsh makes one
	}
	unsure, sure := more[words[0]], shows[words[0]]
	if own := shows[words[0]+" "+words[min(1, len(words)-1)]]; own != nil {
		sure = own
	}
	for _, w := range words[1:] {
		if unsure != nil && unsure.MatchString(w) || sure != nil && strings.HasPrefix(w, "-") && !sure.MatchString(w) || attached.MatchString(w) {
			return true
		}
	}
	return false
}

// readsNothing are the programs of plain lines that read no file's content.
var readsNothing = setOf(": basename cd dirname echo expr factor false id ls printenv pwd readlink realpath seq sleep stat test true tty type uname which whoami")

// ReadsFiles reports whether a command of a plain line may read what is in the files
// that its words name; what acts elsewhere is judged by itself.
func ReadsFiles(words []string) bool {
	return !readsNothing[words[0]] && (words[0] == "git" || plainFirst[words[0]] == nil)
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
var keywords = setOf(`
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
