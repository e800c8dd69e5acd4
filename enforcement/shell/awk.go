package shell

import (
	"strings"

	"github.com/writbus/writ/schemas/lazyregexp"
)

// awkJudge judges awk: what its program prints to files and pipes.
func awkJudge(r *reading) {
	c, p := r.call, r.p
	for _, o := range p.opts {
		switch {
		case o.is([]string{"-f", "--file", "-l", "--load", "-E", "--exec"}):
			c.unsure("its program is in a file")
		case o.is([]string{"-i", "--include"}):
			c.unsureIf(o.value.val != "inplace", "loads code")
		case o.is([]string{"-o", "-p", "-d", "-D", "-W", "--dump-variables", "--profile", "--pretty-print", "--debug"}):
			c.unsure("dumps to a file, or an option of its own kind")
		}
	}
	c.unsureIf(p.unsplit, "its program is known only at run time")
	programs := p.values("-e", "--source")
	files := p.operands
	if len(programs) == 0 && len(files) > 0 && !p.has("-f", "--file") {
		programs, files = files[:1], files[1:]
	}
	for _, prog := range programs {
		c.awkProgram(prog.val)
	}
	for _, v := range p.values("-i", "--include") {
		if v.val == "inplace" {
			c.write(files...)
		}
	}
}

// awkToken matches one token: comment, string, word, number, operator. A slash
// that starts a regular expression is told from a division by what is before.
var awkToken = lazyregexp.New(`^(?:#[^\n]*|"(?:[^"\\\n]|\\(?s:.))*"|[A-Za-z_@]\w*|[0-9][\w.]*|>>|>=|<=|==|!=|&&|\|\||\|&|(?s:.))`)

var awkRegexp = lazyregexp.New(`^/(?:[^/\\\n\[]|\\.|\[\^?\]?[^\]\n]*\])*/`)

// awkProgram judges the text of an awk program.
func (c *call) awkProgram(src string) {
	toks, sure := awkTokens(src)
	if !sure && awkActs.MatchString(src) {
		// What is a regular expression and what divides is not known without a parser,
		// nor then what is in a string.
		c.unsure("its program cannot be read")
		c.writeName(".")
		return
	}
	printing, depth := false, 0
	for i, t := range toks {
		switch t {
		case "print", "printf":
			printing, depth = true, 0
		case "(", "[":
			depth++
		case ")", "]":
			depth--
		case "\n":
			printing = printing && i > 0 && strings.Contains(" , && || \\ ", " "+toks[i-1]+" ")
		case ";", "{", "}":
			printing = false
		case ">", ">>":
			if printing && depth <= 0 {
				c.awkTarget(toks[i+1:], c.awkFile)
			}
		case "|", "|&":
			switch {
			case printing && depth <= 0:
				c.awkTarget(toks[i+1:], c.awkCommand)
			case i > 0 && isAwkString(toks[i-1]) && (i < 2 || !awkJoins(toks[i-2])):
				c.awkCommand(toks[i-1])
			default:
				c.unsure("its program runs a command known only at run time")
			}
		case "system":
			if i+3 < len(toks) && isAwkString(toks[i+2]) && toks[i+3] == ")" {
				c.awkCommand(toks[i+2])
			} else {
				c.unsure("its program runs a command known only at run time")
			}
		case "@include", "@load":
			c.unsure("its program loads code")
		default:
			c.unsureIf(strings.HasPrefix(t, "@"), "its program calls a function known only at run time")
		}
	}
}

// awkActs finds what an awk program may write or run by.
var awkActs = lazyregexp.New(`[>|@]|\bsystem\b`)

// awkTokens takes a program apart; sure is false where a slash may be either the
// start of a regular expression or a division, or a string has no end.
func awkTokens(src string) (toks []string, sure bool) {
	sure = true
	var conditions []bool // of the open brackets: those of if, while and for
	closed := false       // the last token closed one of these
	for src != "" {
		var t string
		if src[0] == '/' {
			if closed || awkEither(toks) {
				sure = false
			}
			if !awkOperandBefore(toks) {
				t = awkRegexp.Regexp().FindString(src)
			}
		}
		if t == "" {
			t = awkToken.Regexp().FindString(src)
		}
		src = src[len(t):]
		switch {
		case t == " " || t == "\t" || strings.HasPrefix(t, "#"):
			continue
		case t == `"`:
			sure = false
		}
		closed = false
		switch t {
		case "(":
			before := ""
			if len(toks) > 0 {
				before = toks[len(toks)-1]
			}
			conditions = append(conditions, before == "if" || before == "while" || before == "for" || before == "switch")
		case ")":
			if n := len(conditions); n > 0 {
				closed, conditions = conditions[n-1], conditions[:n-1]
			}
		}
		toks = append(toks, t)
	}
	return toks, sure
}

// awkEither reports a token after which a slash may divide or not.
func awkEither(toks []string) bool {
	if len(toks) == 0 {
		return false
	}
	switch last := toks[len(toks)-1]; last {
	case "else", "do", "++", "--", "\\":
		return true
	case "+", "-":
		return len(toks) > 1 && toks[len(toks)-2] == last
	}
	return false
}

// awkOperandBefore reports that the last token ends an operand, so that a slash
// divides.
func awkOperandBefore(toks []string) bool {
	if len(toks) == 0 {
		return false
	}
	last := toks[len(toks)-1]
	if last == ")" || last == "]" || last == "$" || isAwkString(last) {
		return true
	}
	switch last {
	case "print", "printf", "return", "in", "case", "getline":
		return false
	}
	b := last[0]
	return b == '_' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9'
}

func isAwkString(t string) bool { return len(t) >= 2 && t[0] == '"' }

// awkJoins reports a token after which a string is only a part of the operand.
func awkJoins(t string) bool {
	return isAwkString(t) || awkOperandBefore([]string{t})
}

// awkTarget judges what follows > or |: one string that ends the statement, or
// an expression whose value is unknown.
func (c *call) awkTarget(rest []string, known func(string)) {
	if len(rest) > 0 && isAwkString(rest[0]) && (len(rest) == 1 || strings.Contains(";}\n", rest[1])) {
		known(rest[0])
		return
	}
	if len(rest) > 0 && len(rest[0]) > 0 && rest[0][0] >= '0' && rest[0][0] <= '9' {
		known(`"` + rest[0] + `"`)
		return
	}
	c.unsure("its program writes to a name known only at run time")
	if c.name != "" {
		c.writeName(".")
	}
}

func (c *call) awkFile(s string) { c.writeOut(awkUnquote(s)) }

func (c *call) awkCommand(s string) { c.text(awkUnquote(s)) }

// awkUnquote is the text of a string. Awks differ in the escapes they know, so a
// string with others than the plain ones is not known.
func awkUnquote(s string) arg {
	s = s[1 : len(s)-1]
	text := strings.NewReplacer(`\"`, `"`, `\\`, `\`, `\/`, `/`).Replace(s)
	if strings.Contains(strings.NewReplacer(`\"`, "", `\\`, "", `\/`, "").Replace(s), `\`) {
		return unknownArg("")
	}
	return literal(text)
}
