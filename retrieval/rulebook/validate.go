package rulebook

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/writbus/writ/enforcement/check"
	"github.com/writbus/writ/retrieval"
	"github.com/writbus/writ/retrieval/corpus"
	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/schemas/excerpt"
)

// validate looks for what is wrong with the corpus, or with files as if
// they were one.
func (b *Book) validate(ctx context.Context, r schemas.RuleValidateRequest) (schemas.RuleValidateReply, error) {
	reply := schemas.RuleValidateReply{Findings: []schemas.RuleFinding{}}
	var nodes []corpus.Node
	var err error
	if len(r.Files) > 0 {
		nodes = nodesOf(r.Files, &reply)
	} else {
		if err = b.await(ctx); err == nil {
			nodes, err = b.nodes("", false)
		}
		if err != nil {
			return reply, err
		}
	}
	rules := make([]schemas.Rule, len(nodes))
	for i, n := range nodes {
		rules[i] = n.Rule
		reply.Edges += len(n.Rule.Edges)
	}
	reply.Nodes = len(nodes)
	neighbours, redundant, err := b.curator.neighbours(rules)
	if err != nil {
		reply.Findings = append(reply.Findings, schemas.RuleFinding{Severity: string(corpus.SeverityWarning), Check: corpus.CheckRedundant, Text: "not all rules were compared by meaning: " + excerpt.Line(err.Error())})
	}
	for _, f := range corpus.Validate(nodes, corpus.Checks{
		Today: b.now().Format(time.DateOnly), Neighbours: neighbours, Redundant: redundant, Band: bandFits,
	}) {
		finding := schemas.RuleFinding{Severity: string(f.Severity), Check: f.Check, Path: f.Path, Line: f.Line, Text: f.Reason}
		if len(f.IDs) > 0 {
			finding.ID = f.IDs[0]
		}
		reply.Findings = append(reply.Findings, finding)
	}
	_, problems := check.Compile(rules)
	for _, p := range problems {
		reply.Findings = append(reply.Findings, schemas.RuleFinding{Severity: string(corpus.SeverityError), Check: "check", ID: p.Rule, Text: p.Error()})
	}
	slices.SortStableFunc(reply.Findings, func(a, b schemas.RuleFinding) int { return cmp.Compare(a.Severity, b.Severity) })
	return reply, nil
}

// nodesOf loads files and reports what of them is not sound. An edge to a
// node that is missing is reported by the validation itself.
func nodesOf(files []schemas.RuleFile, reply *schemas.RuleValidateReply) []corpus.Node {
	loaded, problems := corpus.LoadAny(folderOf(files), func(string) (schemas.NodeType, bool) { return "", false })
	for _, p := range problems {
		severity := corpus.SeverityWarning
		switch p.Kind {
		case corpus.KindUnknownTarget, corpus.KindWrongEndpoint, corpus.KindDowngraded:
			continue
		case corpus.KindInvalid, corpus.KindDuplicate:
			severity = corpus.SeverityError
		case corpus.KindSkipped, corpus.KindFilled, corpus.KindNoted, corpus.KindDropped:
		}
		reply.Findings = append(reply.Findings, schemas.RuleFinding{Severity: string(severity), Check: string(p.Kind), ID: p.ID, Path: p.Path, Line: p.Line, Text: p.Reason})
	}
	nodes := make([]corpus.Node, len(loaded))
	for i, f := range loaded {
		nodes[i] = f.Node()
	}
	return nodes
}

// bandFits says what does not fit when these nodes are shown with every prompt.
func bandFits(always []schemas.Rule) error {
	docs := make([]retrieval.Document, len(always))
	for i, r := range always {
		docs[i] = retrieval.Analyse(r)
	}
	return retrieval.CheckMandatory(docs)
}

// check runs the rules' mechanical checks over files.
func (b *Book) check(_ context.Context, r schemas.CheckRequest) (schemas.CheckReply, error) {
	reply := schemas.CheckReply{Findings: []schemas.CheckFinding{}}
	set := b.index.Checks()
	reply.Checks = set.Len()
	diffs, err := check.ParseDiff(r.Diff)
	if err != nil {
		return reply, schemas.Faultf(schemas.CodeBadRequest, "%v", err)
	}
	added := map[string][]check.Range{}
	for _, d := range diffs {
		added[d.New] = append(added[d.New], d.Added...)
	}
	for _, f := range r.Files {
		lines, named := added[f.Path]
		for _, pair := range f.Lines {
			lines = append(lines, check.Range{First: pair[0], Last: pair[1]})
		}
		if named && lines == nil {
			lines = []check.Range{}
		}
		for _, found := range set.Run(f.Path, []byte(f.Content), check.Normalise(lines)) {
			if len(r.Rules) == 0 || slices.Contains(r.Rules, found.Rule) {
				reply.Findings = append(reply.Findings, schemas.CheckFinding{
					Rule: found.Rule, Path: found.Path, Line: found.Line, Column: found.Column, Excerpt: found.Excerpt, Message: found.Message,
				})
			}
		}
	}
	return reply, nil
}
