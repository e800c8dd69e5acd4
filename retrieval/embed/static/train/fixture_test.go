package train

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// topics are words that stand together.
var topics = [][]string{
	strings.Fields("mutex lock thread deadlock goroutine race atomic contention waiter fairness"),
	strings.Fields("query table index column transaction database schema migration cursor rows"),
	strings.Fields("socket timeout packet connection retry backoff latency proxy handshake network"),
	strings.Fields("colour font layout margin button stylesheet pixel viewport animation theme"),
}

// topical writes n records, each of words of one topic among filler, to a file
// of a new folder.
func topical(t testing.TB, n int) string {
	t.Helper()
	random := rand.New(rand.NewPCG(3, 4))
	dir := t.TempDir()
	filler := strings.Fields("the a of to and when is for")
	sentence := func(topic []string, words int) string {
		var b []string
		for range words {
			b = append(b, topic[random.IntN(len(topic))], filler[random.IntN(len(filler))])
		}
		return strings.Join(b, " ")
	}
	var records []Record
	for i := range n {
		topic := topics[i%len(topics)]
		records = append(records, Record{
			Source: fmt.Sprintf("source %d", i%3), Title: topic[0], Heading: sentence(topic, 2), Body: sentence(topic, 25),
		})
	}
	writeRecords(t, filepath.Join(dir, "records.jsonl.gz"), records)
	return dir
}

func writeRecords(t testing.TB, name string, records []Record) {
	t.Helper()
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	zipped := gzip.NewWriter(f)
	lines := json.NewEncoder(zipped)
	for _, r := range records {
		if err := lines.Encode(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := zipped.Close(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// tiny are options that train in well under a second.
func tiny(dir string) Options {
	o := Defaults()
	o.Dir, o.Words, o.Buckets, o.Dim, o.Contexts = dir, 30, 64, 16, 32
	o.Epochs, o.Batch, o.Block, o.LearningRate = 3, 32, 8, 0.01
	return o
}
