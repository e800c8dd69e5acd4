// Package plan judges plan.md, the document an agent must have approved before
// it may write anything else.
//
// A plan is Markdown (CommonMark with tables and task lists) with the four
// level-two headings Files, Analysis, Rules Applied and Capabilities, or such as can
// mean nothing else, each once and each with content of its own. It is parsed, not
// searched: a heading in a quote, a list, a comment or a fence is no section, and both
// heading forms count.
//
// Guarantees: every problem is reported at once, ordered by line; one section
// that is missing, duplicated, empty or a placeholder yields exactly that one
// problem and its content is not judged further; equal input gives equal output.
// The package does no I/O, keeps no state and never panics on any input.
//
// It does not know which rules exist or were shown (the caller says so), does
// not look at the file system, and does not judge whether a plan is wise. Nor does
// it approve: who may approve a plan, and what an approval is of, is decided in the
// parent package (approve.go); whether a sentence approves, in package phrase.
package plan

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/writbus/writ/schemas/excerpt"
)

// The sections of a plan, in the order a reader is told about them.
const (
	SectionFiles        = "Files"
	SectionAnalysis     = "Analysis"
	SectionRules        = "Rules Applied"
	SectionCapabilities = "Capabilities"
)

var sectionNames = []string{SectionFiles, SectionAnalysis, SectionRules, SectionCapabilities}

// Codes of problems (persisted in denials; never change).
const (
	MissingSection     = "missing_section"       // no level-two heading of that name
	SectionInCodeFence = "section_in_code_fence" // the heading stands only inside a code fence
	DuplicateSection   = "duplicate_section"     // two or more headings of that name
	EmptySection       = "empty_section"         // nothing but blank lines, code, comments, rules, sub-headings
	Placeholder        = "placeholder"           // TODO, dots, filler text, a single word
	NoFiles            = "no_files"              // Files names no path
	UnknownRule        = "unknown_rule"          // cites a rule that does not exist
	HallucinatedRule   = "hallucinated_rule"     // cites a rule that was not shown to this session
	NoRulesStatement   = "no_rules_statement"    // neither a citation nor "No matching rules"
	ContradictoryRules = "contradictory_rules"   // "No matching rules" beside a citation
	NoCapabilities     = "no_capabilities"       // no check box
	TickedCapability   = "ticked_capability"     // a check box is ticked before the work began
	HiddenText         = "hidden_text"           // a reader does not see all that is written
	TooBroad           = "too_broad"             // Files names everything
	TooLarge           = "too_large"             // beyond MaxBytes, MaxDepth or MaxLinks
)

// MaxBytes and MaxDepth bound what is parsed: the time Markdown takes grows
// with the square of its nesting, and no person reads such a plan.
const (
	MaxBytes = 64 << 10
	MaxDepth = 50   // quotes and lists that begin on one line
	MaxLinks = 1000 // openings of a link destination
)

// Problem is one reason why a plan is not valid.
type Problem struct {
	Code    string // one of the codes above
	Section string // the section it is about; empty for TooLarge and HiddenText
	ID      string // the rule id, for UnknownRule and HallucinatedRule
	Line    int    // 1-based line in the source; 0 where there is none (a missing section)
	Text    string // for a person: what is wrong and how to mend it
}

// Capability is one check box with its text.
type Capability struct {
	Text   string
	Ticked bool
	Line   int // 1-based
}

// Plan is what a plan says, as far as it could be read; it is filled even when
// there are problems.
type Plan struct {
	// Files are the paths named in the section Files, in order and without
	// repetition: cleaned, with forward slashes, relative as written (a path may
	// be absolute, leave the project, or hold glob characters; the caller judges
	// that).
	Files []string
	// Gone are those of Files which the plan says are deleted or renamed away,
	// so that nobody expects them to exist afterwards.
	Gone []string
	// Rules are the rule ids cited, in order and without repetition.
	Rules []string
	// Capabilities are the check boxes of the section Capabilities.
	Capabilities []Capability
}

