package redact

import (
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

var textsFlag = flag.String("texts", "", "folders with texts, separated by commas, for TestFalseAlarms; each line of a .jsonl file is a text of its own")

// TestFalseAlarms lists what would be taken out of texts that hold no secrets,
// or hardly any:
//
//	go test ./enforcement/redact -run TestFalseAlarms -v -texts DIR,DIR
func TestFalseAlarms(t *testing.T) {
	if *textsFlag == "" {
		t.Skip("measures on texts outside the repository; give them with -texts DIR,DIR")
	}
	texts, changed := 0, 0
	look := func(name, text string) {
		texts++
		spans := Find([]byte(text))
		changed += min(len(spans), 1)
		for _, s := range spans {
			t.Logf("%s: %s: %q → %q", name, s.Kind, text[max(s.Start-50, 0):s.Start], text[s.Start:min(s.End, s.Start+70)])
		}
	}
	for _, dir := range strings.Split(*textsFlag, ",") {
		err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || !entry.Type().IsRegular() {
				return err
			}
			content, err := os.ReadFile(path)
			if err != nil || !utf8.Valid(content) {
				return err
			}
			if !strings.HasSuffix(path, ".jsonl") {
				look(entry.Name(), string(content))
				return nil
			}
			for line := range strings.Lines(string(content)) {
				look(entry.Name(), line)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d of %d texts would be changed", changed, texts)
}
