package lexer

import "bytes"

// dialect says how a language's comments, strings and words look.
type dialect struct {
	lineComments      []string
	spacedComments    bool // they count only after a blank or at the line's beginning
	wholeLineComments bool // they count only at the line's beginning
	blockOpen         string
	blockClose        string
	nested            bool    // block comments nest
	quotes            []quote // the longest mark first
	dollar            bool    // $ is a letter
	newlines          bool    // the end of a line is a token
	prose             bool    // the whole file is text for people
	special           func(*scanner) bool
}

var (
	double    = quote{mark: `"`, escapes: true}
	single    = quote{mark: `'`, escapes: true}
	character = quote{mark: `'`, escapes: true, character: true}
	backtick  = quote{mark: "`", multiline: true}
	tripleD   = quote{mark: `"""`, escapes: true, multiline: true}
	tripleS   = quote{mark: `'''`, escapes: true, multiline: true}
)

func braces(d dialect) *dialect {
	d.lineComments, d.blockOpen, d.blockClose = []string{"//"}, "/*", "*/"
	return &d
}

func hashes(d dialect) *dialect {
	d.lineComments = append([]string{"#"}, d.lineComments...)
	return &d
}

var proseDialect = &dialect{prose: true}

// unknownDialect keeps to what most languages agree on. An apostrophe is not a
// quote in it: it may be one of prose.
var unknownDialect = &dialect{lineComments: []string{"#", "//"}, spacedComments: true, blockOpen: "/*", blockClose: "*/", quotes: []quote{double}}

// dialects is filled once; init breaks the cycle through the functions that
// read interpolations.
var dialects map[string]*dialect

func init() {
	plain := braces(dialect{quotes: []quote{double, character}})
	dialects = map[string]*dialect{
		"text":       proseDialect,
		"go":         braces(dialect{quotes: []quote{double, character, backtick}}),
		"java":       braces(dialect{quotes: []quote{tripleD, double, character}, dollar: true}),
		"rust":       braces(dialect{quotes: []quote{{mark: `"`, escapes: true, multiline: true}}, nested: true, special: rustSpecial}),
		"javascript": braces(dialect{quotes: []quote{double, single}, dollar: true, special: scriptSpecial}),
		"typescript": braces(dialect{quotes: []quote{double, single}, dollar: true, special: scriptSpecial}),
		"python":     hashes(dialect{newlines: true, special: pythonSpecial, quotes: []quote{tripleD, tripleS, double, single}}),
		"shell":      hashes(dialect{spacedComments: true, newlines: true, special: shellSpecial}),
		"sql":        {lineComments: []string{"--"}, blockOpen: "/*", blockClose: "*/", nested: true, special: sqlSpecial},
		"yaml":       hashes(dialect{spacedComments: true, newlines: true, special: yamlSpecial}),
		"dockerfile": hashes(dialect{wholeLineComments: true, newlines: true, quotes: []quote{double, single}}),
		"kotlin":     braces(dialect{quotes: []quote{tripleD, double, character, {mark: "`"}}}),
		"scala":      braces(dialect{quotes: []quote{tripleD, double, character}, nested: true}),
		"swift":      braces(dialect{quotes: []quote{tripleD, double}, nested: true}),
		"dart":       braces(dialect{quotes: []quote{tripleD, tripleS, double, single}}),
		"csharp":     braces(dialect{quotes: []quote{tripleD, double, character}, special: csharpSpecial}),
		"c":          plain, "cpp": plain, "protobuf": plain,
		"php":  braces(dialect{quotes: []quote{{mark: `"`, escapes: true, multiline: true}, {mark: `'`, escapes: true, multiline: true}}, dollar: true, special: phpSpecial}),
		"css":  {blockOpen: "/*", blockClose: "*/", quotes: []quote{double, single}},
		"html": {blockOpen: "<!--", blockClose: "-->"},
		"json": braces(dialect{quotes: []quote{double}}),
		"ruby": hashes(dialect{spacedComments: true, newlines: true, special: rubySpecial, quotes: []quote{
			{mark: `"`, escapes: true, multiline: true}, {mark: "'", escapes: true, multiline: true}, {mark: "`", escapes: true, multiline: true},
		}}),
		"any":        {lineComments: []string{"//", "#", "--"}, blockOpen: "/*", blockClose: "*/", quotes: []quote{tripleD, tripleS, double, single}},
		"perl":       hashes(dialect{spacedComments: true, quotes: []quote{double, single}}),
		"elixir":     hashes(dialect{newlines: true, quotes: []quote{tripleD, double}}),
		"toml":       hashes(dialect{newlines: true, quotes: []quote{tripleD, tripleS, double, {mark: "'"}}}),
		"ini":        hashes(dialect{lineComments: []string{";"}, wholeLineComments: true, newlines: true, quotes: []quote{double}}),
		"hcl":        hashes(dialect{lineComments: []string{"//"}, blockOpen: "/*", blockClose: "*/", quotes: []quote{double}}),
		"makefile":   hashes(dialect{spacedComments: true, newlines: true, quotes: []quote{double}}),
		"powershell": hashes(dialect{spacedComments: true, blockOpen: "<#", blockClose: "#>", quotes: []quote{{mark: `"`, doubled: true, multiline: true}, {mark: "'", doubled: true, multiline: true}}}),
		"lua":        {lineComments: []string{"--"}, quotes: []quote{double, single}},
	}
}

