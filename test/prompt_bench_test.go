package test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/writbus/writ/enforcement"
	"github.com/writbus/writ/enforcement/host"
	"github.com/writbus/writ/enforcement/host/hosts"
	"github.com/writbus/writ/enforcement/redact"
	"github.com/writbus/writ/retrieval"
	"github.com/writbus/writ/retrieval/corpus"
	"github.com/writbus/writ/retrieval/embed/static"
	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/schemas/language"
	"github.com/writbus/writ/test/processor"
)

// promptShapes are texts that people paste into prompts.
var promptShapes = map[string]func(i int) string{
	"log": func(i int) string {
		return fmt.Sprintf("2026-05-0%d 12:%02d:%02d [worker-%d] ERROR store.go:%d: cannot open \"/var/lib/app/%d.db\": it's locked by 'pid %d'\n", i%9+1, i/60%60, i%60, i%8, i, i, i*7)
	},
	"code": func(i int) string {
		return fmt.Sprintf("func handle%d(w http.ResponseWriter, r *http.Request) error {\n\tif r.Method != \"GET\" { return fmt.Errorf(\"%%s: not allowed: %%w\", r.URL, errMethod) }\n\treturn json.NewEncoder(w).Encode(map[string]int{\"id\": %d})\n}\n", i, i)
	},
	"line":  func(i int) string { return fmt.Sprintf("k%xz%x", i*7919, i*104729) },
	"words": func(int) string { return "approved, go ahead and " },
	"prose": func(i int) string { return fmt.Sprintf("I'd like item %d of the list to be shown with its price. ", i) },
	"unicode": func(i int) string {
		return fmt.Sprintf("計画%dを確認しました。„Größe“ — naïve, ’tis ✅ 🚀 done\n", i)
	},
}

func longPrompt(shape string, size int) string {
	var b strings.Builder
	b.WriteString("Please look at this and tell me what is wrong:\n")
	for i := 0; b.Len() < size; i++ {
		b.WriteString(promptShapes[shape](i))
	}
	return strings.ToValidUTF8(b.String()[:size], "")
}

// promptStages are what a prompt passes in the daemon, each on its own.
func promptStages(b *testing.B) map[string]func(prompt string) {
	embedder, err := static.Default()
	if err != nil {
		b.Fatal(err)
	}
	shipped, err := corpus.EmbeddedRules()
	if err != nil {
		b.Fatal(err)
	}
	documents, err := retrieval.AnalyseAll(shipped, embedder)
	if err != nil {
		b.Fatal(err)
	}
	rules, err := retrieval.NewIndex(documents, retrieval.Options{Embedder: embedder})
	if err != nil {
		b.Fatal(err)
	}
	settings := enforcement.DefaultSettings()
	waiting := enforcement.State{Project: "/p", Mode: enforcement.ModeWork, Host: "claude", Work: enforcement.Work{Phase: enforcement.PhasePlanning}}
	return map[string]func(string){
		"parse": func(p string) {
			payload, _ := json.Marshal(map[string]string{"hook_event_name": "UserPromptSubmit", "session_id": "s", "prompt": p})
			if _, err := hosts.Parse("claude", "", hosts.ShortenPrompt("claude", "UserPromptSubmit", payload)); err != nil {
				b.Fatal(err)
			}
		},
		"act": func(p string) { enforcement.MayAct(p, settings) },
		"decide": func(p string) {
			d, err := enforcement.Decide(waiting, enforcement.SubmitPrompt{Prompt: p, ActID: "a", Origin: enforcement.OriginUser, Settings: settings})
			if err != nil || len(d.Record) == 0 {
				b.Fatal(d, err)
			}
		},
		"redact":   func(p string) { redact.Payload(schemas.PromptSubmitted{Prompt: p}) },
		"language": func(p string) { language.NamedIn(p) },
		"retrieve": func(p string) { rules.Search(retrieval.Query{Text: p, Session: "s", Project: true}) },
	}
}

// BenchmarkPrompt is the processor time of one prompt in each stage of the daemon's
// path, by what was pasted into it.
func BenchmarkPrompt(b *testing.B) {
	stages := promptStages(b)
	for _, size := range []int{1 << 10, 10 << 10, 60 << 10, 500 << 10, 5 << 20} {
		for shape := range promptShapes {
			whole := longPrompt(shape, size)
			for stage, pass := range stages {
				prompt := whole
				if stage != "parse" {
					prompt, _ = host.ShortenPrompt(whole)
				}
				b.Run(fmt.Sprintf("%s/%s/%dKB", stage, shape, size>>10), func(b *testing.B) {
					before := processor.Time()
					for b.Loop() {
						pass(prompt)
					}
					b.ReportMetric(float64((processor.Time()-before).Microseconds())/1000/float64(b.N), "processor-ms/op")
				})
			}
		}
	}
}
