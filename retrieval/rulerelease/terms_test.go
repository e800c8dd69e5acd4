package rulerelease

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/writbus/writ/projections/audit/attest"
	"github.com/writbus/writ/projections/audit/evidence"
	"github.com/writbus/writ/schemas"
)

var someday = time.Date(2001, 9, 9, 0, 0, 0, 0, time.UTC)

// with is a release without rules, under these terms.
func (m maintainer) with(number int, earlier []byte, t schemas.ReleaseTerms) []byte {
	m.t.Helper()
	r := Release{Release: schemas.Release{Name: "acme", Layer: schemas.LayerOrganisation, Number: number}, Made: someday, Key: m.public, Terms: t}
	draft, err := Draft(r, earlier, "")
	if err != nil {
		m.t.Fatal(err)
	}
	return m.seal(draft)
}

func publicKey(t *testing.T, name string) string {
	t.Helper()
	key, err := evidence.NewKey(name)
	if err != nil {
		t.Fatal(err)
	}
	_, public, err := evidence.ReadKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return public
}

func policyOn(repository string, write ...string) schemas.ReleaseTerms {
	return schemas.ReleaseTerms{Policies: []schemas.ReleasePolicy{{Name: "deps", Repository: repository, Write: write}}}
}

func TestDraftRefusesTermsThatCannotBeMeant(t *testing.T) {
	acme, ann := newMaintainer(t), publicKey(t, "ann@acme.example")
	_, material, _ := strings.Cut(ann, "+")
	_, material, _ = strings.Cut(material, "+")
	for name, c := range map[string]struct {
		terms   schemas.ReleaseTerms
		refused string
	}{
		"nothing":                       {},
		"a last day":                    {terms: schemas.ReleaseTerms{Until: "2001-09-09"}},
		"a day that is over":            {schemas.ReleaseTerms{Until: "2001-09-08"}, "is over"},
		"no day":                        {schemas.ReleaseTerms{Until: "soon"}, "last day"},
		"it revokes itself":             {schemas.ReleaseTerms{Revoked: []schemas.RevokedRelease{{Number: 2, Reason: "x"}}}, "earlier number"},
		"it revokes without a reason":   {schemas.ReleaseTerms{Revoked: []schemas.RevokedRelease{{Number: 1}}}, "reason"},
		"a person":                      {terms: schemas.ReleaseTerms{Persons: []string{ann}}},
		"no key":                        {schemas.ReleaseTerms{Persons: []string{"ann"}}, "no public key"},
		"a person twice":                {schemas.ReleaseTerms{Persons: []string{ann, ann}}, "twice"},
		"one key under a second name":   {schemas.ReleaseTerms{Persons: []string{ann, renamed(t, "bob@acme.example", material)}}, "twice"},
		"two keys of one name":          {schemas.ReleaseTerms{Persons: []string{ann, publicKey(t, "ann@acme.example")}}, "twice"},
		"a policy":                      {terms: policyOn("git.example.org/shop/web", "go.mod", "docs/**")},
		"of no project":                 {policyOn("", "go.mod"), "repository"},
		"of all projects":               {policyOn("git.example.org/*", "go.mod"), "repository"},
		"of a project by its address":   {policyOn("https://git.example.org/shop/web", "go.mod"), "repository"},
		"of a project's neighbour":      {policyOn("git.example.org/shop/../bank", "go.mod"), "repository"},
		"that names no file":            {policyOn("git.example.org/shop/web"), "no file"},
		"beyond its project":            {policyOn("git.example.org/shop/web", "../bank/go.mod"), "leads out"},
		"beyond it, in the middle":      {policyOn("git.example.org/shop/web", "docs/../../x"), "leads out"},
		"beyond it, in braces":          {policyOn("git.example.org/shop/web", "{..,docs}/x"), "leads out"},
		"beyond it, from the root":      {policyOn("git.example.org/shop/web", "/etc/passwd"), "leads out"},
		"beyond it, from home":          {policyOn("git.example.org/shop/web", "~/.ssh/config"), "leads out"},
		"beyond it, on another drive":   {policyOn("git.example.org/shop/web", `C:\x`), "leads out"},
		"a pattern nobody understands":  {policyOn("git.example.org/shop/web", "a[b"), "pattern"},
		"in a folder beyond its own":    {schemas.ReleaseTerms{Policies: []schemas.ReleasePolicy{{Name: "deps", Repository: "a.example/b", Folder: "../c", Write: []string{"x"}}}}, "folder"},
		"a policy's name that is two":   {schemas.ReleaseTerms{Policies: []schemas.ReleasePolicy{{Name: "a/b", Repository: "a.example/b", Write: []string{"x"}}}}, "name"},
		"two policies of the same name": {schemas.ReleaseTerms{Policies: append(policyOn("a.example/b", "x").Policies, policyOn("a.example/c", "x").Policies...)}, "twice"},
	} {
		r := Release{Release: schemas.Release{Name: "acme", Layer: schemas.LayerOrganisation, Number: 2}, Made: someday, Key: acme.public, Terms: c.terms}
		_, err := Draft(r, acme.release(1, nil, "A-1"), "gone")
		if c.refused == "" && err != nil || c.refused != "" && (err == nil || !strings.Contains(err.Error(), c.refused)) {
			t.Errorf("%s: %v, want %q", name, err, c.refused)
		}
	}
}

