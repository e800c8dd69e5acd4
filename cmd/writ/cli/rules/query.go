package rules

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/writbus/writ/cmd/writ/cli/client"
	"github.com/writbus/writ/schemas"
)

// retrieveReply is the part of the retrieval's answer that is shown.
type retrieveReply struct {
	Rules       []foundRule `json:"rules"`
	Mode        string      `json:"mode"`
	Tier        string      `json:"tier"`
	Probability float64     `json:"probability"`
	Embedder    string      `json:"embedder"`
	Profile     string      `json:"profile"`
	Problem     string      `json:"problem"`
	Block       string      `json:"block"`
	Tokens      int         `json:"tokens"`
	Latency     struct {
		Total float64 `json:"total"` // microseconds
	} `json:"latency_us"`
}

type foundRule struct {
	schemas.Rule
	ID    string  `json:"id"`
	Score float64 `json:"score"`
	Tier  string  `json:"tier"`
	Why   struct {
		BM25       float64 `json:"bm25"`
		Vector     float64 `json:"vector"`
		Severity   float64 `json:"severity"`
		Confidence float64 `json:"confidence"`
		Graph      float64 `json:"graph"`
		Pinned     bool    `json:"pinned"`
		Ranks      struct {
			BM25   int `json:"bm25"`
			Vector int `json:"vector"`
		} `json:"ranks"`
		Terms []struct {
			Term  string  `json:"term"`
			Score float64 `json:"score"`
		} `json:"terms"`
	} `json:"why"`
}

func (a *app) queryCommand() *cobra.Command {
	var request schemas.RetrieveRequest
	var block bool
	c := &cobra.Command{
		Use:   "query TEXT",
		Short: "Find the rules that matter for a text",
		Example: `  writ query "retry a payment request"
  writ query --explain --domain go "close the response body"
  writ query --json "parse user input" | jq -r '.rules[].id'`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			request.Query = strings.Join(args, " ")
			raw, err := client.Ask[json.RawMessage](cmd.Context(), a.Client, client.RoleHook, "query", schemas.SvcRetrieve, request)
			if err != nil {
				return err
			}
			if a.JSON {
				return a.PrintJSON(raw)
			}
			var reply retrieveReply
			if err := json.Unmarshal(raw, &reply); err != nil {
				return &client.Fault{What: "query: the daemon's answer cannot be read", Why: err.Error()}
			}
			if block {
				a.Printf("%s", reply.Block)
				return nil
			}
			a.showFound(reply, request.Explain)
			return nil
		},
	}
	flags := c.Flags()
	flags.BoolVar(&request.Explain, "explain", false, "show why each rule was found")
	flags.BoolVar(&block, "block", false, "print the text an agent would be given")
	flags.IntVar(&request.BudgetTokens, "budget", 0, "tokens the answer may take (default 4000)")
	flags.IntVar(&request.Limit, "limit", 0, "most rules to show")
	flags.StringSliceVar(&request.Domains, "domain", nil, "only rules of this domain, and those of none")
	flags.StringSliceVar(&request.Exclude, "exclude", nil, "rule ids to leave out")
	flags.StringVar(&request.Profile, "profile", "", "weights to rank with")
	flags.StringVar(&request.Session, "session", "", "ask as this session")
	return c
}

func (a *app) showFound(reply retrieveReply, explained bool) {
	st := a.Env.Style(a.Out)
	if len(reply.Rules) == 0 {
		a.Printf("No rule is relevant (probability %.2f, embedder %s). With --kind words, rules are found by their words alone.\n", reply.Probability, reply.Embedder)
		return
	}
	for _, r := range reply.Rules {
		id := cmp.Or(r.ID, r.Rule.ID)
		a.Printf("%s  %s\n", st.Bold(st.Cyan(id)), st.Bold(r.Title))
		a.Printf("    %s\n", st.Dim(ruleFacts(r)))
		if r.Tier != "titles" {
			for _, line := range a.Prose(r.Statement, 4) {
				a.Printf("    %s\n", line)
			}
		}
		if explained {
			a.Printf("    %s\n", st.Dim(reasons(r)))
		}
		a.Printf("\n")
	}
	a.Printf("%s\n", st.Dim(fmt.Sprintf("%s in %.1f ms; probability %.2f, %s, embedder %s, profile %s",
		client.Plural(len(reply.Rules), "rule", "rules"), reply.Latency.Total/1000, reply.Probability, reply.Mode, reply.Embedder, reply.Profile)))
	if reply.Problem != "" {
		a.Printf("%s %s\n", st.Yellow("warning:"), reply.Problem)
	}
}

func ruleFacts(r foundRule) string {
	return client.JoinNonEmpty(" · ", fmt.Sprintf("score %.2f", r.Score), r.Severity, r.Domain, r.Authority)
}

func reasons(r foundRule) string {
	w := r.Why
	text := fmt.Sprintf("because: words %.3f (%s), meaning %.3f (%s), severity %.2f, confidence %.2f, neighbours %.2f",
		w.BM25, place(w.Ranks.BM25), w.Vector, place(w.Ranks.Vector), w.Severity, w.Confidence, w.Graph)
	if w.Pinned {
		text += ", named in the text"
	}
	var terms []string
	for _, t := range w.Terms {
		term := t.Term
		if strings.Contains(term, " ") { // words that stand beside each other
			term = "“" + term + "”"
		}
		terms = append(terms, term)
	}
	if len(terms) > 0 {
		text += "; matched " + strings.Join(terms, ", ")
	}
	return text
}

// place is a rule's in a list of candidates; 0 is none.
func place(rank int) string {
	if rank == 0 {
		return "not in its list"
	}
	return fmt.Sprintf("rank %d", rank)
}
