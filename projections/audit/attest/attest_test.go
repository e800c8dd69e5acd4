package attest

import (
	"cmp"
	"context"
	"crypto"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/secure-systems-lab/go-securesystemslib/dsse"
	"golang.org/x/mod/sumdb/note"

	"github.com/writbus/writ/projections/audit/evidence"
	"github.com/writbus/writ/schemas"
)

// story feeds a collector with events of sessions, in order.
type story struct {
	*Collector
	seq uint64
}

func newStory(roots ...string) *story {
	return &story{Collector: NewCollector(roots, schemas.Repository{Remote: "example.org/shop/web", First: "c0"})}
}

func (s *story) say(session string, data schemas.Payload) {
	s.seq++
	s.Add(schemas.Event{
		ID: fmt.Sprintf("e-%d", s.seq), Time: time.Unix(int64(s.seq), 0).UTC(), Aggregate: schemas.Session(session), Data: data,
		Position: schemas.Position{Stream: schemas.StreamSessions, Seq: s.seq},
	})
}

func (s *story) begin(session, project, parent string) {
	s.say(session, schemas.SessionStarted{Host: "claude", Project: project, Parent: parent})
}

func (s *story) beginIn(session, project string, r schemas.Repository) {
	s.say(session, schemas.SessionStarted{Host: "claude", Project: project, Repository: &r})
}

func (s *story) approve(session string, gates ...string) {
	for _, g := range gates {
		s.say(session, schemas.GateApproved{Gate: g, Fingerprint: "f", Channel: "terminal", Assurance: "terminal", ActID: "a"})
	}
}

// write is a file tool that was decided and left a file.
func (s *story) write(session, path, sum, verdict, mode string) {
	use := fmt.Sprintf("t-%d", s.seq)
	class := "code"
	if strings.HasSuffix(path, "_test.go") {
		class = "test"
	}
	s.say(session, schemas.ToolDecided{Tool: "Write", ToolUseID: use, Verdict: verdict, Mode: mode, Targets: []schemas.Target{{Rel: path, Class: class}}})
	s.say(session, schemas.ToolFinished{Tool: "Write", ToolUseID: use, Files: []schemas.FileState{{Path: path, SHA256: sum}}})
}

func file1(path, sum string, parents ...string) schemas.AttestChange {
	mode := "100644"
	for i, p := range parents {
		if p != "" {
			parents[i] = mode + " " + p
		}
	}
	if sum == "" {
		mode = ""
	}
	return schemas.AttestChange{Path: path, Mode: mode, SHA256: sum, Parents: parents}
}

// runnable is the file a.go with content x, which can be run.
func runnable(parents ...string) schemas.AttestChange {
	return schemas.AttestChange{Path: "a.go", Mode: "100755", SHA256: "x", Parents: parents}
}

// found is what the policy says of one file, of a statement drawn from the story.
func (s *story) found(p Policy, c schemas.AttestChange) Finding {
	statement := New(schemas.AttestRequest{Commit: "c", Tree: "t", Parents: []string{"b"}, Changes: []schemas.AttestChange{c}}, "writ-1", time.Unix(1e9, 0), s.Collector, nil)
	return Judge([]schemas.AttestChange{c}, []Statement{statement}, p)[0]
}

