package scanner

import "unicode/utf8"

// pending is a command that is a single line unless its terminator follows
// before the next known verb. Until that is known, what comes is kept twice
// over: as a body and as prose with its diagnostics.
type pending struct {
	cmd   Command
	kind  *Block
	inert bool // the opener lacks its argument: nothing is run, all is visible
	text  []byte
	notes []keptNote
}

type keptNote struct {
	at int // bytes of text before it
	d  Diagnostic
}

// settle ends the search for a terminator: the command is a single line, and
// what was kept is prose.
func (s *Scanner) settle() {
	p := s.pending
	if p == nil {
		return
	}
	s.pending = nil
	if !p.inert {
		s.sink.Command(p.cmd)
	}
	from := 0
	for _, note := range p.notes {
		if note.at > from {
			s.sink.Prose(p.text[from:note.at])
			from = note.at
		}
		s.sink.Diagnostic(note.d)
	}
	if from < len(p.text) {
		s.sink.Prose(p.text[from:])
	}
}

func (s *Scanner) diagnose(d Diagnostic) {
	if s.pending != nil {
		s.pending.notes = append(s.pending.notes, keptNote{at: len(s.pending.text), d: d})
		return
	}
	s.sink.Diagnostic(d)
}

func (s *Scanner) prose(text []byte) {
	switch {
	case len(text) == 0:
	case s.pending != nil && !s.pending.inert:
		s.pending.text = append(s.pending.text, text...)
	default:
		s.sink.Prose(text)
	}
}

// flush passes on the chunk's prose up to end.
func (s *Scanner) flush(end int) {
	if end > s.mark {
		s.prose(s.chunk[s.mark:end])
		s.mark = end
	}
}

// hold keeps back the line that starts at i, and passes on what is before it.
func (s *Scanner) hold(i int) {
	s.flush(i)
	s.holding, s.holdAt, s.holdPos = true, i, s.base+int64(i)
	s.held = s.held[:0]
}

// release makes prose of the held line.
func (s *Scanner) release() {
	if !s.holding {
		return
	}
	s.holding = false
	s.prose(s.held)
	s.mark = s.holdAt
}

// heldLine returns the held line, which ends before end.
func (s *Scanner) heldLine(end int) []byte {
	if len(s.held) == 0 {
		return s.chunk[s.holdAt:end]
	}
	s.held = append(s.held, s.chunk[s.holdAt:end]...)
	s.holdAt = end
	return s.held
}

// drop hides the held line.
func (s *Scanner) drop(end int) {
	s.holding = false
	s.mark = end
}

// openInert starts a block whose opener lacks its argument.
func (s *Scanner) openInert(cmd Command) {
	if s.verb.Block.Optional {
		s.pending = &pending{cmd: cmd, kind: s.verb.Block, inert: true}
		return
	}
	s.block, s.kind = cmd, s.verb.Block
	s.phase, s.home = atInert, atInert
}

func (s *Scanner) stepInert(b byte, i int) int {
	switch {
	case s.phase == atInert && b == '/':
		s.phase, s.nameLen = inInertName, 0
	case s.phase == inInertName && isNameByte(b) && s.nameLen < maxName:
		s.name[s.nameLen] = b
		s.nameLen++
	case s.phase != atInert && (b == '\r' || isBlank(b)):
		s.phase = afterInert
	default:
		s.phase = inText
		return i
	}
	return i + 1
}

func (s *Scanner) endInert() {
	if s.kind.closes(string(s.nameBytes())) {
		s.home, s.block = atStart, Command{}
	}
}

// finish reports what the end of the stream leaves open.
func (s *Scanner) finish() {
	s.settle()
	switch {
	case s.phase == inBody:
		s.finishBody()
	case s.phase == inThink:
		s.sink.Diagnostic(Diagnostic{Kind: UnclosedThink, Line: s.thinkLine, Name: thinkTag})
	case s.home == atFence:
		mark := string([]byte{s.fenceByte, s.fenceByte, s.fenceByte})
		s.sink.Diagnostic(Diagnostic{Kind: UnclosedFence, Line: s.fenceLine, Name: mark})
	case s.home == atInert:
		s.sink.Diagnostic(Diagnostic{Kind: UnterminatedBlock, Line: s.block.Line, Name: s.block.Verb})
	}
}

func (s *Scanner) finishBody() {
	if last := s.body[s.bodyLine:]; len(last) > 0 {
		if s.closesBody(last) {
			s.endBody(0)
			return
		}
		s.swallow(last)
	}
	cmd := s.block
	cmd.Status, cmd.End = Unterminated, s.base
	s.sink.Command(cmd)
	s.sink.Diagnostic(Diagnostic{Kind: UnterminatedBlock, Line: cmd.Line, Name: cmd.Verb})
}

// keepRune keeps back an incomplete rune at the end of the chunk's prose.
func (s *Scanner) keepRune() {
	p := s.chunk[s.mark:]
	for n := 1; n < utf8.UTFMax && n <= len(p); n++ {
		tail := p[len(p)-n:]
		if utf8.RuneStart(tail[0]) {
			if !utf8.FullRune(tail) {
				s.runeLen = copy(s.rune[:], tail)
			}
			return
		}
	}
}

// runeTail counts the chunk's last bytes that are kept back.
func (s *Scanner) runeTail() int {
	return min(s.runeLen, len(s.chunk)-s.mark)
}

// completeRune passes on the rune that the last chunk ended in.
func (s *Scanner) completeRune() {
	if s.runeLen == 0 {
		return
	}
	for s.mark < len(s.chunk) && !utf8.RuneStart(s.chunk[s.mark]) && !utf8.FullRune(s.rune[:s.runeLen]) {
		s.rune[s.runeLen] = s.chunk[s.mark]
		s.runeLen++
		s.mark++
	}
	if s.mark < len(s.chunk) || utf8.FullRune(s.rune[:s.runeLen]) {
		s.passRune()
	}
}

func (s *Scanner) passRune() {
	if s.runeLen > 0 {
		s.prose(s.rune[:s.runeLen])
		s.runeLen = 0
	}
}
