package scanner

import (
	"bytes"
	"strings"
)

// stepName reads the letters after a slash, at column 0 or indented.
func (s *Scanner) stepName(b byte, i int) int {
	switch {
	case isLetter(b) || s.nameLen > 0 && isNameByte(b):
		if s.nameLen < maxName {
			s.name[s.nameLen] = b
		}
		s.nameLen++
		if s.holding && (s.nameLen > maxName || !s.table.prefixes[string(s.name[:s.nameLen])]) {
			s.release()
		}
		return i + 1
	case s.nameLen == 0:
		return s.giveUp(i)
	case isBlank(b):
		s.named()
		return i + 1
	case b == '\r':
		s.phase = afterName
		return i + 1
	default:
		return s.giveUp(i)
	}
}

// giveUp takes the line for text, from its first byte on.
func (s *Scanner) giveUp(i int) int {
	s.release()
	s.phase = inText
	return i
}

func (s *Scanner) nameBytes() []byte { return s.name[:min(s.nameLen, maxName)] }

// named decides what a complete first word is.
func (s *Scanner) named() {
	verb := s.table.verbs[string(s.nameBytes())]
	if s.nameLen > maxName {
		verb = nil
	}
	switch {
	case s.indented:
		if verb != nil {
			s.note = Indented
		}
		s.phase = inText
	case verb != nil:
		s.settle()
		s.verb, s.phase = verb, inArgs
	case s.holding && s.table.terminators[string(s.nameBytes())]:
		s.phase = afterEnd
	default:
		s.note = UnknownVerb
		s.release()
		s.phase = inText
	}
}

// endLine ends the current line before end, a place in the chunk.
func (s *Scanner) endLine(end int) {
	if s.phase == inName && s.nameLen > 0 || s.phase == afterName {
		s.named()
	}
	switch s.phase {
	case inArgs:
		s.command(end)
		return
	case afterEnd:
		s.terminator(end)
		return
	case inName:
		s.release()
	case inMarks:
		if s.marks >= 3 {
			s.openFence()
		}
	case inInfo:
		s.openFence()
	case inFenceMarks, afterMarks:
		if s.marks >= s.fenceLen {
			s.home = atStart
		}
	case inInertName, afterInert:
		s.endInert()
	case inBody, inThink:
		return
	default:
	}
	s.spaces = 0
	s.phase = s.home
	if s.note != "" {
		s.report(end)
	}
}

// report passes on the line and then what is to be said about it.
func (s *Scanner) report(end int) {
	s.flush(end)
	d := Diagnostic{Kind: s.note, Line: s.line, Name: string(s.nameBytes())}
	if d.Kind == UnknownVerb {
		d.Suggestion = s.table.suggest(d.Name)
	}
	s.note = ""
	s.diagnose(d)
}

// command ends the line of a known verb.
func (s *Scanner) command(end int) {
	line := s.heldLine(end)
	args := string(trimRight(line[1+len(s.verb.Name):]))
	args = strings.TrimLeft(args, " \t\r")
	cmd := Command{Verb: s.verb.Name, Args: args, Status: Complete, Line: s.line, Start: s.holdPos, End: s.base + int64(end)}
	opens := s.verb.Block.opens(args)
	if args == "" && s.verb.Required {
		s.release()
		s.phase, s.note = s.home, MissingArgument
		s.report(end)
		if opens {
			s.openInert(cmd)
		}
		return
	}
	s.drop(end)
	s.phase = s.home
	switch {
	case !opens:
		s.sink.Command(cmd)
	case s.verb.Block.Optional:
		s.pending = &pending{cmd: cmd, kind: s.verb.Block}
	default:
		s.block, s.kind = cmd, s.verb.Block
		s.body, s.bodyLine = s.body[:0], 0
		s.phase = inBody
	}
}

// terminator ends a line that is a terminator at top level.
func (s *Scanner) terminator(end int) {
	name := string(s.nameBytes())
	s.phase = s.home
	if p := s.pending; p != nil && p.kind.closes(name) {
		s.pending = nil
		if p.inert {
			s.release()
			s.flush(end)
			return
		}
		s.drop(end)
		p.cmd.Body, p.cmd.HasBody, p.cmd.End = string(p.text), true, s.base+int64(end)
		s.sink.Command(p.cmd)
		return
	}
	s.release()
	s.note = StrayTerminator
	s.report(end)
}

// stepBody takes the lines of an open block up to its terminator.
func (s *Scanner) stepBody(p []byte, i int) int {
	n := bytes.IndexByte(p[i:], '\n')
	if n < 0 {
		s.body = append(s.body, p[i:]...)
		s.mark = len(p)
		return len(p)
	}
	end := i + n + 1
	s.body = append(s.body, p[i:end]...)
	s.mark = end
	line := s.body[s.bodyLine:]
	switch {
	case line[0] != '/':
	case s.closesBody(line):
		s.endBody(end)
		s.line++
		return end
	default:
		s.swallow(line)
	}
	s.bodyLine = len(s.body)
	s.line++
	return end
}

func (s *Scanner) closesBody(line []byte) bool {
	line = trimRight(line)
	return len(line) > 1 && line[0] == '/' && s.kind.closes(string(line[1:]))
}

// swallow remembers a line that would be a command if the block were closed.
func (s *Scanner) swallow(line []byte) {
	if s.table.verbOf(line) == nil {
		return
	}
	s.block.SwallowedCount++
	if len(s.block.Swallowed) < maxSwallowed {
		line = trimRight(line)
		s.block.Swallowed = append(s.block.Swallowed, string(bytes.ToValidUTF8(line[:min(len(line), 2*maxName)], nil)))
	}
}

func (s *Scanner) endBody(end int) {
	cmd := s.block
	cmd.Body, cmd.HasBody, cmd.End = string(s.body[:s.bodyLine]), true, s.base+int64(end)
	cmd.Swallowed, cmd.SwallowedCount = nil, 0
	s.block, s.phase = Command{}, s.home
	s.sink.Command(cmd)
}
