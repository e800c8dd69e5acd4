package plan

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/writbus/writ/schemas/excerpt"
)

// ruleID is an id as rules have it: three parts at least, each of capital
// letters and digits beginning with a letter, the last one three digits or a
// word.
var ruleID = regexp.MustCompile(`^[A-Z][A-Z0-9]*(?:-[A-Z][A-Z0-9]*)+-(?:[0-9]{3}|[A-Z][A-Z0-9]*)$`)

// token is the longest run that could be an id, so that a part of a longer
// identifier never is one.
var token = regexp.MustCompile(`[\pL\pN_-]+(?:\.\pN+)*`)

// otherBodies are the first parts of identifiers that standards bodies,
// registries and licences give out (MIL-STD-498, NIST-SP-800, CC-BY-SA): with
// such a beginning an id counts only if that rule exists.
var otherBodies = map[string]bool{
	"ANSI": true, "BCP": true, "BSI": true, "CAPEC": true, "CC": true, "CIS": true, "CVE": true, "CWE": true,
	"DIN": true, "ECMA": true, "EN": true, "FIPS": true, "GDPR": true, "GHSA": true, "IEC": true, "IEEE": true,
	"IETF": true, "ISO": true, "ITU": true, "JEP": true, "JSR": true, "MIL": true, "MISRA": true, "NIST": true,
	"OWASP": true, "PCI": true, "PEP": true, "RFC": true, "SPDX": true, "UTF": true, "WCAG": true, "W3C": true,
	"AES": true, "TLS": true, "SHA": true, "ECDHE": true, "HMAC": true,
}

// ruleIDs are the ids in a text, in order, repetitions included.
func ruleIDs(t string) []string {
	var out []string
	for _, w := range token.FindAllString(t, -1) {
		if w = strings.Trim(w, "-_"); ruleID.MatchString(w) {
			out = append(out, w)
		}
	}
	return out
}

type citation struct {
	id   string
	line int
}

// citations are the rules the section cites, each once, with the line of the
// first. A sub-heading may cite: "### GO-CTX-001" above its reason.
func (s *section) citations(known func(string) bool) []citation {
	var out []citation
	seen := map[string]bool{}
	for _, b := range s.blocks {
		line := b.line
		for _, sp := range b.spans {
			if !sp.auto {
				for l := range strings.SplitSeq(sp.text, "\n") {
					for _, id := range ruleIDs(l) {
						prefix, _, _ := strings.Cut(id, "-")
						if seen[id] || otherBodies[prefix] && (known == nil || !known(id)) {
							continue
						}
						seen[id] = true
						out = append(out, citation{id, line})
					}
					line++
				}
				line--
			}
		}
	}
	return out
}

func (s *section) judgeRules(loaded, known func(string) bool) []Problem {
	cited := s.citations(known)
	none := slices.ContainsFunc(s.blocks, func(b block) bool { return b.kind != subheading && statesNone(b.text()) })
	switch {
	case len(cited) == 0 && !none:
		return []Problem{{
			Code: NoRulesStatement, Section: SectionRules, Line: s.line,
			Text: "the section Rules Applied neither cites a rule nor says that there is none. Cite the rules you apply by id, or write `No matching rules`.",
		}}
	case len(cited) > 0 && none:
		return append(s.judgeCited(cited, loaded, known), Problem{
			Code: ContradictoryRules, Section: SectionRules, Line: s.line,
			Text: "the section Rules Applied cites a rule and says `No matching rules`. Keep one of the two.",
		})
	}
	return s.judgeCited(cited, loaded, known)
}

func (s *section) judgeCited(cited []citation, loaded, known func(string) bool) []Problem {
	var out []Problem
	for _, c := range cited {
		switch {
		case known != nil && !known(c.id):
			out = append(out, Problem{Code: UnknownRule, Section: SectionRules, ID: c.id, Line: c.line, Text: fmt.Sprintf(
				"hallucinated rule ids: %s does not exist. Cite only rules that were shown to this session.", c.id)})
		case loaded != nil && !loaded(c.id):
			out = append(out, Problem{Code: HallucinatedRule, Section: SectionRules, ID: c.id, Line: c.line, Text: fmt.Sprintf(
				"rules that were not read: %s is at most known by its name to this session. Read it first (`writ rule show %s`) or take it out.", c.id, c.id)})
		}
	}
	return out
}

// capabilities are the section's check boxes with their text.
func (s *section) capabilities() []Capability {
	var out []Capability
	for _, b := range s.blocks {
		if b.box != nil {
			out = append(out, Capability{Text: excerpt.Line(b.text()), Ticked: *b.box, Line: b.line})
		}
	}
	return out
}