// TestJudgeAsksForWriteAndApprovals: each story is one reason.
func TestJudgeAsksForWriteAndApprovals(t *testing.T) {
	const one = "/p"
	for name, c := range map[string]struct {
		tell   func(s *story)
		policy Policy
		change schemas.AttestChange
		ok     bool
		why    string
	}{
		"approved":                {tell: func(s *story) { s.write("s", "a.go", "x", "allow", "work") }, ok: true, why: "plan approved by terminal"},
		"asked and answered":      {tell: func(s *story) { s.write("s", "a.go", "x", "ask", "work") }, ok: true},
		"other content":           {tell: func(s *story) { s.write("s", "a.go", "y", "allow", "work") }, why: "changed since"},
		"written back":            {tell: func(s *story) { s.write("s", "a.go", "x", "allow", "work"); s.write("s", "a.go", "y", "allow", "work") }, ok: true},
		"another place":           {tell: func(s *story) { s.write("s", "b/a.go", "x", "allow", "work") }, change: file1("a.go", "x", ""), why: "no write"},
		"another project":         {tell: func(s *story) { s.begin("s", "/q", ""); s.write("s", "a.go", "x", "allow", "work") }, why: "no write"},
		"a folder of the project": {tell: func(s *story) { s.begin("s", "/p/sub", ""); s.write("s", "a.go", "x", "allow", "work") }, change: file1("sub/a.go", "x", ""), ok: true},
		"another work tree":       {tell: func(s *story) { s.begin("s", "/trees/w", ""); s.write("s", "a.go", "x", "allow", "work") }, ok: true},
		"a clone elsewhere": {tell: func(s *story) {
			s.beginIn("s", "/clones/c", schemas.Repository{Remote: "example.org/shop/web"})
			s.write("s", "a.go", "x", "allow", "work")
		}, ok: true},
		"a folder of a clone": {tell: func(s *story) {
			s.beginIn("s", "/clones/c/sub", schemas.Repository{First: "c0", Below: "sub"})
			s.write("s", "a.go", "x", "allow", "work")
		}, change: file1("sub/a.go", "x", ""), ok: true},
		"a clone of a fork": {tell: func(s *story) {
			s.beginIn("s", "/clones/c", schemas.Repository{Remote: "example.org/ann/web", First: "c0"})
			s.write("s", "a.go", "x", "allow", "work")
		}, why: "no write"},
		"nothing was decided": {tell: func(s *story) {
			s.say("s", schemas.ToolFinished{Tool: "Write", Files: []schemas.FileState{{Path: "a.go", SHA256: "x"}}})
		}, why: "no write"},
		"refused and there":      {tell: func(s *story) { s.write("s", "a.go", "x", "deny", "work") }, why: "would have refused"},
		"in conversation":        {tell: func(s *story) { s.write("s", "a.go", "x", "allow", "conversation") }, why: "mode conversation"},
		"in conversation, taken": {tell: func(s *story) { s.write("s", "a.go", "x", "allow", "conversation") }, policy: Policy{Recorded: true}, ok: true},
		"drifted": {tell: func(s *story) {
			s.say("s", schemas.GateDrifted{Gate: "plan"})
			s.write("s", "a.go", "x", "allow", "work")
		}, why: "plan gate"},
		"withdrawn": {tell: func(s *story) {
			s.say("s", schemas.GateInvalidated{Gate: "tests", Reason: "r"})
			s.write("s", "a.go", "x", "allow", "work")
		}, why: "tests gate"},
		"a new wish": {tell: func(s *story) {
			s.say("s", schemas.PlanReopened{Reason: "done"})
			s.write("s", "a.go", "x", "allow", "work")
		}, why: "plan gate"},
		"the old wish again": {tell: func(s *story) {
			s.say("s", schemas.PlanReopened{Reason: "done"})
			s.say("s", schemas.PlanResumed{Channel: "prompt", ActID: "a"})
			s.write("s", "a.go", "x", "allow", "work")
		}, ok: true},
		"a sub-agent":     {tell: func(s *story) { s.begin("s/w", one, "s"); s.write("s/w", "a.go", "x", "allow", "work") }, ok: true},
		"another session": {tell: func(s *story) { s.begin("r", one, ""); s.write("r", "a.go", "x", "allow", "work") }, why: "plan gate"},
		"too weak":        {tell: func(s *story) { s.write("s", "a.go", "x", "allow", "work") }, policy: Policy{Rungs: []string{"passkey"}}, why: "terminal alone"},
		"strong enough":   {tell: func(s *story) { s.write("s", "a.go", "x", "allow", "work") }, policy: Policy{Rungs: []string{"terminal", "passkey"}}, ok: true},
		"untested":        {tell: func(s *story) { s.write("s", "a.go", "x", "allow", "work") }, policy: Policy{Tests: true}, why: "no tests"},
		"tested before": {tell: func(s *story) {
			s.say("s", schemas.TestsFinished{Kind: "test", Outcome: "passed"})
			s.write("s", "a.go", "x", "allow", "work")
		}, policy: Policy{Tests: true}, why: "no tests"},
		"tested": {tell: func(s *story) {
			s.write("s", "a.go", "x", "allow", "work")
			s.say("s", schemas.TestsFinished{Kind: "test", Outcome: "passed"})
		}, policy: Policy{Tests: true}, ok: true},
		"tested and failed": {tell: func(s *story) {
			s.write("s", "a.go", "x", "allow", "work")
			s.say("s", schemas.TestsFinished{Kind: "test", Outcome: "failed"})
		}, policy: Policy{Tests: true}, why: "no tests"},
		"excepted":                  {policy: Policy{Except: func(string) bool { return true }}, ok: true},
		"deleted":                   {tell: func(s *story) { s.write("s", "a.go", "", "allow", "work") }, change: file1("a.go", "", "x"), ok: true},
		"deleted by nobody":         {change: file1("a.go", "", "x"), why: "no write"},
		"as in a parent of two":     {change: file1("a.go", "x", "x", "y"), ok: true},
		"made runnable":             {change: runnable("100644 x"), why: "no write"},
		"made runnable in a merge":  {change: runnable("100644 x", "100644 x"), why: "no write"},
		"of two parents' modes":     {change: runnable("100755 y", "100644 x"), why: "no write"},
		"runnable in a parent":      {change: runnable("100644 x", "100755 x"), ok: true},
		"written and made runnable": {tell: func(s *story) { s.write("s", "a.go", "x", "allow", "work") }, change: runnable("100644 x"), ok: true},
		"an earlier one runnable":   {tell: func(s *story) { s.write("s", "a.go", "y", "allow", "work") }, change: runnable("100644 x"), why: "no write"},
		"a link":                    {tell: func(s *story) { s.write("s", "a.go", "x", "allow", "work") }, change: schemas.AttestChange{Path: "a.go", Mode: "120000", SHA256: "x", Parents: []string{""}}, why: "a link"},
		"a link with a file's text": {change: schemas.AttestChange{Path: "a.go", Mode: "120000", SHA256: "x", Parents: []string{"100644 x"}}, why: "a link"},
		"left by a command": {tell: func(s *story) {
			s.say("s", schemas.ToolDecided{Tool: "Bash", ToolUseID: "b", Verdict: "allow", Mode: "work"})
			s.say("s", schemas.ToolFinished{Tool: "Bash", ToolUseID: "b", Files: []schemas.FileState{{Path: "a.go", SHA256: "x"}}})
		}, ok: true},
		"left by a command that the gate would have refused": {tell: func(s *story) {
			s.say("s", schemas.ToolDecided{Tool: "Bash", ToolUseID: "b", Verdict: "allow", Mode: "work"})
			s.say("s", schemas.ToolFinished{Tool: "Bash", ToolUseID: "b", Files: []schemas.FileState{{Path: "a.go", SHA256: "x"}}})
			s.say("s", schemas.WriteUnapproved{ToolUseID: "b", Changes: []schemas.UnapprovedChange{{Path: "a.go", Change: "changed", Rule: "ENF-GATE-PLAN"}}})
		}, why: "ENF-GATE-PLAN"},
		"a test, under the plan alone": {tell: func(s *story) {
			s.say("s", schemas.GateInvalidated{Gate: "tests", Reason: "r"})
			s.write("s", "a_test.go", "x", "allow", "work")
		}, change: file1("a_test.go", "x", ""), ok: true},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStory(one, "/trees/w")
			s.begin("s", one, "")
			s.approve("s", "plan", "tests")
			if c.tell != nil {
				c.tell(s)
			}
			if c.change.Path == "" {
				c.change = file1("a.go", "x", "before")
			}
			f := s.found(c.policy, c.change)
			if f.OK != c.ok || !strings.Contains(f.Why, c.why) {
				t.Errorf("%+v, want ok %v, %q", f, c.ok, c.why)
			}
		})
	}
}