// renamed is a public key of the same material under another name.
func renamed(t *testing.T, name, material string) string {
	t.Helper()
	raw, err := base64.StdEncoding.DecodeString(material)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(append([]byte(name+"\n"), raw...))
	return fmt.Sprintf("%s+%x+%s", name, sum[:4], material)
}

func TestExpiredAndRevokedReleasesAreRefused(t *testing.T) {
	acme := newMaintainer(t)
	one := acme.with(1, nil, schemas.ReleaseTerms{Until: "2001-09-10"})
	two := acme.with(2, one, schemas.ReleaseTerms{Until: "2001-09-30"})
	three := acme.with(3, two, schemas.ReleaseTerms{Revoked: []schemas.RevokedRelease{{Number: 2, Reason: "its check refused everything"}}})
	four := acme.with(4, three, schemas.ReleaseTerms{Until: "2001-12-31"})
	day := func(n int) time.Time { return someday.AddDate(0, 0, n) }
	for name, c := range map[string]struct {
		had     [][]byte
		raw     []byte
		at      time.Time
		refused string
	}{
		"before its last day":                 {nil, one, day(0), ""},
		"on its last day":                     {nil, one, day(1).Add(23 * time.Hour), ""},
		"a day later":                         {nil, one, day(2), "expired: its last day was 2001-09-10"},
		"one that is followed, a day later":   {[][]byte{one}, one, day(2), "expired"},
		"revoked":                             {[][]byte{three}, two, day(0), "revoked: its check refused everything"},
		"revoked, as a later one goes on":     {[][]byte{four}, two, day(0), "revoked: its check"},
		"older than the one that revokes":     {[][]byte{three}, one, day(0), "older than 3"},
		"the next after the one that revokes": {[][]byte{three}, four, day(0), ""},
	} {
		var m member
		for _, raw := range c.had {
			if err := m.take(raw, acme.public); err != nil {
				t.Fatal(err)
			}
		}
		_, _, err := m.Take(c.raw, c.at)
		if len(c.had) == 0 {
			_, _, _, err = m.Pin(c.raw, acme.public, c.at)
		}
		if c.refused == "" && err != nil || c.refused != "" && (err == nil || !strings.Contains(err.Error(), c.refused)) {
			t.Errorf("%s: %v, want %q", name, err, c.refused)
		}
	}
}

// TestPersonsAndPoliciesCountWhileTheirReleaseHolds: not after its last day, not once a
// newer one is without them, and not after leaving.
func TestPersonsAndPoliciesCountWhileTheirReleaseHolds(t *testing.T) {
	acme, ann := newMaintainer(t), publicKey(t, "ann@acme.example")
	terms := policyOn("git.example.org/shop/web", "go.mod")
	terms.Until, terms.Persons = "2001-09-30", []string{ann}
	terms.Policies[0].Folder = "api"
	one := acme.with(1, nil, terms)
	kept := acme.with(2, one, schemas.ReleaseTerms{})
	gone := acme.with(3, one, schemas.ReleaseTerms{Until: "2001-09-30"})
	here := schemas.Repository{Remote: "git.example.org/shop/web", Below: "api"}
	for name, c := range map[string]struct {
		taken   [][]byte
		left    bool
		named   string
		in      schemas.Repository
		at      time.Time
		persons int
		refused string
	}{
		"in force":                  {[][]byte{one}, false, "acme/deps", here, someday, 1, ""},
		"under a newer one":         {[][]byte{one, kept}, false, "acme/deps", here, someday, 1, ""},
		"expired":                   {[][]byte{one}, false, "acme/deps", here, someday.AddDate(0, 1, 0), 0, "expired"},
		"without them":              {[][]byte{one, gone}, false, "acme/deps", here, someday, 0, "no policy"},
		"left":                      {[][]byte{one}, true, "acme/deps", here, someday, 0, "follow"},
		"nobody followed":           {nil, false, "acme/deps", here, someday, 0, "follow"},
		"another policy":            {[][]byte{one}, false, "acme/other", here, someday, 1, "no policy"},
		"another organisation's":    {[][]byte{one}, false, "evil/deps", here, someday, 1, "follow"},
		"another project":           {[][]byte{one}, false, "acme/deps", schemas.Repository{Remote: "git.example.org/shop/bank", Below: "api"}, someday, 1, "is for"},
		"another folder":            {[][]byte{one}, false, "acme/deps", schemas.Repository{Remote: here.Remote}, someday, 1, "is for"},
		"a project without a name":  {[][]byte{one}, false, "acme/deps", schemas.Repository{}, someday, 1, "is for"},
		"a setting without a slash": {[][]byte{one}, false, "acme", here, someday, 1, "no policy"},
	} {
		var m member
		for _, raw := range c.taken {
			if err := m.take(raw, acme.public); err != nil {
				t.Fatal(err)
			}
		}
		if c.left {
			m.say(schemas.ReleaseLeft{Name: "acme"})
		}
		if keys := m.Persons(c.at); len(keys) != c.persons {
			t.Errorf("%s: %v may approve", name, keys)
		}
		p, text, err := m.Policy(c.named, c.in, c.at)
		if c.refused == "" && (err != nil || !strings.HasPrefix(text, "acme@") || !slices.Equal(p.Write, []string{"go.mod"})) || c.refused != "" && (err == nil || !strings.Contains(err.Error(), c.refused)) {
			t.Errorf("%s: %v %q %v, want %q", name, p, text, err, c.refused)
		}
	}
}

