package rulerelease

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/note"

	"github.com/writbus/writ/projections/audit/attest"
	"github.com/writbus/writ/projections/audit/evidence"
	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/schemas/digest"
)

// maintainer makes releases under a key of their own.
type maintainer struct {
	t      *testing.T
	key    string
	public string
}

func newMaintainer(t *testing.T) maintainer {
	t.Helper()
	text, err := evidence.NewKey("rules@acme.example")
	if err != nil {
		t.Fatal(err)
	}
	_, public, err := evidence.ReadKey(text)
	if err != nil {
		t.Fatal(err)
	}
	return maintainer{t, text, public}
}

func (m maintainer) release(number int, earlier []byte, ids ...string) []byte {
	m.t.Helper()
	r := Release{Release: schemas.Release{Name: "acme", Layer: schemas.LayerOrganisation, Number: number}, Made: time.Unix(1e9, 0).UTC(), Key: m.public}
	for _, id := range ids {
		r.Rules = append(r.Rules, Rule{ID: id, Path: id + ".md", Content: "text of " + id})
	}
	draft, err := Draft(r, earlier, "not needed")
	if err != nil {
		m.t.Fatal(err)
	}
	return m.seal(draft)
}

func (m maintainer) seal(draft []byte) []byte {
	m.t.Helper()
	raw, err := Seal(draft, m.key)
	if err != nil {
		m.t.Fatal(err)
	}
	return raw
}

// member believes what it took.
type member struct{ State }

func (m *member) take(raw []byte, named string) error {
	r, sum, key := Release{}, "", ""
	var err error
	if named != "" {
		if r, sum, key, err = m.Pin(raw, named, time.Unix(1e9, 0)); err == nil {
			m.say(schemas.ReleaseFollowed{Name: r.Name, Layer: r.Layer, Key: key, Place: "/x"})
		}
	} else {
		r, sum, err = m.Take(raw, time.Unix(1e9, 0))
	}
	if err == nil {
		m.say(r.Taken(sum))
	}
	return err
}

func (m *member) say(p schemas.Payload) { m.State = Evolve(m.State, schemas.Event{Data: p}) }

// rewritten is an envelope whose signed text says another thing.
func rewritten(t *testing.T, raw []byte, from, to string) []byte {
	t.Helper()
	var e map[string]json.RawMessage
	var payload []byte
	if err := errors.Join(json.Unmarshal(raw, &e), json.Unmarshal(e["payload"], &payload)); err != nil || !bytes.Contains(payload, []byte(from)) {
		t.Fatalf("%s: %v", payload, err)
	}
	e["payload"], _ = json.Marshal(bytes.ReplaceAll(payload, []byte(from), []byte(to)))
	out, _ := json.Marshal(e)
	return out
}

