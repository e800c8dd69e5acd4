package scanner

import (
	"bytes"
	"errors"
	"unicode/utf8"
)

// ErrClosed is returned by Write after Close.
var ErrClosed = errors.New("scanner: scanner is closed")

// phase says what the next byte of the stream is to the scanner.
type phase uint8

const (
	atStart      phase = iota // column 0 at top level
	inText                    // text up to the end of the line
	inIndent                  // blanks at the start of a line
	inMarks                   // fence marks at the start of a line
	inInfo                    // what follows three backticks
	inThinkTag                // part of <think> at column 0
	inName                    // the letters after a slash
	afterName                 // a CR after the letters
	inArgs                    // the rest of a known verb's line
	afterEnd                  // blanks after a terminator's name
	atFence                   // the start of a line in a fence
	inFenceMarks              // marks that may close it
	afterMarks                // blanks after them
	inThink                   // reasoning
	inBody                    // the body of a block
	atInert                   // the start of a line in a block that is not run
	inInertName               // the letters after a slash there
	afterInert                // blanks after them
)

const (
	maxName  = 64 // bytes of a name kept for diagnostics
	thinkTag = "<think>"
	thinkEnd = "</think>"
)

// Scanner splits one stream. Make it with New; it serves one goroutine.
type Scanner struct {
	table *Table
	sink  Sink

	phase phase
	home  phase // the phase of the next line's first byte
	line  int   // of the byte being scanned, from 1
	base  int64 // offset of the chunk in the stream

	chunk []byte
	mark  int // start of the chunk's prose that is not passed on yet

	holding  bool   // the current line is held back
	holdAt   int    // where it starts in the chunk
	holdPos  int64  // where it starts in the stream
	held     []byte // what earlier chunks hold of it
	start    []byte // what may be a byte order mark
	started  bool
	rune     [utf8.UTFMax]byte // an incomplete rune at the end of a chunk
	runeLen  int
	name     [maxName]byte
	nameLen  int // bytes of the name, those beyond maxName included
	indented bool
	verb     *Verb
	note     Kind // what to report at the end of the line

	spaces    int  // of an indent
	tabbed    bool // it holds a tab
	markByte  byte // of a fence
	marks     int  // marks seen
	fenceByte byte
	fenceLen  int
	fenceLine int
	thinkLine int
	matched   int // bytes of a tag seen

	block    Command // the block that is open
	kind     *Block
	body     []byte
	bodyLine int // start of the body's last line
	pending  *pending
	closed   bool
}

// New returns a scanner that hands what it finds to sink.
func New(table *Table, sink Sink) *Scanner {
	return &Scanner{table: table, sink: sink, line: 1}
}

// Write scans the next bytes. It returns an error only after Close.
func (s *Scanner) Write(p []byte) (int, error) {
	if s.closed {
		return 0, ErrClosed
	}
	if s.started {
		s.scan(p)
		return len(p), nil
	}
	const bom = "\xef\xbb\xbf"
	s.start = append(s.start, p...)
	if len(s.start) < len(bom) && bom[:len(s.start)] == string(s.start) {
		return len(p), nil
	}
	s.begin(bytes.TrimPrefix(s.start, []byte(bom)))
	return len(p), nil
}

func (s *Scanner) begin(p []byte) {
	s.started = true
	s.base = int64(len(s.start) - len(p))
	s.start = nil
	s.scan(p)
}

// Close ends the stream: a last line without a line end counts, and what is
// still open is reported. A second call does nothing.
func (s *Scanner) Close() error {
	if s.closed {
		return nil
	}
	if !s.started {
		s.begin(s.start)
	}
	s.closed = true
	s.chunk, s.mark, s.holdAt = nil, 0, 0
	s.passRune()
	s.endLine(0)
	s.finish()
	return nil
}

// scan runs the states over one chunk and passes on its prose.
func (s *Scanner) scan(p []byte) {
	s.chunk, s.mark, s.holdAt = p, 0, 0
	s.completeRune()
	for i := 0; i < len(p); {
		i = s.step(p, i)
	}
	if s.holding {
		s.held = append(s.held, p[s.holdAt:]...)
	} else if s.phase != inBody {
		s.keepRune()
		s.flush(len(p) - s.runeTail())
	}
	s.base += int64(len(p))
	s.chunk = nil
}

