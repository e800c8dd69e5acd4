package attest

import (
	"fmt"
	"slices"
	"strings"

	"golang.org/x/mod/sumdb/note"

	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/schemas/glob"
)

// Policy is what is asked of each changed file.
type Policy struct {
	// Rungs are the assurances that an approval may have; empty for any.
	Rungs []string
	// Persons are the keys of those whose approvals count; empty for anybody's. What
	// they approved otherwise than in a terminal bears no signature.
	Persons []note.Verifier
	// Two asks for the signatures of two of them.
	Two bool
	// Recorded takes writes outside of work mode, too, which nobody approved.
	Recorded bool
	// Released are the policies, as acme/deps, under which agents write what nobody
	// approves.
	Released []string
	// Revoked are the releases, as acme@3, that were, and why.
	Revoked map[string]string
	// Tests asks that the tests of each writing session passed afterwards.
	Tests bool
	// First is the repository's first commit: what was written in another counts for
	// nothing. "" is any.
	First string
	// Except tells the files of which nothing is asked.
	Except func(path string) bool
}

// Matching tells the files that one of the patterns names, as Except does; nil for
// no pattern. Its error is that of a pattern.
func Matching(patterns []string) (func(path string) bool, error) {
	if len(patterns) == 0 {
		return nil, nil
	}
	globs, err := glob.ParseAll(patterns)
	return func(path string) bool { return glob.Any(globs, path) }, err
}

// Finding is what became of one changed file.
type Finding struct {
	Path string `json:"path"`
	OK   bool   `json:"ok"`
	Why  string `json:"why"`
	// Log and Session say whose write it is.
	Log     string `json:"log,omitempty"`
	Session string `json:"session,omitempty"`
}

// Judge holds what git says was changed against statements whose signatures were
// checked. A file is in order when one statement has it, at this path, with this
// content and mode, as an allowed write left it, and the policy asks no more.
func Judge(changes []schemas.AttestChange, statements []Statement, p Policy) []Finding {
	all := make([]Finding, 0, len(changes))
	for _, c := range changes {
		all = append(all, judge(c, statements, p))
	}
	return all
}

func judge(c schemas.AttestChange, statements []Statement, p Policy) Finding {
	f := Finding{Path: c.Path}
	switch {
	case p.Except != nil && p.Except(c.Path):
		f.OK, f.Why = true, "excepted"
		return f
	case AsInParent(c):
		f.OK, f.Why = true, "as in a parent"
		return f
	case c.Mode != "" && !plainFile(c.Mode):
		f.Why = "a link or another repository, which no statement covers"
		return f
	}
	f.Why = "no statement has it with this content"
	for _, s := range statements {
		for _, known := range s.Predicate.Paths {
			if known.SHA256 != c.SHA256 {
				continue
			}
			if known.Path != c.Path {
				if c.SHA256 != "" && known.State == Written {
					f.Why = fmt.Sprintf("this content was written as %s, not here", known.Path)
				}
				continue
			}
			if first := s.Predicate.First; first != "" && p.First != "" && first != p.First {
				f.Why = "this content was written in another repository"
				continue
			}
			if known.Mode != c.Mode {
				f.Why = fmt.Sprintf("stated with mode %s, and %s here", known.Mode, c.Mode)
				continue
			}
			why, ok := known.inOrder(s.Predicate, p)
			f.Why = why
			if known.Write != nil {
				f.Log, f.Session = s.Predicate.Log, known.Write.Session
			}
			if ok {
				f.OK = true
				return f
			}
		}
	}
	return f
}

// inOrder says whether a policy is content with a path of a statement, and why.
func (k Path) inOrder(s Predicate, p Policy) (string, bool) {
	switch {
	case k.State == Changed:
		return "changed since it was written, by an unknown writer", false
	case k.State == Unapproved:
		return "written although the gate would have refused it: " + k.Rule, false
	case k.State != Written || k.Write == nil:
		return "the log has no write of it", false
	}
	w := *k.Write
	if p.Tests && !passed(s, w.Session) {
		return "no tests passed after it was written", false
	}
	if !gated(w.Class) {
		return "written as " + w.Class, true
	}
	if w.Policy != "" {
		release, name, _ := strings.Cut(w.Policy, "/")
		of, _, _ := strings.Cut(release, "@")
		if why, is := p.Revoked[release]; is {
			return "written under the policy " + w.Policy + ", whose release was revoked: " + why, false
		}
		return "written under the policy " + w.Policy, slices.Contains(p.Released, of+"/"+name)
	}
	if w.Mode != "work" {
		return fmt.Sprintf("written in mode %s, without approvals", strings.TrimSpace(w.Mode+" ")), p.Recorded
	}
	need := []string{"plan", "tests"}
	if w.Class == "test" {
		need = need[:1]
	}
	var said []string
	for _, gate := range need {
		a, found := approvalOf(s, w, gate)
		if !found {
			return fmt.Sprintf("the %s gate had no approval", gate), false
		}
		if len(p.Rungs) > 0 && !slices.Contains(p.Rungs, a.Assurance) {
			return fmt.Sprintf("the %s was approved by %s alone", gate, a.Channel), false
		}
		by := a.Channel
		if len(p.Persons) > 0 {
			name, is := a.Person(p.Persons)
			if !is {
				return fmt.Sprintf("the approval of the %s bears no signature of a given person", gate), false
			}
			if seconds := a.Seconds(p.Persons); len(seconds) > 0 {
				name += " and " + strings.Join(seconds, ", ")
			} else if p.Two {
				return fmt.Sprintf("the %s was approved by %s alone, and no second of the given persons signed it", gate, name), false
			}
			by = fmt.Sprintf("%s (%s)", name, a.Channel)
		}
		said = append(said, fmt.Sprintf("%s approved by %s %s", gate, by, a.Time.UTC().Format("2006-01-02 15:04")))
	}
	return strings.Join(said, ", "), true
}

// gated tells the classes of files that approvals are asked for. A file that no
// path was judged of is one.
func gated(class string) bool {
	return !slices.Contains([]string{"plan", "findings", "scratch"}, class)
}

// approvalOf is the last approval of a gate under a write, which an index out of
// bounds of a statement must not break.
func approvalOf(s Predicate, w Write, gate string) (a Approval, found bool) {
	for _, at := range w.Approvals {
		if at >= 0 && at < len(s.Approvals) && s.Approvals[at].Gate == gate {
			a, found = s.Approvals[at], true
		}
	}
	return a, found
}

func passed(s Predicate, session string) bool {
	return slices.ContainsFunc(s.Tests, func(t Tests) bool { return t.Session == session && t.Outcome == schemas.OutcomePassed })
}
