package scanner

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/writbus/writ/test/conformance"
)

func TestScanner(t *testing.T) {
	tab := table(t)
	for name, c := range map[string]struct {
		in, visible string
		commands    []string // verb, args and body as verb|args|body
		kinds       []string
	}{
		"inert block": {
			in: "/write\n/exec a\n  /exec\n/frob\n/endwrite\n/exec b\n", visible: "/write\n/exec a\n  /exec\n/frob\n/endwrite\n",
			commands: []string{"exec|b|"}, kinds: []string{"missing_argument"},
		},
		"inert block without end": {
			in: "/write \n/exec a\n", visible: "/write \n/exec a\n", kinds: []string{"missing_argument", "unterminated_block"},
		},
		"inert block, terminator at the end": {
			in: "/write\nx\n/endwrite", visible: "/write\nx\n/endwrite", kinds: []string{"missing_argument"},
		},
		"lesson without signature": {
			in: "/lesson\n/frob\n/endlesson \nx\n", visible: "/lesson\n/frob\n/endlesson \nx\n", kinds: []string{"missing_argument"},
		},
		"lesson without signature, single": {
			in: "/lesson\n/frob\n/list\n/endlesson\n", visible: "/lesson\n/frob\n/endlesson\n",
			commands: []string{"list||"}, kinds: []string{"missing_argument", "unknown_verb", "stray_terminator"},
		},
		"sub-verb blanks": {
			in: "/mem  add\t entry reference x\nb\n/endmem\n", commands: []string{"mem|add\t entry reference x|b\n"},
		},
		"terminator with words": {
			in: "/endwrite x\n/endwrite\t\n", visible: "/endwrite x\n/endwrite\t\n", kinds: []string{"unknown_verb", "stray_terminator"},
		},
		"todo terminator in a fence": {
			in: "/todo add A\n```\n/endtodo\n```\n/endtodo\n", commands: []string{"todo|add A|```\n/endtodo\n```\n"},
		},
		"todo command in a fence": {
			in: "/todo add A\n```\n/exec x\n```\n/endtodo\nz", visible: "z", commands: []string{"todo|add A|```\n/exec x\n```\n"},
		},
		"todo unclosed fence": {
			in: "/todo add A\n```\n/endtodo\n", visible: "```\n/endtodo\n", commands: []string{"todo|add A|"}, kinds: []string{"unclosed_fence"},
		},
		"todo unknown verb": {
			in: "/todo add A\n/frob\n/endtodo\n", commands: []string{"todo|add A|/frob\n"},
		},
		"todo unknown verb, single": {
			in: "/todo add A\n/frob\n", visible: "/frob\n", commands: []string{"todo|add A|"}, kinds: []string{"unknown_verb"},
		},
		"lesson with text": {
			in: "/lesson a: b\nx\n/endlesson\n", visible: "x\n/endlesson\n", commands: []string{"lesson|a: b|"}, kinds: []string{"stray_terminator"},
		},
		"think closes anywhere": {
			in: "<think>a</thi</think>/exec x\n/exec y\n", visible: "<think>a</thi</think>/exec x\n", commands: []string{"exec|y|"},
		},
		"think unclosed":        {in: "<think>\n```\n/exec\n", visible: "<think>\n```\n/exec\n", kinds: []string{"unclosed_think"}},
		"think not at column 0": {in: " <think>\n/list\n", visible: " <think>\n", commands: []string{"list||"}},
		"no second think":       {in: "<think><think></think>\n/list\n", visible: "<think><think></think>\n", commands: []string{"list||"}},
		"cr inside":             {in: "/list\rx\n/frob\rx\n/list\r\r \n", visible: "/list\rx\n/frob\rx\n", commands: []string{"list||"}},
		"punctuation":           {in: "/exec: x\n/1\n/\n//list\n", visible: "/exec: x\n/1\n/\n//list\n"},
		"too much":              {in: "/list x\n/parallel 2\n/endparallel", commands: []string{"list|x|", "parallel|2|"}},
		"half a mark":           {in: "\xef\xbb/list\n", visible: "\xef\xbb/list\n"},
		"mark":                  {in: "\xef\xbb\xbf/list\n\xef\xbb\xbf/list\n", visible: "\xef\xbb\xbf/list\n", commands: []string{"list||"}},
		"swallowed":             {in: "/write a\n/exec b\n/list", commands: []string{"write|a|"}, kinds: []string{"unterminated_block"}},
		"long name":             {in: "/" + strings.Repeat("x", 200) + "\n", visible: "/" + strings.Repeat("x", 200) + "\n", kinds: []string{"unknown_verb"}},
		"four spaces":           {in: "    ```\n/list\n", visible: "    ```\n", commands: []string{"list||"}},
		"long path":             {in: "/" + strings.Repeat("x", 200) + "/\n", visible: "/" + strings.Repeat("x", 200) + "/\n"},
	} {
		t.Run(name, func(t *testing.T) {
			r := scanAll(tab, c.in)
			var commands []string
			for _, cmd := range r.commands {
				commands = append(commands, cmd.Verb+"|"+cmd.Args+"|"+cmd.Body)
			}
			if r.visible.String() != c.visible {
				t.Errorf("visible is %q", r.visible.String())
			}
			if d := cmp.Diff(c.commands, commands); d != "" {
				t.Error(d)
			}
			if d := cmp.Diff(strings.Join(c.kinds, " "), strings.Join(r.kinds(), " ")); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestDiagnosticsSayWhatToDo(t *testing.T) {
	r := scanAll(table(t), "a\n/exce ls\n  /list\n/exec\n/endtodo\n/qqqqqq\n/write p\n/exec b\n/list\n")
	want := []string{
		"line 2: unknown verb /exce, not run; did you mean /exec?",
		"line 3: /list is indented, not run; a command starts at column 0",
		"line 4: /exec lacks its argument, not run; /help exec shows its form",
		"line 5: /endtodo closes nothing, ignored; open a block first",
		"line 6: unknown verb /qqqqqq, not run; /help lists the verbs",
		"line 7: the block of /write was never closed, nothing of it was run; close it with its terminator at column 0",
	}
	var got []string
	for _, d := range r.diagnostics {
		got = append(got, d.String())
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	last := r.commands[len(r.commands)-1]
	if d := cmp.Diff([]string{"/exec b", "/list"}, last.Swallowed); d != "" || last.SwallowedCount != 2 {
		t.Errorf("swallowed %d:\n%s", last.SwallowedCount, d)
	}
}

func TestOrder(t *testing.T) {
	r := scanAll(table(t), "a\n/todo add x\nb\n/frob\nc\n  /list\n/list\nd\n")
	var got []string
	for _, event := range r.order {
		word, _, _ := strings.Cut(event, "Args")
		got = append(got, strings.TrimSpace(word))
	}
	want := []string{
		"prose a", "command {Verb:todo", "prose b\n/frob", "diagnostic line 4: unknown verb /frob, not run; /help lists the verbs", "prose c\n  /list",
		"diagnostic line 6: /list is indented, not run; a command starts at column 0", "command {Verb:list", "prose d",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestTableRefusesNonsense(t *testing.T) {
	for name, verbs := range map[string][]Verb{
		"upper case": {{Name: "Exec"}}, "empty": {{}}, "twice": {{Name: "a"}, {Name: "a"}},
		"no terminator":      {{Name: "a", Block: &Block{}}},
		"blank terminator":   {{Name: "a", Block: &Block{Terminators: []string{"end a"}}}},
		"verb as terminator": {{Name: "a", Block: &Block{Terminators: []string{"b"}}}, {Name: "b"}},
	} {
		if _, err := NewTable(verbs); !errors.Is(err, ErrTable) {
			t.Errorf("%s: error is %v", name, err)
		}
	}
}

func TestWriteAfterClose(t *testing.T) {
	s := New(table(t), &recorder{})
	s.Close()
	if _, err := s.Write([]byte("x")); !errors.Is(err, ErrClosed) {
		t.Errorf("error is %v", err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

func TestProseIsPassedOnAtOnce(t *testing.T) {
	tab := table(t)
	for _, c := range []struct{ chunk, passed string }{
		{"H", "H"},
		{"Hello\nwor", "Hello\nwor"},
		{"a\n/us", "a\n/us"},
		{"a\n/ex", "a\n"},
		{"a\n/exec ls", "a\n"},
		{"a\n/exec/", "a\n/exec/"},
		{"  /exec", "  /exec"},
		{"`", "`"},
		{"```go", "```go"},
		{"<thi", "<thi"},
		{"<think>x", "<think>x"},
		{"caf\xc3", "caf"},
		{"\xf0\x9f\xa6", ""},
		{"a\xff", "a\xff"},
		{"/frob x", "/frob x"},
		{"/endwrite x", "/endwrite x"},
		{"/write a\nbody", ""},
		{"/write\nbody", "/write\nbody"},
		{"/todo add x\nbody", ""},
		{"/todo done 1\nbody", "body"},
	} {
		r := &recorder{}
		s := New(tab, r)
		s.Write([]byte(c.chunk))
		if got := r.visible.String(); got != c.passed {
			t.Errorf("after %q, %q was passed on, expected %q", c.chunk, got, c.passed)
		}
	}
}

// pieces are what random streams are made of: everything that means something
// to the scanner, and what nearly does.
var pieces = []string{
	"/exec ls", "/list", "/write a", "/write", "/endwrite", "/parallel", "/endparallel", "/mem add entry x y", "/mem add  entry",
	"/endentry", "/endmem", "/todo add t", "/todo add", "/todo", "/endtodo", "/lesson s", "/lesson s: t", "/lesson list", "/lesson", "/endlesson",
	"/frob", "/usr/bin", "/", "```", "````", "~~~", "```go", "``` a`b", "<think>", "</think>", "<thi", " ", "   ", "    ", "\t", "\r",
	"prose", "é", "🦫", "\xe2\x82", "\xff", "\ufeff", "a /exec b", ":", "/endwrite x", "/exec", "\n", "\n", "\n", "\n", "\r\n",
}

func streams() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 40).Draw(t, "pieces"), "")
	})
}

func TestChunking(t *testing.T) {
	tab := table(t)
	rapid.Check(t, func(t *rapid.T) {
		in := streams().Draw(t, "in")
		var chunks []string
		for rest := in; rest != ""; {
			n := rapid.IntRange(0, min(len(rest), 9)).Draw(t, "n")
			chunks = append(chunks, rest[:n])
			rest = rest[n:]
			if n == 0 {
				chunks, rest = append(chunks, rest[:1]), rest[1:]
			}
		}
		if d := cmp.Diff(scanAll(tab, in).order, scanAll(tab, chunks...).order); d != "" {
			t.Fatalf("chunks %q of %q:\n%s", chunks, in, d)
		}
	})
}

func TestHiddenIsConsumed(t *testing.T) {
	tab := table(t)
	rapid.Check(t, func(t *rapid.T) {
		in := streams().Draw(t, "in")
		if problem := hidden(in, scanAll(tab, in)); problem != "" {
			t.Fatalf("%q: %s", in, problem)
		}
	})
}

// hidden compares what a scanner passed on with the input less its commands.
func hidden(in string, r *recorder) string {
	at := int64(0)
	if strings.HasPrefix(in, "\ufeff") {
		at = 3
	}
	var want strings.Builder
	for _, c := range r.commands {
		if c.Start < at || c.End < c.Start || c.End > int64(len(in)) {
			return "a command's span is out of order"
		}
		if !strings.HasPrefix(in[c.Start:c.End], "/"+c.Verb) {
			return "a command's span does not start with it"
		}
		if c.HasBody && !strings.Contains(in[c.Start:c.End], c.Body) {
			return "a body is not in its span"
		}
		want.WriteString(in[at:c.Start])
		at = c.End
	}
	want.WriteString(in[at:])
	if want.String() != r.visible.String() {
		return "visible is " + r.visible.String()
	}
	return ""
}

// TestRunesAreWhole checks that no piece of prose of a valid stream ends inside
// a rune.
func TestRunesAreWhole(t *testing.T) {
	tab := table(t)
	s := New(tab, runes{t})
	for _, b := range []byte("né 🦫\n/exec é\n```é\n世界\n```\n<think>世</think>界\n/frob 世\n") {
		s.Write([]byte{b})
	}
	s.Close()
}

type runes struct{ t *testing.T }

func (r runes) Prose(p []byte) {
	if !utf8.Valid(p) {
		r.t.Errorf("a piece is cut: %q", p)
	}
}
func (runes) Command(Command)       {}
func (runes) Diagnostic(Diagnostic) {}

func FuzzScanner(f *testing.F) {
	for _, c := range conformance.Cases[conformanceCase](f, "dialect") {
		if len(c.Input) < 2000 {
			f.Add([]byte(c.Input), uint64(len(c.Input)))
		}
	}
	tab := table(f)
	f.Fuzz(func(t *testing.T, in []byte, cuts uint64) {
		whole := scanAll(tab, string(in))
		if problem := hidden(string(in), whole); problem != "" {
			t.Fatal(problem)
		}
		var chunks []string
		rest := string(in)
		for rest != "" {
			cuts = cuts*6364136223846793005 + 1442695040888963407
			n := min(len(rest), 1+int(cuts>>60))
			chunks, rest = append(chunks, rest[:n]), rest[n:]
		}
		if d := cmp.Diff(whole.order, scanAll(tab, chunks...).order); d != "" {
			t.Fatalf("chunks %q:\n%s", chunks, d)
		}
	})
}