// TestJudgeNamesWhoSigned: an approval counts with the signature of a given person
// over exactly it.
func TestJudgeNamesWhoSigned(t *testing.T) {
	ann, err := evidence.NewKey("ann@example.org")
	if err != nil {
		t.Fatal(err)
	}
	_, public, err := evidence.ReadKey(ann)
	if err != nil {
		t.Fatal(err)
	}
	key, err := evidence.ParseKey(public)
	if err != nil {
		t.Fatal(err)
	}
	_, stranger := keys(t, "ann@example.org")
	const act = "0190a0b0-0000-7000-8000-000000000001"
	sign := func(session string, p schemas.GateApproved) *schemas.Signed {
		s, err := evidence.SignAct(ann, schemas.Session(session), p, schemas.Signed{Act: act, Time: time.Unix(1, 0)})
		if err != nil {
			t.Fatal(err)
		}
		return &s
	}
	for name, c := range map[string]struct {
		session, gate, fingerprint, act string
		persons                         []note.Verifier
		change                          func(*schemas.Signed)
		ok                              bool
	}{
		"hers":                 {ok: true},
		"nobody was asked for": {persons: []note.Verifier{}, change: func(s *schemas.Signed) { s.Signature = nil }, ok: true},
		"another person's":     {persons: []note.Verifier{stranger}},
		"of another session":   {session: "r"},
		"of another gate":      {gate: "tests"},
		"of other files":       {fingerprint: "g"},
		"of another act":       {act: "0190a0b0-0000-7000-8000-000000000002"},
		"of another time":      {change: func(s *schemas.Signed) { s.Time = s.Time.Add(time.Hour) }},
		"of another revision":  {change: func(s *schemas.Signed) { s.Revision++ }},
		"without a signature":  {change: func(s *schemas.Signed) { s.Signature = nil }},
		"with what is no key":  {change: func(s *schemas.Signed) { s.Key = "ann@example.org" }},
		"under a key that is a stranger's of her name": {change: func(s *schemas.Signed) { s.Key = stranger.Name() + "+00000000+AAAA" }},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStory("/p")
			s.begin("s", "/p", "")
			p := schemas.GateApproved{Gate: "plan", Fingerprint: "f", Channel: "terminal", Assurance: "terminal", ActID: "terminal:" + act}
			signed := p
			signed.Gate, signed.Fingerprint = cmp.Or(c.gate, p.Gate), cmp.Or(c.fingerprint, p.Fingerprint)
			p.Signed = sign(cmp.Or(c.session, "s"), signed)
			if p.ActID = "terminal:" + cmp.Or(c.act, act); c.change != nil {
				c.change(p.Signed)
			}
			s.say("s", p)
			s.write("s", "a_test.go", "x", "allow", "work")
			policy := Policy{Persons: c.persons}
			if c.persons == nil {
				policy.Persons = []note.Verifier{stranger, key}
			}
			f := s.found(policy, file1("a_test.go", "x", ""))
			if f.OK != c.ok || c.ok && c.persons == nil && !strings.Contains(f.Why, "ann@example.org (terminal)") {
				t.Errorf("%+v", f)
			}
		})
	}
}