func TestMemberTakesWhatThePinnedKeySignedInOrder(t *testing.T) {
	acme, other := newMaintainer(t), newMaintainer(t)
	one := acme.release(1, nil, "A-1")
	two := acme.release(2, one, "A-1", "A-2")
	three := acme.release(3, two, "A-2")
	fork := acme.release(2, one, "A-1", "A-3")
	afterFork := acme.release(4, fork, "A-3")
	team := func() []byte {
		r := Release{Release: schemas.Release{Name: "acme", Layer: schemas.LayerTeam, Number: 9}, Key: acme.public}
		draft, _ := json.Marshal(r)
		return acme.seal(draft)
	}()
	posing := func() []byte { // another's, which says that it is of acme's key
		r := Release{Release: schemas.Release{Name: "acme", Layer: schemas.LayerOrganisation, Number: 9}, Key: acme.public}
		draft, _ := json.Marshal(r)
		return other.seal(draft)
	}()
	altered := rewritten(t, two, "A-2", "A-9")
	foreign := other.release(2, other.release(1, nil, "A-1"), "A-1")
	signer, _, err := evidence.ReadKey(acme.key)
	if err != nil {
		t.Fatal(err)
	}
	statement, err := attest.Seal(attest.PayloadType, []byte(`{"name":"acme","layer":"organisation","number":9}`), signer)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		had     [][]byte
		raw     []byte
		root    string
		refused string
	}{
		"nobody is followed":          {nil, one, "", "--root KEY"},
		"pinned by the key":           {nil, one, acme.public, ""},
		"pinned by its SHA-256":       {nil, one, "SHA256:" + digest.Hex(acme.public), ""},
		"pinned by another's":         {nil, one, "sha256:" + digest.Hex(other.public), "Nothing is pinned"},
		"pinned by another key":       {nil, one, other.public, "did not sign"},
		"pinned by no key":            {nil, one, "acme", "no public key"},
		"posing under a pinned key":   {nil, posing, acme.public, "did not sign"},
		"signed by who it is not of":  {nil, posing, other.public, "another key"},
		"the next":                    {[][]byte{one}, two, "", ""},
		"the same":                    {[][]byte{one, two}, two, "", ""},
		"one is skipped":              {[][]byte{one}, three, "", ""},
		"an older one":                {[][]byte{one, three}, two, "", "older than 3"},
		"an older one that was seen":  {[][]byte{one, two}, one, "", "older than 2"},
		"a fork":                      {[][]byte{one, two}, fork, "", "fork: number 2"},
		"a fork, after it":            {[][]byte{one, two}, afterFork, "", "fork: number 2"},
		"after a fork nobody saw":     {[][]byte{one}, afterFork, "", ""},
		"a foreign key":               {[][]byte{one}, foreign, "", "did not sign"},
		"posing":                      {[][]byte{one}, posing, "", "did not sign"},
		"altered":                     {[][]byte{one}, altered, "", "did not sign"},
		"another layer":               {[][]byte{one}, team, "", "layer team"},
		"another kind of envelope":    {[][]byte{one}, statement, "", "no release"},
		"no envelope":                 {[][]byte{one}, []byte("GIF89a"), "", "no release"},
		"followed again":              {[][]byte{one, two}, two, acme.public, ""},
		"followed again, with a fork": {[][]byte{one, two}, fork, acme.public, "fork"},
		"followed under another key":  {[][]byte{one}, other.release(1, nil, "A-1"), other.public, "Leave first"},
	} {
		t.Run(name, func(t *testing.T) {
			var m member
			for i, raw := range c.had {
				if err := m.take(raw, map[bool]string{true: acme.public}[i == 0]); err != nil {
					t.Fatal(err)
				}
			}
			before := fmt.Sprint(m.State)
			err := m.take(c.raw, c.root)
			if c.refused == "" && err != nil || c.refused != "" && (err == nil || !strings.Contains(err.Error(), c.refused)) {
				t.Fatalf("%v", err)
			}
			if err != nil && fmt.Sprint(m.State) != before {
				t.Errorf("a refusal changed what is believed")
			}
		})
	}
}

// TestLeavingForgetsNoNumber: who left and follows again is told no older story; under
// another key the numbers begin anew.
func TestLeavingForgetsNoNumber(t *testing.T) {
	acme, other := newMaintainer(t), newMaintainer(t)
	one := acme.release(1, nil, "A-1")
	two := acme.release(2, one, "A-1")
	var m member
	for _, raw := range [][]byte{one, two} {
		if err := m.take(raw, acme.public); err != nil {
			t.Fatal(err)
		}
	}
	m.say(schemas.ReleaseLeft{Name: "acme"})
	if err := m.take(two, ""); err == nil || len(m.Followed()) > 0 || len(m.Texts()) > 0 {
		t.Errorf("left, and taken: %v", err)
	}
	if err := m.take(one, acme.public); err == nil || !strings.Contains(err.Error(), "older") {
		t.Errorf("an older one after leaving: %v", err)
	}
	if err := m.take(other.release(1, nil, "B-1"), other.public); err != nil || !slices.Equal(m.Texts(), []string{"acme@1"}) {
		t.Errorf("under the new key: %v, %v", m.Texts(), err)
	}
}

