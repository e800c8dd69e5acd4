package daemon

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/writbus/writ/projections/audit/evidence"
	"github.com/writbus/writ/retrieval/rulerelease"
	"github.com/writbus/writ/schemas"
)

// publisher makes releases by the way that the client goes.
type publisher struct {
	w           *world
	key, public string
	last        []byte
	number      int
}

func newPublisher(w *world) *publisher {
	w.t.Helper()
	key, err := evidence.NewKey("rules@acme.example")
	if err != nil {
		w.t.Fatal(err)
	}
	_, public, err := evidence.ReadKey(key)
	if err != nil {
		w.t.Fatal(err)
	}
	return &publisher{w: w, key: key, public: public}
}

// draft asks for what is to be signed of rules by their ids and statements.
func (p *publisher) draft(texts ...string) (schemas.ReleaseReply, error) {
	r := schemas.ReleaseRequest{Act: schemas.ReleaseDraft, Name: "acme", Layer: schemas.LayerOrganisation, Number: p.number + 1, Key: p.public, Envelope: p.last, Reason: "the printer does it"}
	for i := 0; i < len(texts); i += 2 {
		r.Files = append(r.Files, schemas.RuleFile{Path: strings.ToLower(texts[i]) + ".md", Content: texts[i+1]})
	}
	return p.w.releases(r)
}

func (p *publisher) release(texts ...string) []byte {
	p.w.t.Helper()
	reply, err := p.draft(texts...)
	if err != nil {
		p.w.t.Fatal(err)
	}
	raw, err := rulerelease.Seal(reply.Draft, p.key)
	if err != nil {
		p.w.t.Fatal(err)
	}
	p.last, p.number = raw, p.number+1
	return raw
}

func (w *world) releases(r schemas.ReleaseRequest) (schemas.ReleaseReply, error) {
	return call[schemas.ReleaseReply](w, w.admin, schemas.SvcRelease, r)
}

// given is what agents are given of a rule, with its layer and owner.
func (w *world) given(id string) string {
	w.t.Helper()
	view, err := call[schemas.RuleView](w, w.hook, schemas.SvcRule, schemas.RuleQuery{ID: id})
	if err != nil || view.Retired {
		return ""
	}
	found := "not found"
	if slices.Contains(w.found(id), id) {
		found = "found"
	}
	if band, err := call[schemas.AlwaysOnReply](w, w.hook, schemas.SvcAlwaysOn, struct{}{}); err != nil || slices.Contains(band.Rules, id) {
		found = "always"
	}
	return strings.TrimSpace(strings.Join([]string{found, view.Layer, view.Owner, view.Rule.Statement, strings.Join(view.Instead, "+")}, " "))
}