// TestJudgeHoldsAStatementToItsFile: what was approved bears out neither another mode
// nor a file of another repository.
func TestJudgeHoldsAStatementToItsFile(t *testing.T) {
	s := newStory("/p")
	s.begin("s", "/p", "")
	s.approve("s", "plan", "tests")
	s.write("s", "a.go", "x", "allow", "work")
	of := schemas.AttestRequest{Commit: "c", Tree: "t", Repository: schemas.Repository{First: "c0"}, Changes: []schemas.AttestChange{file1("a.go", "x", "")}}
	statement := New(of, "writ-1", time.Unix(1e9, 0), s.Collector, nil)
	for _, c := range []struct {
		change schemas.AttestChange
		first  string
		why    string
	}{
		{file1("a.go", "x", ""), "c0", "plan approved"},
		{file1("a.go", "x", ""), "", "plan approved"},
		{file1("a.go", "x", ""), "c1", "another repository"},
		{runnable(""), "c0", "mode 100644, and 100755 here"},
	} {
		f := Judge([]schemas.AttestChange{c.change}, []Statement{statement}, Policy{First: c.first})[0]
		if f.OK != (c.why == "plan approved") || !strings.Contains(f.Why, c.why) {
			t.Errorf("%+v in %q: %+v", c.change, c.first, f)
		}
	}
}

// TestJudgeTakesNoIndexOnTrust: a statement that points beyond its approvals breaks
// nothing and bears nothing out.
func TestJudgeTakesNoIndexOnTrust(t *testing.T) {
	s := Statement{Predicate: Predicate{Paths: []Path{{Path: "a.go", Mode: "100644", SHA256: "x", State: Written, Write: &Write{Mode: "work", Class: "code", Approvals: []int{-1, 7}}}}}}
	if f := Judge([]schemas.AttestChange{file1("a.go", "x", "")}, []Statement{s}, Policy{})[0]; f.OK || !strings.Contains(f.Why, "no approval") {
		t.Errorf("%+v", f)
	}
}

func keys(t testing.TB, name string) (note.Signer, note.Verifier) {
	secret, public, err := note.GenerateKey(rand.Reader, name)
	if err != nil {
		t.Fatal(err)
	}
	signer, err := note.NewSigner(secret)
	if err != nil {
		t.Fatal(err)
	}
	verifier, err := note.NewVerifier(public)
	if err != nil {
		t.Fatal(err)
	}
	return signer, verifier
}

