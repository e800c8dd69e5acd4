package retrieval

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"reflect"
	"unicode/utf8"

	"github.com/writbus/writ/schemas"
)

// Rules are stored so that reading one back makes its strings out of the bytes
// they are stored in: a start reads all of them.

// How many strings, and lists of them, a rule has beside the fields of its type.
const ruleTextCount, ruleListCount = 17, 5

// ruleTexts are the strings of a rule in the order they are stored.
func ruleTexts(r *schemas.Rule) [ruleTextCount]*string {
	return [...]*string{
		(*string)(&r.Type), &r.ID, &r.Title, &r.Domain, &r.Severity, &r.Scope, &r.Trigger, &r.Statement, &r.Violation, &r.PassExample,
		&r.Enforcement, &r.Rationale, &r.Confidence, &r.Authority, &r.LastValidated, &r.Body, &r.MechanicalEnforcementPath,
	}
}

// ruleLists are its lists of strings, likewise.
func ruleLists(r *schemas.Rule) [ruleListCount]*[]string {
	return [...]*[]string{&r.Symptoms, &r.Tags, &r.Evidence, &r.RationalizationCounters, &r.RedFlagThoughts}
}

// The bits of a rule.
const (
	bitMandatory = 1 << iota
	bitAlwaysOn
)

// appendRule writes the strings, the lists, the edges, the bits, and as JSON
// what else there is of a rule, which for most of them is nothing.
func appendRule(b []byte, r *schemas.Rule) ([]byte, error) {
	rest := *r
	for _, s := range ruleTexts(&rest) {
		b = appendString(b, *s)
		*s = ""
	}
	for _, list := range ruleLists(&rest) {
		b = binary.AppendUvarint(b, uint64(len(*list)))
		for _, s := range *list {
			b = appendString(b, s)
		}
		*list = nil
	}
	b = binary.AppendUvarint(b, uint64(len(rest.Edges)))
	for _, e := range rest.Edges {
		b = appendString(appendString(b, e.Type), e.Target)
	}
	var bits byte
	if rest.Mandatory {
		bits |= bitMandatory
	}
	if rest.AlwaysOn {
		bits |= bitAlwaysOn
	}
	b = append(b, bits)
	rest.Edges, rest.Mandatory, rest.AlwaysOn = nil, false, false
	if reflect.ValueOf(&rest).Elem().IsZero() {
		return appendString(b, ""), nil
	}
	raw, err := json.Marshal(rest)
	if err != nil {
		return nil, fmt.Errorf("encode rule %s: %w", r.ID, err)
	}
	return appendString(b, string(raw)), nil
}

// rule reads what appendRule wrote.
func (r *reader) rule() *schemas.Rule {
	var rule schemas.Rule
	var texts [ruleTextCount]string
	for i := range texts {
		texts[i] = r.text()
	}
	var lists [ruleListCount][]string
	for i := range lists {
		n := r.uvarint(uint64(len(r.rest)))
		for j := uint64(0); j < n && !r.bad; j++ {
			if lists[i] == nil {
				lists[i] = make([]string, 0, min(n, 64))
			}
			lists[i] = append(lists[i], r.text())
		}
	}
	var edges []schemas.Edge
	n := r.uvarint(uint64(len(r.rest)))
	for j := uint64(0); j < n && !r.bad; j++ {
		edges = append(edges, schemas.Edge{Type: r.text(), Target: r.text()})
	}
	bits := r.uvarint(bitMandatory | bitAlwaysOn)
	if rest := r.string(); rest != "" && !r.bad {
		if err := json.Unmarshal([]byte(rest), &rule); err != nil {
			r.bad = true
		}
		cleanDetails(&rule)
	}
	if r.bad {
		return &rule
	}
	for i, s := range ruleTexts(&rule) {
		*s = texts[i]
	}
	for i, list := range ruleLists(&rule) {
		*list = lists[i]
	}
	rule.Edges, rule.Mandatory, rule.AlwaysOn = edges, bits&bitMandatory != 0, bits&bitAlwaysOn != 0
	return &rule
}

// text is a string of a rule, which is always UTF-8.
func (r *reader) text() string {
	s := r.string()
	if !utf8.ValidString(s) {
		r.bad = true
	}
	return s
}