// Lines tells whether the end of a line is a token of the language.
func Lines(language string) bool { return dialectOf(language).newlines }

func dialectOf(language string) *dialect {
	if d, found := dialects[language]; found {
		return d
	}
	return unknownDialect
}

// csharpSpecial reads @"…" strings and takes lines of the preprocessor as
// code.
func csharpSpecial(s *scanner) bool {
	for _, prefix := range []string{`@$"`, `$@"`, `@"`, `$"`} {
		if s.has(prefix) {
			from := s.pos
			verbatim := bytes.IndexByte([]byte(prefix), '@') >= 0
			s.pos += len(prefix) - 1
			s.quoted(from, &quote{mark: `"`, escapes: !verbatim, doubled: verbatim, multiline: verbatim})
			return true
		}
	}
	return false
}

// rustSpecial tells lifetimes from characters and reads raw strings.
func rustSpecial(s *scanner) bool {
	c, from := s.src[s.pos], s.pos
	if c == '\'' {
		return s.rustTick()
	}
	if c != 'r' && c != 'b' && c != 'c' || s.pos > 0 && (Letter(s.peek(-1)) || Digit(s.peek(-1))) {
		return false
	}
	at := s.pos + 1
	raw := c == 'r'
	if at < len(s.src) && s.src[at] == 'r' && c != 'r' {
		raw = true
		at++
	}
	fence := at
	for raw && at < len(s.src) && s.src[at] == '#' {
		at++
	}
	switch {
	case at >= len(s.src) || s.src[at] != '"':
		if c == 'b' && s.peek(1) == '\'' {
			s.pos++
			s.quoted(from, &character)
			return true
		}
		return false
	case !raw:
		s.pos = at
		s.quoted(from, &quote{mark: `"`, escapes: true, multiline: true})
		return true
	}
	s.mark(at+1, Delimiter)
	end := append([]byte{'"'}, s.src[fence:at]...)
	n := bytes.Index(s.rest(), end)
	if n < 0 {
		s.mark(len(s.src), Text)
	} else {
		s.mark(s.pos+n, Text)
		s.mark(s.pos+len(end), Delimiter)
	}
	s.add(String, from)
	return true
}

func (s *scanner) rustTick() bool {
	from := s.pos
	if s.peek(1) == '\\' || s.peek(2) == '\'' {
		s.quoted(from, &character)
		return true
	}
	if c := s.peek(1); !Letter(c) {
		s.pos++
		s.add(Punct, from)
		return true
	}
	// A letter beyond ASCII takes several bytes before the closing tick.
	at := s.pos + 1
	for at < len(s.src) && (Letter(s.src[at]) || Digit(s.src[at])) {
		at++
	}
	if at < len(s.src) && s.src[at] == '\'' && s.src[from+1] >= 0x80 && at-from <= 5 {
		s.quoted(from, &character)
		return true
	}
	s.pos = at
	s.add(Word, from)
	return true
}

// sqlSpecial reads '…' with doubled quotes, E'…' with escapes, and leaves
// quoted identifiers and the bodies of $$ functions as code.
func sqlSpecial(s *scanner) bool {
	switch c := s.src[s.pos]; c {
	case '\'':
		prefixed := s.pos > 0 && (s.peek(-1) == 'E' || s.peek(-1) == 'e') && (s.pos == 1 || !Letter(s.peek(-2)))
		s.quoted(s.pos, &quote{mark: "'", doubled: true, multiline: true, escapes: prefixed || s.escapedQuote()})
		return true
	case '"', '`':
		from := s.pos
		s.pos++
		for s.pos < len(s.src) && s.src[s.pos] != c && s.src[s.pos] != '\n' {
			s.pos++
		}
		if s.pos < len(s.src) && s.src[s.pos] == c {
			s.pos++
		}
		s.add(Word, from)
		return true
	}
	return false
}

// escapedQuote guesses whether this is MySQL, where a backslash escapes: the
// string has \' in it and goes on after that on its line.
func (s *scanner) escapedQuote() bool {
	line := s.ahead(1000)[1:]
	n := bytes.Index(line, []byte(`\'`))
	end := bytes.IndexByte(line, '\'')
	return n >= 0 && end == n+1 && bytes.IndexByte(line[n+2:], '\'') >= 0 && n+2 < len(line) && Letter(line[n+2])
}
