package whatif

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/writbus/writ/schemas/excerpt"
)

// Report is what would have changed. Field names are stable.
type Report struct {
	Change    []string       `json:"change"` // what was tried, for people
	Sessions  int            `json:"sessions"`
	Decisions Decisions      `json:"decisions"`
	Flips     []Flip         `json:"flips"`
	Prompts   Prompts        `json:"prompts"`
	Prompted  []PromptChange `json:"prompt_changes"`
	Rules     []RuleChange   `json:"rules"` // by how much they changed, most first
	Held      Held           `json:"held"`
	// Graduated counts the rules that both searches weighed by their outcomes, as
	// it stood at the last prompt.
	Graduated int `json:"graduated"`
	// Undecodable counts the records that this build does not understand.
	Undecodable int `json:"undecodable,omitempty"`
	// Notes say what was not run again.
	Notes []string `json:"notes"`
}

// Decisions counts what became of recorded decisions.
type Decisions struct {
	Total     int            `json:"total"`
	Again     int            `json:"run_again"`
	Flipped   int            `json:"flipped"`
	OtherRule int            `json:"other_rule"` // the same verdict for another reason
	Kinds     map[string]int `json:"kinds"`      // "deny → allow": how many
	Cannot    map[string]int `json:"cannot"`     // by why it was not run again
}

// Answer is a verdict with its reason.
type Answer struct {
	Verdict string `json:"verdict"`
	Rule    string `json:"rule,omitempty"`
	Reason  string `json:"reason,omitempty"`
}

// Flip is a decision that would have come out otherwise.
type Flip struct {
	Session string    `json:"session"`
	Seq     uint64    `json:"seq"`
	Time    time.Time `json:"time"`
	Tool    string    `json:"tool"`
	Target  string    `json:"target,omitempty"`
	Was     Answer    `json:"was"`
	Would   Answer    `json:"would"`
}

// Prompts counts what became of recorded prompts. Now is a search over the
// corpus and weights of today, Then over those of the change.
type Prompts struct {
	Total      int     `json:"total"`
	Changed    int     `json:"changed"`
	AsRecorded int     `json:"as_recorded"` // for which today gives the rules that were recorded
	Gained     int     `json:"rules_gained"`
	Lost       int     `json:"rules_lost"`
	TokensNow  int     `json:"tokens_now"`
	TokensThen int     `json:"tokens_then"`
	Now        Latency `json:"latency_now"`
	Then       Latency `json:"latency_then"`
}

// Held is what was left as recorded: rules that a file brought up when it was
// written or read. What was in the file is not in the log.
type Held struct {
	Times  int      `json:"times"`
	Rules  int      `json:"rules"` // counted each time
	Tokens int      `json:"tokens"`
	Gone   []string `json:"gone"` // those of them that the corpus tried does not have, which would not have come
}

// Latency is of searches, microseconds.
type Latency struct {
	P50 float64 `json:"p50_us"`
	P95 float64 `json:"p95_us"`
}

// PromptChange is a prompt that would have brought other rules.
type PromptChange struct {
	Session    string    `json:"session"`
	Seq        uint64    `json:"seq"`
	Time       time.Time `json:"time"`
	Prompt     string    `json:"prompt"`
	Gained     []string  `json:"gained,omitempty"`
	Lost       []string  `json:"lost,omitempty"`
	Recorded   []string  `json:"recorded,omitempty"`
	TokensNow  int       `json:"tokens_now"`
	TokensThen int       `json:"tokens_then"`
}

// RuleChange counts the prompts that gained or lost a rule.
type RuleChange struct {
	ID     string `json:"id"`
	Gained int    `json:"gained"`
	Lost   int    `json:"lost"`
}

// Report ends the run.
func (r *Run) Report() Report {
	out := r.report
	out.Sessions = len(r.sessions)
	out.Prompts.Now, out.Prompts.Then = latencyOf(r.took[0]), latencyOf(r.took[1])
	out.Graduated = r.change.Outcomes.Graduated()
	out.Rules = []RuleChange{}
	for _, rule := range r.rules {
		out.Rules = append(out.Rules, *rule)
	}
	slices.SortFunc(out.Rules, func(a, b RuleChange) int {
		return cmp.Or(cmp.Compare(b.Gained+b.Lost, a.Gained+a.Lost), cmp.Compare(a.ID, b.ID))
	})
	out.Notes = r.notes()
	return out
}

