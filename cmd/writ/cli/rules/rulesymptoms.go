package rules

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/spf13/cobra"

	"github.com/writbus/writ/cmd/writ/cli/client"
	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/schemas/atomicfile"
)

// symptomsBudget bounds one answer of the model, whose own time is in the settings.
const symptomsBudget = 5 * time.Minute

func (a *app) ruleSymptomsCommand() *cobra.Command {
	var write, accept string
	var ask bool
	c := &cobra.Command{
		Use: "symptoms [ID...]", Short: "Propose symptoms for rules that have none, and accept them",
		Long: `A symptom is how somebody who does not know a rule describes the trouble. Prompts
find a rule by them, and rules that were imported often have none. This proposes
some: from what each rule says itself or, with --ask, from the model that
config.yaml names, to which the texts of these rules are then sent, secrets taken
out. Without ids it is about every rule that has none.

Nothing is changed before you accept. --write puts the proposals into a file; take
out or reword what is wrong there, then --accept brings in what is left. A rule that
changed meanwhile is left alone.`,
		Example: `  writ rule symptoms --write symptoms.yaml
  writ rule symptoms GO-ERR-WRAP-001 --ask
  writ rule symptoms --accept symptoms.yaml`,
		RunE: func(cmd *cobra.Command, ids []string) error {
			switch {
			case accept != "" && (ask || write != "" || len(ids) > 0):
				return client.Refused("rule symptoms", "--accept takes its file alone", "")
			case accept != "":
				return a.acceptSymptoms(cmd.Context(), accept)
			}
			proposed, err := a.proposeSymptoms(cmd.Context(), ids, ask)
			if err != nil && len(proposed) == 0 {
				return err
			}
			return a.showSymptoms(proposed, write, err)
		},
	}
	c.Flags().BoolVar(&ask, "ask", false, "have the configured model write them")
	c.Flags().StringVar(&write, "write", "", "write the proposals to this file, for you to go through")
	c.Flags().StringVar(&accept, "accept", "", "bring in what you left in this file")
	return c
}

// proposeSymptoms asks for the proposals, of a model rule by rule. What was answered
// before an error is returned with it.
func (a *app) proposeSymptoms(ctx context.Context, ids []string, ask bool) (proposed []schemas.RuleSymptoms, err error) {
	if err := a.NotForAgents(); err != nil {
		return nil, err
	}
	request := func(r schemas.RuleSymptomsRequest) (schemas.RuleSymptomsReply, error) {
		return client.AskWithin[schemas.RuleSymptomsReply](ctx, a.Client, client.RoleAdmin, "rule symptoms", symptomsBudget, schemas.SvcRuleSymptoms, r)
	}
	reply, err := request(schemas.RuleSymptomsRequest{IDs: ids})
	if err != nil || !ask {
		return reply.Rules, err
	}
	for i, r := range reply.Rules {
		if client.IsTerminal(a.Err) && !a.JSON {
			fmt.Fprintf(a.Err, "\r\x1b[K%d of %d: %s", i+1, len(reply.Rules), r.ID)
		}
		one, err := request(schemas.RuleSymptomsRequest{IDs: []string{r.ID}, Ask: true})
		if err != nil {
			return proposed, err
		}
		proposed = append(proposed, one.Rules...)
	}
	if client.IsTerminal(a.Err) && !a.JSON {
		fmt.Fprint(a.Err, "\r\x1b[K")
	}
	return proposed, nil
}

// showSymptoms prints the proposals, or writes them to a file. problem is why there
// are no more of them.
func (a *app) showSymptoms(proposed []schemas.RuleSymptoms, write string, problem error) error {
	none := 0
	var some []schemas.RuleSymptoms
	for _, r := range proposed {
		if len(r.Symptoms) == 0 {
			none++
		} else {
			some = append(some, r)
		}
	}
	switch {
	case a.JSON:
		if err := a.PrintJSON(schemas.RuleSymptomsReply{Rules: proposed}); err != nil {
			return err
		}
	case len(some) == 0:
		a.Printf("No symptoms are proposed: %s.\n", map[bool]string{true: "no rule lacks them", false: "the rules say none themselves; --ask asks a model"}[none == 0])
	default:
		for _, r := range some {
			a.Printf("%s  %s\n", r.ID, r.Title)
			for _, s := range r.Symptoms {
				a.Printf("  - %s\n", s)
			}
		}
		a.Printf("Proposed for %s; %d say none themselves. Nothing was changed.\n", client.Plural(len(some), "rule", "rules"), none)
	}
	if write == "" || len(some) == 0 {
		return problem
	}
	raw, err := yaml.Marshal(some)
	if err == nil {
		err = atomicfile.Write(a.Env.Absolute(write), raw, 0o600)
	}
	if err != nil {
		return client.Refused("rule symptoms", err.Error(), "")
	}
	a.Note("Written to %s. Take out what is wrong, then: writ rule symptoms --accept %s", write, write)
	return problem
}

func (a *app) acceptSymptoms(ctx context.Context, file string) error {
	if err := a.NotForAgents(); err != nil {
		return err
	}
	raw, err := os.ReadFile(a.Env.Absolute(file))
	if err != nil {
		return client.Refused("rule symptoms", err.Error(), "")
	}
	var accepted []schemas.RuleSymptoms
	if err := yaml.UnmarshalWithOptions(raw, &accepted, yaml.Strict()); err != nil {
		return client.Refused("rule symptoms", file+" cannot be read: "+err.Error(), "It must be a list as --write writes it; nothing was changed.")
	}
	var left []string
	done := 0
	for _, r := range accepted {
		if len(r.Symptoms) == 0 {
			continue
		}
		_, err := client.Ask[schemas.RuleChangeReply](ctx, a.Client, client.RoleAdmin, "rule symptoms "+r.ID, schemas.SvcRuleChange,
			schemas.RuleChangeRequest{Act: schemas.RuleDescribe, ID: r.ID, Seen: r.Revision, Symptoms: r.Symptoms})
		if err != nil {
			left = append(left, err.Error())
			continue
		}
		done++
	}
	a.Printf("%s.\n", client.Plural(done, "rule has its symptoms", "rules have their symptoms"))
	if len(left) > 0 {
		return client.Refused("rule symptoms", fmt.Sprintf("%d were left as they are:\n  %s", len(left), strings.Join(left, "\n  ")), "")
	}
	return nil
}
