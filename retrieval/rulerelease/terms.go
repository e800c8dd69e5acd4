package rulerelease

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
	"golang.org/x/mod/sumdb/note"

	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/schemas/glob"
)

// ReadTerms reads the file in which maintainers state what a release says besides
// its rules, as YAML.
func ReadTerms(name string) (t schemas.ReleaseTerms, err error) {
	raw, err := readFile(name)
	if err != nil {
		return t, err
	}
	if raw, err = yaml.YAMLToJSON(raw); err == nil {
		d := json.NewDecoder(bytes.NewReader(raw))
		d.DisallowUnknownFields()
		err = d.Decode(&t)
	}
	if err != nil {
		return t, fmt.Errorf("%s: %w. It may have until, revoked, persons and policies: writ help corpus", name, err)
	}
	return t, nil
}

// checkTerms says what of the terms cannot be meant.
func (r Release) checkTerms() error {
	if _, err := time.Parse(time.DateOnly, r.Terms.Until); r.Terms.Until != "" && err != nil {
		return fmt.Errorf("the last day %.40q; one such as 2030-12-31", r.Terms.Until)
	}
	for _, one := range r.Terms.Revoked {
		if one.Number < 1 || one.Number >= r.Number || strings.TrimSpace(one.Reason) == "" {
			return fmt.Errorf("it revokes number %d for %.80q; an earlier number and a reason are needed", one.Number, one.Reason)
		}
	}
	seen := map[string]bool{}
	for _, text := range r.Terms.Persons {
		key, err := note.NewVerifier(text)
		if err != nil || strings.ContainsAny(text, " \t\r\n") {
			return fmt.Errorf("the person %.120q, which is no public key", text)
		}
		// One key under two names would be two persons in one.
		material := text[strings.LastIndexByte(text, '+'):]
		if seen[material] || seen[key.Name()] {
			return fmt.Errorf("the person %s, twice", key.Name())
		}
		seen[material], seen[key.Name()] = true, true
	}
	names := map[string]bool{}
	for _, p := range r.Terms.Policies {
		if err := checkPolicy(p); err != nil {
			return fmt.Errorf("the policy %.60q: %w", p.Name, err)
		}
		if names[p.Name] {
			return fmt.Errorf("the policy %.60q, twice", p.Name)
		}
		names[p.Name] = true
	}
	return nil
}

// checkPolicy holds a policy to one project: it names a repository, and files below
// the project's folder.
func checkPolicy(p schemas.ReleasePolicy) error {
	host, place, _ := strings.Cut(p.Repository, "/")
	switch {
	case p.Name == "" || strings.ContainsFunc(p.Name, func(c rune) bool { return c <= ' ' || c == '/' || c == '@' || c > '~' }):
		return errors.New("its name has blanks, @ or /, or is empty")
	case host == "" || place == "" || host != strings.ToLower(host) || strings.ContainsAny(p.Repository, "*?[{:\\ ") || path.Clean(p.Repository) != p.Repository:
		return fmt.Errorf("the repository %.120q, which is host and path, such as git.example.org/shop/web", p.Repository)
	case p.Folder != "" && !inside(p.Folder):
		return fmt.Errorf("the folder %.120q is none in the repository", p.Folder)
	case len(p.Write) == 0:
		return errors.New("it names no file in write")
	}
	for _, pattern := range p.Write {
		if !inside(pattern) {
			return fmt.Errorf("the pattern %.120q leads out of the project", pattern)
		}
	}
	_, err := glob.ParseAll(p.Write)
	return err
}

// inside tells a path or pattern that leads out of no folder, however it is read.
func inside(p string) bool {
	return p != "" && !strings.HasPrefix(p, "/") && !strings.HasPrefix(p, "~") && !strings.ContainsAny(p, "\\\x00:") && !slices.Contains(strings.Split(p, "/"), "..") && !strings.Contains(p, "..}") && !strings.Contains(p, "{..")
}

// Expired tells whether the last day of a release is over.
func Expired(t schemas.ReleaseTerms, now time.Time) bool {
	last, err := time.Parse(time.DateOnly, t.Until)
	return t.Until != "" && (err != nil || !now.UTC().Before(last.AddDate(0, 0, 1)))
}

// revoked is why a release of the same name was, "" where it was not.
func revoked(t schemas.ReleaseTerms, number int) string {
	for _, one := range t.Revoked {
		if one.Number == number {
			return one.Reason
		}
	}
	return ""
}

// Persons are the public keys of those whose approvals count now.
func (s State) Persons(now time.Time) (keys []string) {
	for _, f := range s.Followed() {
		if !Expired(f.Terms, now) {
			keys = append(keys, f.Terms.Persons...)
		}
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// Policy finds the policy NAME/POLICY of the releases that are followed, for a
// project. Its text names the release, as decisions do. It returns why it lets
// nothing be written there.
func (s State) Policy(named string, in schemas.Repository, now time.Time) (p schemas.ReleasePolicy, text string, err error) {
	of, name, _ := strings.Cut(named, "/")
	f, err := s.Find(of)
	if err != nil {
		return p, "", err
	}
	at := slices.IndexFunc(f.Terms.Policies, func(p schemas.ReleasePolicy) bool { return p.Name == name })
	switch {
	case Expired(f.Terms, now):
		return p, "", fmt.Errorf("release %s expired: its last day was %s", f.Text(), f.Terms.Until)
	case at < 0:
		return p, "", fmt.Errorf("release %s has no policy %.60q", f.Text(), name)
	}
	p = f.Terms.Policies[at]
	if in.Remote != p.Repository || in.Below != p.Folder {
		return p, "", fmt.Errorf("the policy %s is for %s, and this is %q", named, strings.TrimSuffix(p.Repository+"/"+p.Folder, "/"), strings.TrimSuffix(in.Remote+"/"+in.Below, "/"))
	}
	return p, f.Text() + "/" + name, nil
}

// termsLines are the terms for people.
func termsLines(t schemas.ReleaseTerms) string {
	var b strings.Builder
	if t.Until != "" {
		fmt.Fprintf(&b, "  until %s\n", t.Until)
	}
	for _, one := range t.Revoked {
		fmt.Fprintf(&b, "  release %d is revoked: %q\n", one.Number, one.Reason)
	}
	for _, key := range t.Persons {
		fmt.Fprintf(&b, "  approves: %s\n", key)
	}
	for _, p := range t.Policies {
		fmt.Fprintf(&b, "  policy %s: agents in %s may write %q where nobody approves\n", p.Name, strings.TrimSuffix(p.Repository+"/"+p.Folder, "/"), p.Write)
	}
	return b.String()
}
