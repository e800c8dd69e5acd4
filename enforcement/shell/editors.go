package shell

import (
	"path"
	"strings"

	"github.com/writbus/writ/schemas/lazyregexp"
)

// sedJudge judges sed: files under -i, and what the script itself writes.
func sedJudge(r *reading) {
	c, p := r.call, r.entry.takes.parse(bsdInPlace(r.args))
	c.unsureIf(p.unsplit, "its script is known only at run time")
	operands := p.operands
	scripts := p.values("-e", "--expression")
	if len(scripts) == 0 && len(p.values("-f", "--file")) == 0 && len(operands) > 0 {
		scripts, operands = operands[:1], operands[1:]
	}
	if p.has("-s", "--debug") && len(scripts) == 0 && len(operands) == 0 {
		return
	}
	c.unsureIf(len(p.values("-f", "--file")) > 0, "its script is in a file")
	parts := make([]string, len(scripts))
	for i, s := range scripts {
		parts[i] = s.val
	}
	if len(scripts) > 0 && !p.has("--sandbox") {
		c.sedScript(strings.Join(parts, "\n"))
	}
	if !p.has("-i", "--in-place") {
		return
	}
	for _, a := range operands {
		c.write(a)
		if suffix, ok := p.last("-i", "--in-place"); ok && a.known {
			c.write(arg{val: backupName(a.val, suffix.val), known: suffix.known})
		}
	}
}

// bsdInPlace drops the empty suffix that sed -i takes as a word of its own on
// BSD and macOS.
func bsdInPlace(args []arg) []arg {
	for i := 0; i+1 < len(args); i++ {
		if args[i].val == "-i" && args[i+1].known && args[i+1].val == "" {
			return append(append([]arg(nil), args[:i+1]...), args[i+2:]...)
		}
	}
	return args
}

// backupName is where sed and perl keep the old file: a suffix, or a pattern in
// which * is the name.
func backupName(name, suffix string) string {
	if !strings.Contains(suffix, "*") {
		return name + suffix
	}
	dir, base := path.Split(name)
	backup := strings.ReplaceAll(suffix, "*", base)
	if strings.Contains(backup, "/") {
		return backup
	}
	return dir + backup
}

// edCommands finds the files that ed writes: the one that it edits, unless it is known
// to be told none of the commands for that, and those that they name.
func edCommands(r *reading) {
	if !r.sh.in.known || strings.ContainsAny(r.sh.in.text, "wW!") {
		for _, a := range r.p.operands {
			r.write(a)
		}
	}
	if !r.sh.in.known {
		return
	}
	for line := range strings.SplitSeq(r.sh.in.text, "\n") {
		if name, ok := strings.CutPrefix(strings.TrimLeft(line, "0123456789,$.% "), "w "); ok {
			r.writeName(strings.TrimSpace(name))
		}
	}
}

// maxOneLiner bounds the Perl code that is looked into, in bytes; longer code is
// a program.
const maxOneLiner = 2 << 10

var (
	// perlActs are the words and signs by which Perl or Ruby code reaches
	// outside the line it works on.
	perlActs     = lazyregexp.New("`|\\b(open|sysopen|opendir|system|exec|spawn|fork|popen|unlink|rename|qx|require|use|do|eval|syswrite|syscall|mkdir|rmdir|symlink|link|truncate|chmod|chown|utime|kill|socket|dbmopen|tie|select|File|Dir|IO|FileUtils|Kernel|Pathname|load|send|instance_eval|CORE|POSIX|DB_File)\\b|%x|\\$\\^I|\\bARGV\\b|(?:^|[^&])&\\s*[\\{\\$]|->\\s*\\(|\\bprintf?\\s*\\{?\\s*[A-Z]{2,}|\\?\\{")
	perlEvalFlag = lazyregexp.New(`\bs([^\w\s])(?:[^\\]|\\.)*?[^\w\s](?:[^\\]|\\.)*?[^\w\s]\w*e`)
	perlModules  = lazyregexp.New(`^(strict|warnings|utf8|List::Util|Data::Dumper|JSON::PP|Scalar::Util|feature)\b`)
)

// perlJudge judges perl and ruby one-liners: the files under -i, and nothing
// else where the code only works on its line.
func perlJudge(r *reading) {
	c, p := r.call, r.p
	var code []string
	for _, o := range p.opts {
		switch o.name {
		case "-e", "-E":
			code = append(code, o.value.val)
		case "-M", "-m":
			c.unsureIf(!perlModules.MatchString(o.value.val), "loads a module")
		case "-v", "-V":
			if len(p.operands) == 0 && len(code) == 0 {
				return
			}
		case "-S", "-x", "-d", "-I", "-r", "-c":
			c.unsure("loads code")
		}
	}
	var said []string // with its modules
	for _, a := range c.args {
		said = append(said, a.val)
	}
	c.speaksItself(strings.Join(said, "\n"))
	files := p.operands
	for _, a := range files {
		// Perl opens the names it reads as open does: one may be a command.
		c.unsureIf(!a.known && !a.glob || strings.ContainsAny(a.val, "<>|"), "a name that may be a command")
	}
	switch {
	case len(code) == 0:
		c.unsure("runs a script")
		c.code(c.sh.in.text)
		return
	case perlDangerous(strings.Join(code, "\n")):
		c.unsure("its code may do anything")
		c.code(strings.Join(code, "\n"))
	}
	if !p.has("-i") {
		return
	}
	for _, a := range files {
		c.write(a)
		if suffix, ok := p.last("-i"); ok && a.known {
			c.write(arg{val: backupName(a.val, suffix.val), known: suffix.known})
		}
	}
}

func perlDangerous(code string) bool {
	return len(code) > maxOneLiner || !isKnown(code) || perlActs.MatchString(code) || perlEvalFlag.MatchString(code)
}

// patchJudge judges patch: the operand, or the names in the patch.
func patchJudge(r *reading) {
	c, p := r.call, r.p
	sh := c.sh
	if dir, ok := p.last("-d", "--directory"); ok {
		sh = sh.fork()
		sh.moveInto(dir)
		c = &call{sh: sh, name: c.name, args: c.args}
	}
	for _, v := range p.values("-r", "--reject-file") {
		c.writeOut(v)
	}
	if v, ok := p.last("-o", "--output"); ok {
		c.writeOut(v)
		return
	}
	if p.has("--dry-run", "-C", "--check", "--version", "-v") {
		return
	}
	if len(p.operands) > 0 {
		c.write(p.operands[0])
		return
	}
	strip := -1
	if v, ok := p.last("-p", "--strip"); ok && len(v.val) == 1 {
		strip = int(v.val[0] - '0')
	}
	c.patchNames(strip, ".")
}

var patchTarget = lazyregexp.New(`(?m)^(?:\+\+\+|---|rename to|rename from) ([^\t\r\n]+)`)

// patchNames records the files named in a patch on standard input. Where the
// patch is not in the command line, names are unknown.
func (c *call) patchNames(strip int, root string) {
	if !c.sh.in.known {
		c.unsure("the names are in the patch")
		c.writeName(root)
		return
	}
	for _, m := range patchTarget.Regexp().FindAllStringSubmatch(c.sh.in.text, maxFields) {
		name := strings.Trim(m[1], `"`)
		if name == "/dev/null" {
			continue
		}
		for range max(strip, 0) {
			if _, rest, ok := strings.Cut(name, "/"); ok {
				name = rest
			}
		}
		if strip < 0 {
			name = path.Base(name)
		}
		c.writeName(under(root, name))
	}
}