func signedStatement(t testing.TB, key note.Signer) json.RawMessage {
	s := newStory("/p")
	s.begin("s", "/p", "")
	s.approve("s", "plan", "tests")
	s.write("s", "a.go", "x", "allow", "work")
	raw, err := Sign(New(schemas.AttestRequest{Commit: "c", Tree: "t", Changes: []schemas.AttestChange{file1("a.go", "x", "")}}, key.Name(), time.Unix(1e9, 0), s.Collector, nil), key)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// TestOpenTakesASignatureOfAGivenKey: an altered payload, another key, a key that
// speaks for another log, and what is no envelope are refused.
func TestOpenTakesASignatureOfAGivenKey(t *testing.T) {
	signer, verifier := keys(t, "writ-1")
	_, other := keys(t, "writ-1")
	raw := signedStatement(t, signer)
	if s, by, err := Open(raw, []note.Verifier{other, verifier}); err != nil || by != verifier || len(s.Predicate.Paths) != 1 {
		t.Fatalf("%+v, %v", s, err)
	}
	if _, _, err := Open(raw, []note.Verifier{other}); !errors.Is(err, ErrSignature) {
		t.Errorf("another key: %v", err)
	}
	var e envelope
	if err := json.Unmarshal(raw, &e); err != nil {
		t.Fatal(err)
	}
	payload, err := base64.StdEncoding.DecodeString(e.Payload)
	if err != nil {
		t.Fatal(err)
	}
	e.Payload = base64.StdEncoding.EncodeToString([]byte(strings.Replace(string(payload), "a.go", "b.go", 1)))
	altered, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := Open(altered, []note.Verifier{verifier}); !errors.Is(err, ErrSignature) {
		t.Errorf("altered: %v", err)
	}
	stranger, strangers := keys(t, "writ-2")
	lent, err := Sign(Statement{Type: StatementType, PredicateType: PredicateType, Predicate: Predicate{Log: "writ-1"}}, stranger)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := Open(lent, []note.Verifier{strangers}); !errors.Is(err, ErrSignature) {
		t.Errorf("for another log: %v", err)
	}
	for _, text := range []string{"", "{}", "[]", `{"payloadType":"application/vnd.in-toto+json","payload":"%"}`} {
		if _, _, err := Open([]byte(text), []note.Verifier{verifier}); !errors.Is(err, ErrEnvelope) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// libraryKey is a key as the reference implementation of DSSE takes it.
type libraryKey struct{ note.Verifier }

func (k libraryKey) Verify(_ context.Context, data, sig []byte) error {
	if !k.Verifier.Verify(data, sig) {
		return errors.New("not this key's")
	}
	return nil
}

func (k libraryKey) KeyID() (string, error) { return KeyID(k.Verifier), nil }

func (libraryKey) Public() crypto.PublicKey { return nil }

// TestTheEnvelopeIsDSSE: the implementation of the format's authors takes it.
func TestTheEnvelopeIsDSSE(t *testing.T) {
	signer, verifier := keys(t, "writ-1")
	var e dsse.Envelope
	if err := json.Unmarshal(signedStatement(t, signer), &e); err != nil {
		t.Fatal(err)
	}
	v, err := dsse.NewEnvelopeVerifier(libraryKey{verifier})
	if err != nil {
		t.Fatal(err)
	}
	if accepted, err := v.Verify(t.Context(), &e); err != nil || len(accepted) != 1 {
		t.Errorf("%v, %v", accepted, err)
	}
}

// TestDifferencePinsEveryFile: another path, mode or content is another digest, and
// the order is not.
func TestDifferencePinsEveryFile(t *testing.T) {
	a, b := file1("a.go", "x", ""), file1("b.go", "y", "")
	seen := map[string]bool{Difference([]schemas.AttestChange{a, b}): true}
	if !seen[Difference([]schemas.AttestChange{b, a})] {
		t.Error("the order counts")
	}
	runnable := b
	runnable.Mode = "100755"
	for _, other := range [][]schemas.AttestChange{nil, {a}, {a, runnable}, {a, file1("b.go", "x", "")}, {a, file1("c.go", "y", "")}, {a, file1("b.go", "", "y")}} {
		if d := Difference(other); seen[d] {
			t.Errorf("%+v has the digest of another", other)
		} else {
			seen[d] = true
		}
	}
}

// FuzzOpen: nothing that is not signed is taken, and nothing breaks it.
func FuzzOpen(f *testing.F) {
	signer, verifier := keys(f, "writ-1")
	raw := signedStatement(f, signer)
	f.Add([]byte(raw))
	f.Add([]byte(`{"payloadType":"application/vnd.in-toto+json","payload":"e30=","signatures":[{"sig":""}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		s, _, err := Open(text, []note.Verifier{verifier})
		if err == nil && (len(s.Predicate.Paths) != 1 || s.Predicate.Paths[0].Path != "a.go") {
			t.Errorf("taken: %+v", s)
		}
	})
}