func (r *Run) notes() (notes []string) {
	if r.change.Policy != nil {
		notes = append(notes, "Each decision was judged by itself, on the session as it was: what agent and user would have done after another answer nobody knows.")
	}
	if r.change.Then != nil {
		notes = append(notes,
			fmt.Sprintf("Both searches weigh rules by what use had taught about them when each prompt came (graduation, %s at the last one). Rules themselves are those of today or of the corpus tried, not those of then.", excerpt.Count(r.change.Outcomes.Graduated(), "rule")),
			"Both searches have the room that the mandatory rules leave in a prompt; what else the host was told then is not in the log.")
		if held := r.report.Held; held.Times > 0 {
			note := fmt.Sprintf("Held as recorded: files that were written or read brought %s in %s (%d tokens). They count as shown in both searches; the text that they were found by is not in the log.",
				excerpt.Count(held.Rules, "rule"), excerpt.Count(held.Times, "answer"), held.Tokens)
			if len(held.Gone) > 0 {
				note += " The corpus tried lacks " + strings.Join(held.Gone, ", ") + ": these would not have come."
			}
			notes = append(notes, note)
		}
	}
	return notes
}

func latencyOf(took []int64) Latency {
	if len(took) == 0 {
		return Latency{}
	}
	sorted := slices.Sorted(slices.Values(took))
	at := func(q float64) float64 { return float64(sorted[int(q*float64(len(sorted)-1))]) / 1e3 }
	return Latency{P50: at(.5), P95: at(.95)}
}

// cut shortens a text to one line of at most n characters.
func cut(text string, n int) string { return excerpt.Runes(excerpt.Line(text), n) }

// Write prints the report for people.
func (r Report) Write(w io.Writer) error {
	out := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	put := func(format string, args ...any) { _, _ = fmt.Fprintf(out, format, args...) } // Flush tells
	put("What if: %s\n\n", strings.Join(r.Change, "; "))
	if d := r.Decisions; d.Total > 0 {
		put("%s, %d run again: %d would have come out otherwise, %d the same for another rule\n", excerpt.Count(d.Total, "decision"), d.Again, d.Flipped, d.OtherRule)
		for _, kind := range slices.Sorted(maps.Keys(d.Kinds)) {
			put("  %s\t%d\n", kind, d.Kinds[kind])
		}
		for _, why := range slices.Sorted(maps.Keys(d.Cannot)) {
			put("  not run again: %d: %s\n", d.Cannot[why], why)
		}
		_ = out.Flush()
		for _, f := range r.Flips {
			put("\n%s  %s #%d  %s %s\n", f.Time.Local().Format("01-02 15:04:05"), f.Session, f.Seq, f.Tool, f.Target)
			put("  was    %s\n", answerText(f.Was))
			put("  would  %s\n", answerText(f.Would))
		}
		if more := d.Flipped - len(r.Flips); more > 0 {
			put("\n%d more; --list 0 shows all\n", more)
		}
		put("\n")
	}
	if p := r.Prompts; p.Total > 0 {
		put("%s: %d would have brought other rules (%d gained, %d lost); today's search gives what was recorded for %d\n", excerpt.Count(p.Total, "prompt"), p.Changed, p.Gained, p.Lost, p.AsRecorded)
		put("\tnow\tthen\n")
		put("tokens\t%d\t%d\n", p.TokensNow, p.TokensThen)
		put("search p50\t%.0f µs\t%.0f µs\n", p.Now.P50, p.Then.P50)
		put("search p95\t%.0f µs\t%.0f µs\n", p.Now.P95, p.Then.P95)
		if len(r.Rules) > 0 {
			put("\nrule\tgained by\tlost by\n")
			for i, rule := range r.Rules {
				if i == topRules {
					put("and %d more\n", len(r.Rules)-i)
					break
				}
				put("%s\t%d\t%d\n", rule.ID, rule.Gained, rule.Lost)
			}
		}
		_ = out.Flush()
		for _, c := range r.Prompted {
			put("\n%s  %s #%d  %s\n", c.Time.Local().Format("01-02 15:04:05"), c.Session, c.Seq, c.Prompt)
			for _, id := range c.Gained {
				put("  + %s\n", id)
			}
			for _, id := range c.Lost {
				put("  - %s\n", id)
			}
		}
		if more := p.Changed - len(r.Prompted); more > 0 {
			put("\n%d more; --list 0 shows all\n", more)
		}
		put("\n")
	}
	if r.Decisions.Total+r.Prompts.Total == 0 {
		put("Nothing of that kind is in the log.\n")
	}
	for _, note := range r.Notes {
		put("%s\n", note)
	}
	return out.Flush()
}

// topRules is how many rules a person is shown.
const topRules = 15

func answerText(a Answer) string {
	if strings.HasPrefix(a.Reason, a.Rule) {
		return strings.TrimSpace(a.Verdict + "  " + cut(a.Reason, 160))
	}
	return strings.TrimSpace(a.Verdict + "  " + a.Rule + " " + cut(a.Reason, 160))
}