// Parse reads a plan and reports the problems of its structure. Whether cited
// rules exist or were shown is not judged: use Validate for that.
func Parse(src []byte) (Plan, []Problem) {
	return Validate(src, nil, nil)
}

// Validate reads a plan and reports all its problems, ordered by line; a nil
// slice means valid. loaded tells whether a rule was shown to this session,
// known whether it exists; a nil function skips its check.
func Validate(src []byte, loaded, known func(id string) bool) (Plan, []Problem) {
	if !bounded(src) {
		return Plan{}, []Problem{{Code: TooLarge, Line: 1, Text: fmt.Sprintf(
			"the plan has %d bytes; at most %d are read, with quotes and lists nested %d deep and %d links. Shorten it.", len(src), MaxBytes, MaxDepth, MaxLinks)}}
	}
	doc := outline(src)
	var p Plan
	var problems []Problem
	if bad := concealed(normalise(src)); bad != nil {
		problems = append(problems, *bad)
	} else if doc.hidden > 0 {
		problems = append(problems, Problem{
			Code: HiddenText, Line: doc.hidden,
			Text: "the plan holds HTML that is not shown to a reader. Show it or take it out.",
		})
	}
	for _, name := range sectionNames {
		s, bad := doc.find(name)
		if s != nil {
			p.read(name, s, known)
		}
		if bad == nil {
			bad = s.judgeForm(name, doc)
		}
		if bad != nil {
			problems = append(problems, *bad)
			continue
		}
		problems = append(problems, p.judgeContent(name, s, loaded, known)...)
	}
	slices.SortStableFunc(problems, func(a, b Problem) int { return cmp.Compare(a.Line, b.Line) })
	return p, problems
}

// ParseCapabilities returns every check box of a document, whatever section it
// stands in: the form of capabilities.md. A document that is
// TooLarge has none.
func ParseCapabilities(src []byte) []Capability {
	if !bounded(src) {
		return nil
	}
	doc := outline(src)
	var out []Capability
	for i := range doc.all {
		out = append(out, doc.all[i].capabilities()...)
	}
	return out
}

func (p *Plan) read(name string, s *section, known func(string) bool) {
	switch name {
	case SectionFiles:
		p.Files, p.Gone = s.files()
	case SectionRules:
		for _, c := range s.citations(known) {
			p.Rules = append(p.Rules, c.id)
		}
	case SectionCapabilities:
		p.Capabilities = s.capabilities()
	}
}

func (p *Plan) judgeContent(name string, s *section, loaded, known func(string) bool) []Problem {
	switch name {
	case SectionFiles:
		if !slices.ContainsFunc(p.Files, func(f string) bool { return f != "plan.md" && f != "capabilities.md" && !pseudo.MatchString(f) }) {
			return []Problem{{
				Code: NoFiles, Section: name, Line: s.line,
				Text: "the section Files names no path of this work. List every file you will write, one item each, e.g. - `src/main.go`.",
			}}
		}
		if bad := s.boundless(); bad != nil {
			return []Problem{*bad}
		}
	case SectionRules:
		return s.judgeRules(loaded, known)
	case SectionCapabilities:
		return judgeCapabilities(p.Capabilities, s.line)
	}
	return nil
}

func judgeCapabilities(boxes []Capability, line int) []Problem {
	if len(boxes) == 0 {
		return []Problem{{
			Code: NoCapabilities, Section: SectionCapabilities, Line: line,
			Text: "the section Capabilities has no check box. Write each capability as an item `- [ ] what will work`.",
		}}
	}
	var out []Problem
	for _, b := range boxes {
		if b.Ticked {
			out = append(out, Problem{
				Code: TickedCapability, Section: SectionCapabilities, Line: b.Line,
				Text: fmt.Sprintf("the capability %q is ticked before the work began. Write it as `- [ ]`.", clip(b.Text)),
			})
		}
	}
	return out
}

func clip(s string) string { return excerpt.Runes(s, 61) }
