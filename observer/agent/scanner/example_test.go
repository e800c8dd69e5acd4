package scanner_test

import (
	"fmt"

	"github.com/writbus/writ/observer/agent/scanner"
)

type printer struct{}

func (printer) Prose(text []byte)               { fmt.Printf("prose: %q\n", text) }
func (printer) Command(c scanner.Command)       { fmt.Printf("command: %s %s %q\n", c.Verb, c.Args, c.Body) }
func (printer) Diagnostic(d scanner.Diagnostic) { fmt.Println("note:", d) }

func ExampleScanner() {
	table, err := scanner.NewTable([]scanner.Verb{
		{Name: "exec", Required: true},
		{Name: "write", Required: true, Block: &scanner.Block{Terminators: []string{"endwrite"}}},
	})
	if err != nil {
		panic(err)
	}
	s := scanner.New(table, printer{})
	for _, chunk := range []string{"I look first.\n/ex", "ec ls\n/wri", "te a.md\n# A\n/endwrite\n/exce rm\n"} {
		s.Write([]byte(chunk))
	}
	s.Close()
	// Output:
	// prose: "I look first.\n"
	// command: exec ls ""
	// command: write a.md "# A\n"
	// prose: "/exce rm\n"
	// note: line 6: unknown verb /exce, not run; did you mean /exec?
}