// TestReleasedRulesComeGoAndStayAsTheyAre walks a member's way: follow, override,
// update, a daemon that starts anew, leave.
func TestReleasedRulesComeGoAndStayAsTheyAre(t *testing.T) {
	const one, two, must = "ZOO-STRIPE-001", "ZOO-MANE-001", "ZOO-TAIL-001"
	data, project := t.TempDir(), newProject(t, "mode: work\n")
	w := start(t, data, project)
	p := newPublisher(w)
	mandatory := func(text string) string {
		return strings.Replace(ruleText(must, text), "severity: high", "severity: high\nmandatory: true\nenforcement: a check\ncheck: {language: go, pattern: 'horse', message: stripes}", 1)
	}
	want := func(what string, all map[string]string) {
		t.Helper()
		for id, text := range all {
			if got := w.given(id); got != text {
				t.Errorf("%s: %s is %q, want %q", what, id, got, text)
			}
		}
	}
	do := func(r schemas.ReleaseRequest, refused string) {
		t.Helper()
		_, err := w.releases(r)
		if refused == "" && err != nil || refused != "" && (err == nil || !strings.Contains(err.Error(), refused)) {
			t.Fatalf("%s: %v, want %q", r.Act, err, refused)
		}
	}
	decided := func() (releases []string) {
		t.Helper()
		w.send("SessionStart", map[string]any{"source": "startup"})
		w.write("a.go", "package a\n")
		for _, e := range w.history("s1") {
			var d schemas.ToolDecided
			if e.Type == d.EventType() && json.Unmarshal(e.Data, &d) == nil {
				releases = d.Releases
			}
		}
		return releases
	}

	w.changed(schemas.RuleChangeRequest{Act: schemas.RuleAdd, Content: ruleText(must, "Draw no tail at all here.")})
	first := p.release(one, ruleText(one, "Paint twelve stripes on it."), two, ruleText(two, "Comb the mane to the left."), must, mandatory("Draw the tail with a tuft."))
	if got := decided(); len(got) > 0 {
		t.Errorf("nothing is followed, and it was decided under %v", got)
	}
	do(schemas.ReleaseRequest{Act: schemas.ReleaseTake, Envelope: first}, "--root KEY")
	do(schemas.ReleaseRequest{Act: schemas.ReleaseFollow, Envelope: first, Place: "/rules"}, "no public key")
	want("refused", map[string]string{one: "", must: "found person  Draw no tail at all here."})
	do(schemas.ReleaseRequest{Act: schemas.ReleaseFollow, Envelope: first, Key: p.public, Place: "/rules"}, "")
	want("followed", map[string]string{
		one: "found organisation acme Paint twelve stripes on it.", two: "found organisation acme Comb the mane to the left.",
		must: "always organisation acme Draw the tail with a tuft. person",
	})
	if got := decided(); !slices.Equal(got, []string{"acme@1"}) {
		t.Errorf("decided under %v", got)
	}

	for act, r := range map[string]schemas.RuleChangeRequest{
		"writ rule edit":            {Act: schemas.RuleRetire, ID: one, Reason: "no"},
		"writ team release propose": {Act: schemas.RuleEdit, ID: must, Content: ruleText(must, "Draw no tail, again.")},
	} {
		if _, err := change(w, r); err == nil || !strings.Contains(err.Error(), act) {
			t.Errorf("%s %s: %v", r.Act, r.ID, err)
		}
	}
	w.changed(schemas.RuleChangeRequest{Act: schemas.RuleEdit, ID: one, Content: ruleText(one, "Paint nine stripes on it.")})
	want("edited", map[string]string{one: "found person  Paint nine stripes on it. organisation acme"})
	if list, err := call[schemas.RuleList](w, w.hook, schemas.SvcRules, schemas.RuleQuery{}); err != nil || len(list.Rules) != 3 {
		t.Errorf("%+v, %v", list, err)
	}

	if _, err := p.draft(one, ruleText(one, "Bad.")+"\x00", two, "no rule"); err == nil || !strings.Contains(err.Error(), "nothing is released") {
		t.Errorf("a draft of what is no rule: %v", err)
	}
	second := p.release(one, ruleText(one, "Paint twenty stripes on it."), must, mandatory("Draw the tail with two tufts."))
	do(schemas.ReleaseRequest{Act: schemas.ReleaseTake, Envelope: second}, "")
	want("the second", map[string]string{
		one: "found person  Paint nine stripes on it. organisation acme", two: "", must: "always organisation acme Draw the tail with two tufts. person",
	})
	do(schemas.ReleaseRequest{Act: schemas.ReleaseTake, Envelope: first}, "older")
	w.changed(schemas.RuleChangeRequest{Act: schemas.RuleRetire, ID: one, Reason: "theirs is better"})
	want("retired", map[string]string{one: "found organisation acme Paint twenty stripes on it."})

	if err := w.stop(); err != nil {
		t.Fatal(err)
	}
	w = start(t, data, project)
	p.w = w
	if got := decided(); !slices.Equal(got, []string{"acme@2"}) {
		t.Errorf("after a start decided under %v", got)
	}
	do(schemas.ReleaseRequest{Act: schemas.ReleaseTake, Envelope: first}, "older")
	want("after a start", map[string]string{must: "always organisation acme Draw the tail with two tufts. person"})
	do(schemas.ReleaseRequest{Act: schemas.ReleaseLeave, Name: "nobody"}, "acme")
	do(schemas.ReleaseRequest{Act: schemas.ReleaseLeave, Name: "acme"}, "")
	want("left", map[string]string{one: "", two: "", must: "found person  Draw no tail at all here."})
	if got := decided(); len(got) > 0 {
		t.Errorf("left, and decided under %v", got)
	}
	if reply, err := w.releases(schemas.ReleaseRequest{Act: schemas.ReleaseList}); err != nil || len(reply.Followed) > 0 {
		t.Errorf("%+v, %v", reply, err)
	}
}
