// Package parquet writes rows of events as a file of Parquet. It is a package of its
// own for the sake of programs that only make rows: the library is large.
package parquet

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"

	"github.com/parquet-go/parquet-go"

	"github.com/writbus/writ/observer/eventlog/table"
)

const (
	// groupRows is how many rows stay together: what is held in memory while they are
	// written, and what a reader can skip.
	groupRows = 50_000
	// batchRows is how many are handed over at once.
	batchRows = 500
)

// Convert reads rows, each a JSON object, until they end, and writes them as a whole
// file of Parquet, compressed with zstd.
func Convert(to io.Writer, from io.Reader) error {
	w := parquet.NewGenericWriter[table.Row](to, parquet.Compression(&parquet.Zstd), parquet.MaxRowsPerRowGroup(groupRows))
	lines := json.NewDecoder(bufio.NewReader(from))
	for batch := make([]table.Row, 0, batchRows); ; batch = batch[:0] {
		var err error
		for err == nil && len(batch) < batchRows {
			var row table.Row
			if err = lines.Decode(&row); err == nil {
				row.Text = string(row.Data)
				batch = append(batch, row)
			}
		}
		if _, failed := w.Write(batch); failed != nil {
			return failed
		}
		switch {
		case errors.Is(err, io.EOF):
			return w.Close()
		case err != nil:
			return err
		}
	}
}
