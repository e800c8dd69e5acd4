package vocabulary

import (
	"sync"

	"github.com/writbus/writ/enforcement/dialect"
	"github.com/writbus/writ/observer/agent/scanner"
)

// Table is the scanner's table of the language's verbs. It is made once and
// may be shared.
var Table = sync.OnceValue(func() *scanner.Table {
	var verbs []scanner.Verb
	for _, v := range dialect.Verbs() {
		one := scanner.Verb{Name: v.Name, Required: v.Required}
		if v.Block != nil {
			block := scanner.Block(*v.Block)
			one.Block = &block
		}
		verbs = append(verbs, one)
	}
	table, err := scanner.NewTable(verbs)
	if err != nil {
		panic(err) // the table is part of the program
	}
	return table
})