// step scans from p[i] and returns where to go on. A state that cannot use a
// byte hands it to another one by not moving.
func (s *Scanner) step(p []byte, i int) int {
	switch s.phase {
	case atStart:
		return s.stepStart(p, i)
	case inText, inArgs:
		return s.stepLine(p, i)
	case inThink:
		return s.stepThink(p, i)
	case inBody:
		return s.stepBody(p, i)
	default:
		if p[i] != '\n' {
			return s.stepByte(p[i], i)
		}
		s.endLine(i + 1)
		s.line++
		return i + 1
	}
}

// stepByte scans one byte of a line whose kind is not decided yet.
func (s *Scanner) stepByte(b byte, i int) int {
	switch s.phase {
	case inIndent:
		return s.stepIndent(b, i)
	case inMarks:
		return s.stepMarks(b, i)
	case inInfo:
		if b == '`' {
			s.phase = inText
		}
		return i + 1
	case inThinkTag:
		return s.stepThinkTag(b, i)
	case inName:
		return s.stepName(b, i)
	case afterName:
		if b == '\r' || isBlank(b) {
			return i + 1
		}
		return s.giveUp(i)
	case afterEnd:
		if b == '\r' || isBlank(b) {
			return i + 1
		}
		s.note = UnknownVerb
		return s.giveUp(i)
	case atFence, inFenceMarks, afterMarks:
		return s.stepFence(b, i)
	default:
		return s.stepInert(b, i)
	}
}

// stepLine goes to the end of the line.
func (s *Scanner) stepLine(p []byte, i int) int {
	n := bytes.IndexByte(p[i:], '\n')
	if n < 0 {
		return len(p)
	}
	s.endLine(i + n + 1)
	s.line++
	return i + n + 1
}

func (s *Scanner) stepStart(p []byte, i int) int {
	switch b := p[i]; b {
	case '\n':
		s.line++
	case ' ', '\t':
		s.phase, s.spaces, s.tabbed = inIndent, 0, false
		return i
	case '/':
		s.hold(i)
		s.phase, s.nameLen, s.indented = inName, 0, false
	case '`', '~':
		s.phase, s.markByte, s.marks = inMarks, b, 1
	case '<':
		s.phase, s.matched = inThinkTag, 1
	default:
		s.phase = inText
	}
	return i + 1
}

func (s *Scanner) stepIndent(b byte, i int) int {
	switch {
	case b == ' ':
		s.spaces++
	case b == '\t':
		s.tabbed = true
	case b == '/':
		s.phase, s.nameLen, s.indented = inName, 0, true
	case (b == '`' || b == '~') && s.spaces <= 3 && !s.tabbed:
		s.phase, s.markByte, s.marks = inMarks, b, 1
	default:
		s.phase = inText
	}
	return i + 1
}

func (s *Scanner) stepMarks(b byte, i int) int {
	switch {
	case b == s.markByte:
		s.marks++
		return i + 1
	case s.marks < 3:
		s.phase = inText
	case b != '`' && s.markByte == '`':
		s.phase = inInfo
	default:
		s.openFence()
		s.phase = inText
	}
	return i
}

func (s *Scanner) openFence() {
	s.home, s.fenceByte, s.fenceLen, s.fenceLine = atFence, s.markByte, s.marks, s.line
	s.spaces = 0
}

func (s *Scanner) stepFence(b byte, i int) int {
	switch {
	case s.phase == atFence && b == ' ' && s.spaces < 3:
		s.spaces++
	case s.phase == atFence && b == s.fenceByte:
		s.phase, s.marks = inFenceMarks, 1
	case s.phase == inFenceMarks && b == s.fenceByte:
		s.marks++
	case s.phase != atFence && (b == '\r' || isBlank(b)):
		s.phase = afterMarks
	default:
		s.phase = inText
		return i
	}
	return i + 1
}

func (s *Scanner) stepThinkTag(b byte, i int) int {
	if b != thinkTag[s.matched] {
		s.phase = inText
		return i
	}
	s.matched++
	if s.matched == len(thinkTag) {
		s.phase, s.matched, s.thinkLine = inThink, 0, s.line
	}
	return i + 1
}

func (s *Scanner) stepThink(p []byte, i int) int {
	if s.matched == 0 {
		n := bytes.IndexByte(p[i:], '<')
		if n < 0 {
			n = len(p) - i
		}
		s.line += bytes.Count(p[i:i+n], []byte{'\n'})
		i += n
		if i == len(p) {
			return i
		}
	}
	switch b := p[i]; {
	case b == thinkEnd[s.matched]:
		s.matched++
		if s.matched == len(thinkEnd) {
			s.phase = inText
		}
	case b == '<':
		s.matched = 1
	case b == '\n':
		s.matched = 0
		s.line++
	default:
		s.matched = 0
	}
	return i + 1
}