func TestDraftHasTombstonesForWhatIsGone(t *testing.T) {
	acme := newMaintainer(t)
	one := acme.release(1, nil, "A-1", "A-2", "A-3")
	two := acme.release(2, one, "A-1", "A-4")
	three := acme.release(3, two, "A-2", "A-4")
	key, err := note.NewVerifier(acme.public)
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range []struct {
		raw  []byte
		want []string
	}{{one, nil}, {two, []string{"A-2", "A-3"}}, {three, []string{"A-1", "A-3"}}} {
		if r, _, err := Open(c.raw, key); err != nil || !slices.Equal(r.tombs(), c.want) {
			t.Errorf("release %d: tombstones %v, %v", i+1, r.tombs(), err)
		}
	}
	good := func(change func(*Release)) Release {
		r := Release{Release: schemas.Release{Name: "acme", Layer: schemas.LayerOrganisation, Number: 4}, Key: acme.public, Rules: []Rule{{ID: "A-2"}, {ID: "A-4"}}}
		change(&r)
		return r
	}
	for name, c := range map[string]struct {
		change  func(*Release)
		earlier []byte
		reason  string
		refused string
	}{
		"the next":           {func(*Release) {}, three, "", ""},
		"dropped, no reason": {func(r *Release) { r.Rules = r.Rules[:1] }, three, " ", "A-4. Say why"},
		"without the last":   {func(*Release) {}, nil, "", "--after"},
		"the same number":    {func(r *Release) { r.Number = 3 }, three, "", "number 3"},
		"another name":       {func(r *Release) { r.Name = "evil" }, three, "", "evil"},
		"another layer":      {func(r *Release) { r.Layer = schemas.LayerTeam }, three, "", "team"},
		"after another's":    {func(*Release) {}, newMaintainer(t).release(1, nil), "", "did not sign"},
		"an id twice":        {func(r *Release) { r.Rules = append(r.Rules, Rule{ID: "A-4"}) }, three, "", "twice"},
		"no such layer":      {func(r *Release) { r.Layer = "person" }, nil, "", "--after"},
		"a name with @":      {func(r *Release) { r.Name, r.Number = "a@b", 1 }, nil, "", "name"},
		"a person's layer":   {func(r *Release) { r.Layer, r.Number = "person", 1 }, nil, "", "layer"},
	} {
		if _, err := Draft(good(c.change), c.earlier, c.reason); c.refused == "" && err != nil || c.refused != "" && (err == nil || !strings.Contains(err.Error(), c.refused)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestFetchTakesTheNewestOfAName(t *testing.T) {
	acme := newMaintainer(t)
	one := acme.release(1, nil, "A-1")
	two := acme.release(2, one, "A-1")
	dir := filepath.Join(t.TempDir(), "a [b] *")
	put := func(name string, raw []byte) string {
		t.Helper()
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		at := filepath.Join(dir, name)
		if err := os.WriteFile(at, raw, 0o644); err != nil {
			t.Fatal(err)
		}
		return at
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	_, none := Fetch(t.Context(), dir, "")
	put("z.release", one)
	at := put("a.release", two)
	put("b.release", []byte("no release"))
	put("c.json", acme.release(9, two, "A-1"))
	web := httptest.NewServer(http.FileServer(http.Dir(dir)))
	defer web.Close()
	for place, want := range map[string][]byte{dir: two, at: two, filepath.Join(dir, "z.release"): one, web.URL + "/z.release": one} {
		if got, err := Fetch(t.Context(), place, ""); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: %v", place, err)
		}
	}
	team := acme
	draft, _ := json.Marshal(Release{Release: schemas.Release{Name: "payments", Layer: schemas.LayerTeam, Number: 7}, Key: acme.public})
	put("d.release", team.seal(draft))
	_, mixed := Fetch(t.Context(), dir, "")
	if got, err := Fetch(t.Context(), dir, "acme"); err != nil || !bytes.Equal(got, two) {
		t.Errorf("of a name: %v", err)
	}
	fetch := func(place string) error { _, err := Fetch(context.WithoutCancel(t.Context()), place, ""); return err }
	for want, err := range map[string]error{
		"no release in": none, "name the file": mixed, "404": fetch(web.URL + "/none"), "no password": fetch("https://ann:secret@example.org/x"),
		"begins with": fetch("ftp://example.org/x"), "no such file": fetch(dir + "/none"),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}