func TestReadTermsKnowsEveryKey(t *testing.T) {
	file := filepath.Join(t.TempDir(), "terms.yaml")
	for text, refused := range map[string]string{
		"until: 2030-12-31\npersons: [a]\nrevoked:\n  - number: 1\n    reason: wrong\npolicies:\n  - name: deps\n    repository: a.example/b\n    write: [go.mod]\n": "",
		"untill: 2030-12-31\n":               "unknown field",
		"policies:\n  - allow: everything\n": "unknown field",
		"- until\n":                          "cannot unmarshal",
	} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		terms, err := ReadTerms(file)
		if refused == "" && (err != nil || terms.Until != "2030-12-31" || len(terms.Policies) != 1 || terms.Policies[0].Write[0] != "go.mod") || refused != "" && (err == nil || !strings.Contains(err.Error(), refused)) {
			t.Errorf("%q: %+v, %v", text, terms, err)
		}
	}
}

// TestAReleaseSaysWhatCommitsAreHeldAgainst: whose approvals count, under which policies
// agents write, and that what a revoked release allowed is refused; nothing of one that
// expired, that another key signed, or whose key nobody named.
func TestAReleaseSaysWhatCommitsAreHeldAgainst(t *testing.T) {
	acme, ann := newMaintainer(t), publicKey(t, "ann@acme.example")
	terms := policyOn("git.example.org/shop/web", "go.mod")
	terms.Persons, terms.Until = []string{ann}, "2001-09-30"
	one := acme.with(1, nil, terms)
	terms.Revoked = []schemas.RevokedRelease{{Number: 1, Reason: "its policy named too much"}}
	file := filepath.Join(t.TempDir(), "two.release")
	if err := os.WriteFile(file, acme.with(2, one, terms), 0o600); err != nil {
		t.Fatal(err)
	}
	var p attest.Policy
	as, err := Desk{}.Judge(t.Context(), file, acme.public, someday, &p)
	if err != nil || as != "acme@2" || len(p.Persons) != 1 || p.Persons[0].Name() != "ann@acme.example" {
		t.Fatalf("%q %+v, %v", as, p, err)
	}
	for named, ok := range map[string]bool{"acme@2/deps": true, "acme@1/deps": false, "acme@2/other": false, "evil@2/deps": false} {
		s := attest.Statement{Predicate: attest.Predicate{Paths: []attest.Path{{Path: "go.mod", Mode: "100644", SHA256: "x", State: attest.Written, Write: &attest.Write{Class: "code", Policy: named}}}}}
		found := attest.Judge([]schemas.AttestChange{{Path: "go.mod", Mode: "100644", SHA256: "x", Parents: []string{""}}}, []attest.Statement{s}, p)
		if found[0].OK != ok {
			t.Errorf("under %s: %+v", named, found[0])
		}
	}
	for name, c := range map[string]struct {
		root string
		at   time.Time
		want string
	}{
		"expired":         {acme.public, someday.AddDate(0, 1, 0), "expired"},
		"another key":     {newMaintainer(t).public, someday, "did not sign"},
		"no key is named": {"", someday, "is to be named"},
	} {
		if _, err := (Desk{}).Judge(t.Context(), file, c.root, c.at, new(attest.Policy)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
