package vocabulary

import (
	"sync"

	"github.com/writbus/writ/enforcement/dialect"
	"github.com/writbus/writ/observer/agent/stream"
)

// Table is the scanner's table of the language's verbs. It is made once and
// may be shared.
var Table = sync.OnceValue(func() *stream.Table {
	var verbs []stream.Verb
	for _, v := range dialect.Verbs() {
		one := stream.Verb{Name: v.Name, Required: v.Required}
		if v.Block != nil {
			block := stream.Block(*v.Block)
			one.Block = &block
		}
		verbs = append(verbs, one)
	}
	table, err := stream.NewTable(verbs)
	if err != nil {
		panic(err) // the table is part of the program
	}
	return table
})
