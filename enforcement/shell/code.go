package shell

import (
	"strings"

	"github.com/writbus/writ/schemas/lazyregexp"
)

// code searches the text of a program in another language for paths. What is
// found is a hint: the result cannot be told anyway.
func (c *call) code(text string) {
	if text == "" {
		return
	}
	text = text[:min(len(text), maxValue, maxScanned-c.sh.a.scanned)]
	c.sh.a.scanned += len(text)
	c.sh.mentionCode(text)
	for _, re := range codeWrites {
		for _, m := range re.Regexp().FindAllStringSubmatch(text, maxItems) {
			for _, name := range m[1:] {
				if name != "" && isKnown(name) {
					c.writeName(name)
				}
			}
		}
	}
	for _, m := range codeCommands.Regexp().FindAllStringSubmatch(text, maxItems) {
		c.sh.fork().script(m[1])
	}
	c.listed(text)
	for _, m := range writCalls.Regexp().FindAllStringSubmatch(text, maxItems) {
		c.sh.a.writCall(codeWords(m[1]))
	}
}

// codeWrites are the ways to open a file for writing in common languages, with
// the name as a literal.
var codeWrites = []*lazyregexp.Regexp{
	lazyregexp.New(`\bopen\(\s*[rbuf]?["']([^"'\n]+)["']\s*,\s*(?:mode\s*=\s*)?["'][^"']*[wax+]`),
	lazyregexp.New(`\bPath\(\s*["']([^"'\n]+)["']\s*\)\s*\.(?:write_text|write_bytes|unlink|touch|mkdir|rename|replace|rmdir)`),
	lazyregexp.New(`\b(?:writeFile|appendFile|writeFileSync|appendFileSync|unlinkSync|rmSync|mkdirSync|createWriteStream|truncateSync)\(\s*["'` + "`" + `]([^"'\n` + "`" + `]+)["'` + "`" + `]`),
	lazyregexp.New(`\b(?:os|shutil)\.(?:remove|unlink|rmdir|rmtree|mkdir|makedirs|truncate|chmod)\(\s*["']([^"'\n]+)["']`),
	lazyregexp.New(`\b(?:os|shutil|fs)\.(?:rename|replace|move|renameSync)\(\s*["']([^"'\n]+)["']\s*,\s*["']([^"'\n]+)["']`),
	lazyregexp.New(`\b(?:os|shutil|fs)\.(?:copy\w*|cpSync|symlink\w*|link\w*)\(\s*["'][^"'\n]+["']\s*,\s*["']([^"'\n]+)["']`),
	lazyregexp.New(`\bopen\s*\(?\s*\$?\w+\s*,\s*["']\s*\+?>{1,2}\s*([^"'\n]+)["']`),
	lazyregexp.New(`\bFile\.(?:write|open|delete|rename)\(\s*["']([^"'\n]+)["']`),
	lazyregexp.New(`\bfile_put_contents\(\s*["']([^"'\n]+)["']`),
}

// codeCommands finds command lines handed to a shell.
var codeCommands = lazyregexp.New(`\b(?:os\.system|os\.popen|subprocess\.\w+|getoutput|execSync|getstatusoutput|exec|os\.execute|system|shell_exec|shell-command|passthru|[pP]open|pexpect\.\w+|create_subprocess_shell)\s*\(?\s*[rf]?["']([^"'\n]+)["']`)

// writCalls finds the name of writ's binary as the start of a command, or as
// the first word of a list of arguments.
var writCalls = lazyregexp.New(`(?:^|[\s"'` + "`" + `/;&|(])writ["']?[\s,]+["']?([a-z][a-z-]*[^\n;&|)\]]*)`)

// codeWords breaks what follows writ in program text into arguments.
func codeWords(s string) []arg {
	var args []arg
	for _, w := range strings.FieldsFunc(s, func(r rune) bool { return strings.ContainsRune(" \t,\"'`()[]", r) }) {
		args = append(args, literal(w))
	}
	return args
}
