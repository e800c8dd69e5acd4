package corpus

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/writbus/writ/schemas"
)

// Severity says how much a [Finding] matters.
type Severity string

// An error is a contradiction that makes answers wrong; a warning is work that
// is left.
const (
	SeverityError   Severity = "error"
	SeverityWarning Severity = "warning"
)

// Finding is something that [Validate] found, placed where the node's file is
// known.
type Finding struct {
	Severity Severity `json:"severity"`
	Check    string   `json:"check"` // which check found it, one of [Checks]
	Path     string   `json:"path,omitempty"`
	Line     int      `json:"line,omitempty"` // from 1; 0 where it is not known
	IDs      []string `json:"ids"`            // the node, then the others involved
	Reason   string   `json:"reason"`         // what is wrong and what to do
}

// The checks, by what they look for.
const (
	CheckSchema       = "schema"         // error: a value that is missing or outside its set
	CheckDuplicate    = "duplicate"      // error: an id that two nodes have
	CheckTarget       = "unknown_target" // error: an edge, or a list of ids, names no node
	CheckEndpoint     = "wrong_endpoint" // error: an edge joins nodes that it may not join
	CheckConflict     = "conflict"       // error: nodes that exclude each other are both always shown, or need each other
	CheckCycle        = "cycle"          // error: DEPENDS_ON, PRECEDES or SUPERSEDES in a circle
	CheckSuperseded   = "superseded"     // warning: an edge to a node that another replaces
	CheckOrphan       = "orphan"         // warning: a node without an edge in or out
	CheckStale        = "stale"          // warning: not validated within its window
	CheckRedundant    = "redundant"      // warning: two nodes say nearly the same
	CheckUnreviewed   = "unreviewed"     // warning: a proposal that nobody has reviewed
	CheckExample      = "example"        // warning: a rule without a violation or a pass example
	CheckSymptoms     = "symptoms"       // warning: fewer than three symptoms
	CheckMechanism    = "mechanism"      // error: a mandatory rule that nothing enforces
	CheckBand         = "band"           // error: what is always shown does not fit
	CheckBattleTested = "battle_tested"  // warning: a confidence that only outcomes grant
)

// minSymptoms is how many descriptions of its trouble a node needs to be found
// by someone who does not know it.
const minSymptoms = 3

// defaultWindow is how long a validation holds, in days, where a node does not
// say.
const defaultWindow = 365

// Checks brings what [Validate] cannot know. A zero field leaves its check out.
type Checks struct {
	// Today is the day that staleness counts to, as 2026-01-31.
	Today string
	// Neighbours lists the nodes that resemble one most, in any order; those
	// of the same type at Redundant and above are reported once per pair.
	Neighbours func(schemas.Rule) []schemas.Neighbour
	Redundant  float64
	// Band says what does not fit when these nodes, sorted by id, are shown
	// with every prompt.
	Band func([]schemas.Rule) error
}

// Validate checks a whole set of nodes, those that are in force. The findings
// come sorted by path, line, id and check; the same set gives the same ones
// whatever its order.
func Validate(list []Node, with Checks) []Finding {
	v := validator{with: with, byID: map[string]*Node{}, paths: map[string]int{}}
	for _, n := range list {
		v.paths[n.Path]++
	}
	v.nodes = slices.SortedFunc(slices.Values(list), func(a, b Node) int {
		if c := cmp.Or(cmp.Compare(a.Rule.ID, b.Rule.ID), cmp.Compare(a.Path, b.Path)); c != 0 {
			return c
		}
		return bytes.Compare(Render(a.Rule), Render(b.Rule))
	})
	for i := range v.nodes {
		n := &v.nodes[i]
		if first, taken := v.byID[n.Rule.ID]; taken {
			v.add(SeverityError, CheckDuplicate, n, "id", nil, "the id is taken%s: give one of them another", in(first.Path))
			continue
		}
		v.byID[n.Rule.ID] = n
	}
	for i := range v.nodes {
		v.node(&v.nodes[i])
	}
	v.graph()
	v.redundant()
	v.band()
	slices.SortFunc(v.findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Line, b.Line), slices.Compare(a.IDs, b.IDs),
			cmp.Compare(a.Check, b.Check), cmp.Compare(a.Reason, b.Reason))
	})
	return v.findings
}

func in(path string) string {
	if path == "" {
		return ""
	}
	return " by " + path
}

// circles are the findings on edges that lead around in a circle.
func circles(list []Node) []Finding {
	v := validator{nodes: list, byID: map[string]*Node{}}
	slices.SortFunc(v.nodes, func(a, b Node) int { return cmp.Compare(a.Rule.ID, b.Rule.ID) })
	for i := range v.nodes {
		v.byID[v.nodes[i].Rule.ID] = &v.nodes[i]
	}
	for _, kind := range circular {
		v.cycles(kind)
	}
	return v.findings
}

type validator struct {
	with     Checks
	nodes    []Node // sorted by id
	byID     map[string]*Node
	paths    map[string]int // how many nodes come from a file
	findings []Finding
}

// add records a finding at a key of a node's file, "edges.3" being its fourth
// edge.
func (v *validator) add(s Severity, check string, n *Node, key string, others []string, format string, args ...any) {
	line := 0
	if d := v.document(n); d != nil {
		if i, err := strconv.Atoi(strings.TrimPrefix(key, "edges.")); err == nil {
			line = d.edgeLine(i)
		} else {
			line = d.line(key)
		}
	}
	v.addAt(s, check, n, line, others, format, args...)
}

