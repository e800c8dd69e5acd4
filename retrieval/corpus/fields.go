package corpus

import "github.com/writbus/writ/schemas"

// field binds a front matter key to its place in a rule. Exactly one accessor
// is set; it tells which kind of YAML value the key takes.
type field struct {
	key   string
	text  func(*schemas.Rule) *string
	list  func(*schemas.Rule) *[]string
	flag  func(*schemas.Rule) *bool
	edges func(*schemas.Rule) *[]schemas.Edge
}

// fields are the front matter keys in canonical order.
var fields = []field{
	{key: "id", text: func(r *schemas.Rule) *string { return &r.ID }},
	{key: "title", text: func(r *schemas.Rule) *string { return &r.Title }},
	{key: "domain", text: func(r *schemas.Rule) *string { return &r.Domain }},
	{key: "severity", text: func(r *schemas.Rule) *string { return &r.Severity }},
	{key: "scope", text: func(r *schemas.Rule) *string { return &r.Scope }},
	{key: "trigger", text: func(r *schemas.Rule) *string { return &r.Trigger }},
	{key: "statement", text: func(r *schemas.Rule) *string { return &r.Statement }},
	{key: "symptoms", list: func(r *schemas.Rule) *[]string { return &r.Symptoms }},
	{key: "violation", text: func(r *schemas.Rule) *string { return &r.Violation }},
	{key: "pass_example", text: func(r *schemas.Rule) *string { return &r.PassExample }},
	{key: "enforcement", text: func(r *schemas.Rule) *string { return &r.Enforcement }},
	{key: "rationale", text: func(r *schemas.Rule) *string { return &r.Rationale }},
	{key: "tags", list: func(r *schemas.Rule) *[]string { return &r.Tags }},
	{key: "mandatory", flag: func(r *schemas.Rule) *bool { return &r.Mandatory }},
	{key: "confidence", text: func(r *schemas.Rule) *string { return &r.Confidence }},
	{key: "authority", text: func(r *schemas.Rule) *string { return &r.Authority }},
	{key: "last_validated", text: func(r *schemas.Rule) *string { return &r.LastValidated }},
	{key: "edges", edges: func(r *schemas.Rule) *[]schemas.Edge { return &r.Edges }},
}

func fieldOf(key string) (field, bool) {
	for _, f := range fields {
		if f.key == key {
			return f, true
		}
	}
	return field{}, false
}
