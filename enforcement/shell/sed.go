package shell

import "strings"

// sedScript judges a sed script: the commands w, W and e, and their flags of s,
// write files and run commands. A script that does not read as sed is careful.
//
// Seds differ in whether a delimiter inside a bracket expression is plain text,
// so a script is read both ways and counts as far as either reading succeeds.
func (c *call) sedScript(src string) {
	readable := false
	for _, brackets := range []bool{true, false} {
		s := &sedScanner{c: c, src: src, brackets: brackets}
		if s.commands() {
			readable = true
			for _, act := range s.acts {
				act()
			}
		}
		if !strings.Contains(src, "[") {
			break
		}
	}
	c.unsureIf(!readable, "its script cannot be read")
}

// sedScanner walks over a sed script. Text with holes is passed over like any
// other text: an expansion inside a regular expression is the usual case.
type sedScanner struct {
	c        *call
	src      string
	i        int
	brackets bool     // [/] holds a plain slash
	acts     []func() // findings, in force once the whole script is read
}

func (s *sedScanner) peek() byte {
	if s.i < len(s.src) {
		return s.src[s.i]
	}
	return 0
}

func (s *sedScanner) skip(chars string) {
	for s.i < len(s.src) && strings.IndexByte(chars, s.src[s.i]) >= 0 {
		s.i++
	}
}

func (s *sedScanner) commands() bool {
	for {
		s.skip(" \t\n;{}")
		if s.i >= len(s.src) {
			return true
		}
		if !s.address() || !s.command() {
			return false
		}
	}
}

// address passes over the addresses before a command.
func (s *sedScanner) address() bool {
	for range 2 {
		switch b := s.peek(); {
		case b >= '0' && b <= '9' || b == '$' || b == '+' || b == '~':
			s.skip("0123456789$+~")
		case b == '/':
			if !s.delimited('/') {
				return false
			}
			s.skip("IM")
		case b == '\\':
			s.i++
			d := s.peek()
			if d == 0 || !s.delimited(d) {
				return false
			}
			s.skip("IM")
		case strings.HasPrefix(s.src[s.i:], string(hole)):
			s.i += len(string(hole))
		}
		s.skip(" \t")
		if s.peek() != ',' && s.peek() != '~' {
			break
		}
		s.i++
		s.skip(" \t+~")
	}
	s.skip(" \t!")
	return true
}

// delimited passes over /text/ with the given delimiter.
func (s *sedScanner) delimited(d byte) bool {
	if s.peek() != d {
		return false
	}
	s.i++
	return s.pattern(d)
}

// pattern passes over a regular expression up to and with the delimiter.
func (s *sedScanner) pattern(d byte) bool {
	for s.brackets && s.i < len(s.src) {
		switch b := s.src[s.i]; b {
		case '\\':
			s.i += 2
		case d:
			s.i++
			return true
		case '[':
			s.bracket()
		default:
			s.i++
		}
	}
	return s.until(d)
}

// bracket passes over a bracket expression. One that is never closed is plain.
func (s *sedScanner) bracket() {
	i := s.i + 1
	if i < len(s.src) && s.src[i] == '^' {
		i++
	}
	if i < len(s.src) && s.src[i] == ']' {
		i++
	}
	for i < len(s.src) && s.src[i] != ']' && s.src[i] != '\n' {
		if class := strings.Index(s.src[i:], ":]"); strings.HasPrefix(s.src[i:], "[:") && class > 1 {
			i += class + 1
		}
		i++
	}
	if i >= len(s.src) || s.src[i] == '\n' {
		i = s.i
	}
	s.i = i + 1
}

// until passes over text up to and with the delimiter.
func (s *sedScanner) until(d byte) bool {
	for s.i < len(s.src) {
		switch b := s.src[s.i]; b {
		case '\\':
			s.i += 2
		case d:
			s.i++
			return true
		default:
			s.i++
		}
	}
	return false
}

// line takes the rest of the line, the argument of w, r, a and their like.
func (s *sedScanner) line() string {
	rest := s.src[min(s.i, len(s.src)):]
	line, _, _ := strings.Cut(rest, "\n")
	s.i = min(s.i+len(line), len(s.src))
	return strings.TrimSpace(line)
}

func (s *sedScanner) command() bool {
	b := s.peek()
	s.i++
	switch b {
	case '{', '}':
		return true
	case '#':
		s.line()
	case 's':
		return s.substitute()
	case 'y':
		d := s.peek()
		s.i++
		return d != 0 && s.until(d) && s.until(d)
	case 'w', 'W':
		s.file(s.line())
	case 'r', 'R':
		s.line()
	case 'a', 'i', 'c':
		s.textBlock()
	case 'e':
		s.execute(s.line())
	case ':', 'b', 't', 'T':
		for s.i < len(s.src) && s.src[s.i] != '\n' && s.src[s.i] != ';' && s.src[s.i] != '}' {
			s.i++
		}
	case '=', 'd', 'D', 'g', 'G', 'h', 'H', 'n', 'N', 'p', 'P', 'x', 'z', 'F', 'q', 'Q', 'l', 'L', 'v':
		s.skip(" \t0123456789.")
	case 0:
		return true
	default:
		return false
	}
	return true
}

// textBlock passes over the text of a, i and c, which goes on after a backslash
// at the end of a line.
func (s *sedScanner) textBlock() {
	for {
		start := s.i
		s.line()
		line := s.src[min(start, s.i):s.i]
		// Of backslashes before the line's end every second one is text.
		open := (len(line)-len(strings.TrimRight(line, `\`)))%2 == 1
		if !open || s.i >= len(s.src) {
			return
		}
		s.i++
	}
}

func (s *sedScanner) substitute() bool {
	d := s.peek()
	s.i++
	if d == 0 || d == '\n' || d == '\\' || !s.pattern(d) || !s.until(d) {
		return false
	}
	for {
		switch s.peek() {
		case 'w':
			s.i++
			s.file(s.line())
			return true
		case 'e':
			s.i++
			s.doubt("its script runs what it substitutes")
		case 'g', 'p', 'i', 'I', 'm', 'M', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
			s.i++
		default:
			if strings.HasPrefix(s.src[s.i:], string(hole)) {
				s.i += len(string(hole))
				s.doubt("its flags are known only at run time")
				continue
			}
			return true
		}
	}
}

func (s *sedScanner) file(name string) {
	if name == "/dev/stdout" || name == "/dev/stderr" {
		return
	}
	s.acts = append(s.acts, func() { s.c.write(literal(name)) })
}

func (s *sedScanner) doubt(text string) {
	s.acts = append(s.acts, func() { s.c.unsure(text) })
}

func (s *sedScanner) execute(line string) {
	if line == "" {
		s.doubt("its script runs the input")
		return
	}
	s.acts = append(s.acts, func() { s.c.text(literal(line)) })
}