func (v *validator) addAt(s Severity, check string, n *Node, line int, others []string, format string, args ...any) {
	v.findings = append(v.findings, Finding{
		Severity: s, Check: check, Path: n.Path, Line: line, IDs: append([]string{n.Rule.ID}, others...), Reason: fmt.Sprintf(format, args...),
	})
}

// document tells where the parts of a node's file stand: of a file just read,
// or of one that holds nothing but the node. It is nil where that is unknown.
func (v *validator) document(n *Node) *document {
	if n.doc == nil && v.paths[n.Path] == 1 && isFilePath(n.Path) {
		n.doc = parseFile(n.Path, Bytes(*n))
	}
	return n.doc
}

// node checks what one node says of itself.
func (v *validator) node(n *Node) {
	r := &n.Rule
	v.schema(n)
	isRule := r.NodeType() == schemas.NodeRule
	if lacking := missing("violation", r.Violation, "pass_example", r.PassExample); isRule && lacking != "" {
		v.add(SeverityWarning, CheckExample, n, "id", nil, "the rule has no %s: show what it looks like in code", lacking)
	}
	if r.NodeType().Retrievable() && len(r.Symptoms) < minSymptoms {
		v.add(SeverityWarning, CheckSymptoms, n, "symptoms", nil,
			"%d symptoms, at least %d: describe the trouble in the words of someone who does not know the rule", len(r.Symptoms), minSymptoms)
	}
	if isRule && r.Mandatory && r.Check == nil && strings.TrimSpace(r.MechanicalEnforcementPath) == "" {
		v.add(SeverityError, CheckMechanism, n, "mandatory", nil, "the rule is mandatory and nothing enforces it: name its mechanical_enforcement_path, or give it a check")
	}
	if r.Authority == "ai-provisional" {
		v.add(SeverityWarning, CheckUnreviewed, n, "authority", nil, "nobody has reviewed this proposal: writ rule review %s", r.ID)
	}
	if r.Confidence == "battle-tested" {
		v.add(SeverityWarning, CheckBattleTested, n, "confidence", nil, "battle-tested is granted by recorded outcomes only: write production-validated")
	}
	v.stale(n)
}

func (v *validator) schema(n *Node) {
	if len(CheckNode(n.Rule)) == 0 {
		return
	}
	d := document{rule: n.Rule, first: 1}
	file := v.document(n)
	if file != nil {
		d.lines, d.edges, d.first = file.lines, file.edges, file.first
	}
	d.check()
	for _, p := range d.problems {
		if file == nil {
			p.Line = 0
		}
		v.addAt(SeverityError, CheckSchema, n, p.Line, nil, "%s", p.Reason)
	}
}

// missing names the blank ones of pairs of names and texts.
func missing(pairs ...string) string {
	var names []string
	for i := 0; i < len(pairs); i += 2 {
		if strings.TrimSpace(pairs[i+1]) == "" {
			names = append(names, pairs[i])
		}
	}
	return strings.Join(names, " and no ")
}

func (v *validator) stale(n *Node) {
	today, err := time.Parse(time.DateOnly, v.with.Today)
	validated, err2 := time.Parse(time.DateOnly, n.Rule.LastValidated)
	if err != nil || err2 != nil {
		return
	}
	window := cmp.Or(n.Rule.StalenessWindow, defaultWindow)
	if end := validated.AddDate(0, 0, window); today.After(end) {
		v.add(SeverityWarning, CheckStale, n, "last_validated", nil,
			"last validated on %s, and that held for %d days: check whether it is still true", n.Rule.LastValidated, window)
	}
}

// redundant reports pairs that resemble each other and say nothing about it.
func (v *validator) redundant() {
	if v.with.Neighbours == nil || v.with.Redundant <= 0 {
		return
	}
	seen := map[[2]string]bool{}
	for i := range v.nodes {
		n := &v.nodes[i]
		for _, near := range v.with.Neighbours(n.Rule) {
			other, known := v.byID[near.ID]
			if !known || near.ID == n.Rule.ID || near.Similarity < v.with.Redundant || other.Rule.NodeType() != n.Rule.NodeType() {
				continue
			}
			first, second := n, other
			if second.Rule.ID < first.Rule.ID {
				first, second = second, first
			}
			pair := [2]string{first.Rule.ID, second.Rule.ID}
			if seen[pair] || apart(first.Rule, second.Rule) {
				continue
			}
			seen[pair] = true
			v.add(SeverityWarning, CheckRedundant, first, "id", pair[1:], "says nearly the same as %s (similarity %.2f): merge them, or let one supersede the other", pair[1], near.Similarity)
		}
	}
}

// apart says that two nodes declare how they differ.
func apart(a, b schemas.Rule) bool {
	declares := func(from, to schemas.Rule) bool {
		return slices.ContainsFunc(from.Edges, func(e schemas.Edge) bool {
			return e.Target == to.ID && (e.Type == edgeSupersedes || e.Type == edgeConflicts)
		})
	}
	return declares(a, b) || declares(b, a)
}

func (v *validator) band() {
	if v.with.Band == nil {
		return
	}
	var shown []schemas.Rule
	var ids []string
	for _, n := range v.nodes {
		if n.Rule.AlwaysShown() {
			shown, ids = append(shown, n.Rule), append(ids, n.Rule.ID)
		}
	}
	if err := v.with.Band(shown); err != nil {
		v.findings = append(v.findings, Finding{Severity: SeverityError, Check: CheckBand, IDs: ids, Reason: fmt.Sprintf("%v: shorten them, or make some optional", err)})
	}
}
