package schemas

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
)

// NodeType says what a node of the knowledge graph is. Persisted; never rename
// one.
type NodeType string

// The node types. Rule is also the meaning of "".
const (
	NodeRule              NodeType = "Rule"
	NodeAbstraction       NodeType = "Abstraction"
	NodeSkill             NodeType = "Skill"
	NodePlaybook          NodeType = "Playbook"
	NodeTechnique         NodeType = "Technique"
	NodeAntiPattern       NodeType = "AntiPattern"
	NodeForbiddenResponse NodeType = "ForbiddenResponse"
	NodePhase             NodeType = "Phase"
	NodeRationalization   NodeType = "Rationalization"
	NodePressureScenario  NodeType = "PressureScenario"
	NodeWorkedExample     NodeType = "WorkedExample"
	NodeSubagentRole      NodeType = "SubagentRole"
	NodeCategory          NodeType = "Category"
)

// NodeTypes lists the node types, in one order everywhere.
func NodeTypes() []NodeType {
	return []NodeType{
		NodeRule, NodeAbstraction, NodeSkill, NodePlaybook, NodeTechnique, NodeAntiPattern, NodeForbiddenResponse,
		NodePhase, NodeRationalization, NodePressureScenario, NodeWorkedExample, NodeSubagentRole, NodeCategory,
	}
}

// Retrievable says whether an agent may be given nodes of this type with a prompt.
func (t NodeType) Retrievable() bool {
	switch t {
	case "", NodeRule, NodeSkill, NodePlaybook, NodeTechnique, NodeAntiPattern:
		return true
	default:
		return false
	}
}

// Findable says whether a query may find nodes of this type: abstractions are shown
// with their members, and categories hold nodes together.
func (t NodeType) Findable() bool { return t != NodeAbstraction && t != NodeCategory }

// Check is how a machine finds violations of a rule on changed lines. Exactly
// one of Pattern and Query is set.
type Check struct {
	Language string   `json:"language,omitempty" yaml:"language,omitempty"` // go, python, shell, …; "" is every language
	Pattern  string   `json:"pattern,omitempty" yaml:"pattern,omitempty"`   // regular expression (RE2) over one line
	Query    string   `json:"query,omitempty" yaml:"query,omitempty"`       // pattern over the syntax tree
	Contexts []string `json:"contexts,omitempty" yaml:"contexts,omitempty"` // where a match counts: code, string, comment; none is code
	Paths    []string `json:"paths,omitempty" yaml:"paths,omitempty"`       // globs of the files it looks at; none is all of the language
	Except   []string `json:"except,omitempty" yaml:"except,omitempty"`     // globs of files it leaves alone
	Unless   string   `json:"unless,omitempty" yaml:"unless,omitempty"`     // a line that this expression matches is no violation
	Message  string   `json:"message,omitempty" yaml:"message,omitempty"`   // what to tell; the rule's statement where empty
}

// Abstraction stands for several nodes where the budget is small.
type Abstraction struct {
	Summary string   `json:"summary" yaml:"summary"`
	Members []string `json:"members" yaml:"members"` // ids
	Ratio   float64  `json:"ratio" yaml:"ratio"`     // tokens of the summary ÷ tokens of its members' summaries
}

// Skill is an ability with its steps.
type Skill struct {
	Steps   []string `json:"steps" yaml:"steps"`
	Outcome string   `json:"outcome,omitempty" yaml:"outcome,omitempty"` // how one knows that it worked
	Tools   []string `json:"tools,omitempty" yaml:"tools,omitempty"`
}

// Playbook is an ordered way through a kind of task. It has phases, steps or both.
type Playbook struct {
	Phases        []string `json:"phases" yaml:"phases,omitempty"`         // ids of Phase nodes, in order
	Steps         []string `json:"steps,omitempty" yaml:"steps,omitempty"` // the way in words, where no nodes describe it
	Preconditions []string `json:"preconditions,omitempty" yaml:"preconditions,omitempty"`
	Roles         []string `json:"roles,omitempty" yaml:"roles,omitempty"` // ids of SubagentRole nodes
}

// Technique is one way of doing one thing.
type Technique struct {
	Steps       []string `json:"steps" yaml:"steps"`
	Limitations []string `json:"limitations,omitempty" yaml:"limitations,omitempty"` // when it does not help
}

// AntiPattern is a habit that looks right and is not.
type AntiPattern struct {
	Appeal  string   `json:"appeal" yaml:"appeal"`                   // why people do it
	Harm    string   `json:"harm" yaml:"harm"`                       // what comes of it
	Instead string   `json:"instead" yaml:"instead"`                 // what to do
	Signs   []string `json:"signs,omitempty" yaml:"signs,omitempty"` // how to spot it
}

// ForbiddenResponse is what an agent must not say, and what to say instead.
type ForbiddenResponse struct {
	Phrases []string `json:"phrases" yaml:"phrases"`
	Instead string   `json:"instead" yaml:"instead"`
}

// Phase is a stage of a playbook.
type Phase struct {
	Order    int      `json:"order" yaml:"order"` // from 1
	Entry    []string `json:"entry,omitempty" yaml:"entry,omitempty"`
	Exit     []string `json:"exit" yaml:"exit"` // what must hold to leave it
	Produces []string `json:"produces,omitempty" yaml:"produces,omitempty"`
}

// Rationalization is an excuse for not following a rule, and its answer.
type Rationalization struct {
	Excuse  string `json:"excuse" yaml:"excuse"`
	Reality string `json:"reality" yaml:"reality"`
}

// PressureScenario tests whether a rule holds when there is a reason to break
// it.
type PressureScenario struct {
	Prompt             string   `json:"prompt" yaml:"prompt"`
	Pressures          []string `json:"pressures,omitempty" yaml:"pressures,omitempty"` // time, authority, sunk cost, …
	ExpectedCompliance string   `json:"expected_compliance" yaml:"expected_compliance"`
	FailurePatterns    []string `json:"failure_patterns" yaml:"failure_patterns"`
}

// WorkedExample shows a rule or skill applied from start to end.
type WorkedExample struct {
	Situation string `json:"situation" yaml:"situation"`
	Before    string `json:"before,omitempty" yaml:"before,omitempty"`
	After     string `json:"after" yaml:"after"`
	Lesson    string `json:"lesson" yaml:"lesson"`
}

// SubagentRole is a worker that a playbook dispatches.
type SubagentRole struct {
	PromptTemplate string   `json:"prompt_template" yaml:"prompt_template"`
	Tools          []string `json:"tools,omitempty" yaml:"tools,omitempty"`
	Model          string   `json:"model,omitempty" yaml:"model,omitempty"`
	Returns        string   `json:"returns,omitempty" yaml:"returns,omitempty"` // what the worker hands back
}

// Category gathers nodes: its members have BELONGS_TO edges to it, and so have
// the categories under it.
type Category struct {
	Description string   `json:"description,omitempty" yaml:"description,omitempty"`
	Routes      []string `json:"routes,omitempty" yaml:"routes,omitempty"` // how an older corpus found its members
}

// Detail returns what a node has beside the fields all nodes share: a pointer
// to the struct of its type, nil for a Rule and where it is missing.
func (r Rule) Detail() any {
	if i, found := detailFields()[r.NodeType()]; found {
		if v := reflect.ValueOf(r).Field(i); !v.IsNil() {
			return v.Interface()
		}
	}
	return nil
}

// DetailTexts are the words of a node's detail, in the order of its fields.
func (r Rule) DetailTexts() []string {
	detail := r.Detail()
	if detail == nil {
		return nil
	}
	var texts []string
	v := reflect.ValueOf(detail).Elem()
	for i := range v.NumField() {
		switch value := v.Field(i).Interface().(type) {
		case string:
			texts = append(texts, value)
		case []string:
			texts = append(texts, value...)
		}
	}
	return slices.DeleteFunc(texts, func(s string) bool { return s == "" })
}

// NodeType is the type of the node, with "" resolved.
func (r Rule) NodeType() NodeType {
	if r.Type == "" {
		return NodeRule
	}
	return r.Type
}

// AlwaysShown says whether every prompt carries this node: mandatory rules,
// rules marked always_on, and every ForbiddenResponse, but no proposal: a
// person promotes it first.
func (r Rule) AlwaysShown() bool {
	return (r.Mandatory || r.AlwaysOn || r.Type == NodeForbiddenResponse) && !r.Proposed()
}

// AuthorityProposed is that of a rule that no person has taken up yet: agents are
// not shown it.
const AuthorityProposed = "ai-provisional"

// Proposed says that no person has taken the rule up yet.
func (r Rule) Proposed() bool { return r.Authority == AuthorityProposed }

// detailFields maps a node type to its field in Rule.
var detailFields = sync.OnceValue(func() map[NodeType]int {
	fields := map[NodeType]int{}
	rule := reflect.TypeFor[Rule]()
	for i := range rule.NumField() {
		if f := rule.Field(i); f.Type.Kind() == reflect.Pointer && f.Name != "Check" {
			fields[NodeType(f.Name)] = i
		}
	}
	return fields
})

// checkDetail refuses a node whose detail is missing, or that carries the
// detail of another type.
func (r Rule) checkDetail() error {
	own := r.NodeType()
	if !slices.Contains(NodeTypes(), own) {
		return fmt.Errorf("%w: node type %q is unknown", ErrMalformed, own)
	}
	value := reflect.ValueOf(r)
	for _, t := range NodeTypes() {
		i, has := detailFields()[t]
		switch {
		case !has:
		case t == own && value.Field(i).IsNil():
			return fmt.Errorf("%w: a %s has its fields under %q", ErrMalformed, own, jsonName(i))
		case t != own && !value.Field(i).IsNil():
			return fmt.Errorf("%w: a %s has no %q", ErrMalformed, own, jsonName(i))
		}
	}
	return nil
}

// NodeJSONSchema returns the JSON Schema (draft 2020-12) of one node type: the
// fields all nodes share and those of its own. It returns ErrUnknownType.
func NodeJSONSchema(t NodeType) ([]byte, error) {
	if !slices.Contains(NodeTypes(), t) {
		return nil, fmt.Errorf("%w: node type %q", ErrUnknownType, t)
	}
	s := schemaOf(reflect.TypeFor[Rule]())
	properties, _ := s["properties"].(map[string]any)
	required, _ := s["required"].([]string)
	for other, i := range detailFields() {
		if other != t {
			delete(properties, jsonName(i))
		}
	}
	properties["type"] = map[string]any{"const": string(t)}
	if i, has := detailFields()[t]; has {
		required = append(required, "type", jsonName(i))
		delete(properties, "check")
	}
	s["required"] = required
	s["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	s["$id"] = "urn:writ:node:" + string(t)
	s["title"] = string(t)
	out, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("schemas: schema of %s: %w", t, err)
	}
	return append(out, '\n'), nil
}

func jsonName(field int) string {
	name, _, _ := strings.Cut(reflect.TypeFor[Rule]().Field(field).Tag.Get("json"), ",")
	return name
}
