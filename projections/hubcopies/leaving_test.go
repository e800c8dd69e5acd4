package hubcopies

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/note"

	"github.com/writbus/writ/enforcement/redact"
	"github.com/writbus/writ/projections/audit/evidence"
	"github.com/writbus/writ/schemas"
)

func plain(text string) string { return text }

// fill puts a text into every field of a value.
func fill(v reflect.Value, text func() string) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(text())
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), text)
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			v.SetBytes([]byte(text()))
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0), text)
	case reflect.Map:
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(key, text)
		fill(value, text)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, value)
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			return
		}
		for i := range v.NumField() {
			fill(v.Field(i), text)
		}
	default:
	}
}

// message is an event as the log has it, with a text in every field of its payload.
func record(t *testing.T, typ schemas.Type, text func() string) schemas.Record {
	t.Helper()
	empty, err := schemas.DecodePayload(typ, typ.Version(), json.RawMessage("{}"))
	if err != nil {
		t.Fatal(err)
	}
	v := reflect.New(reflect.TypeOf(empty)).Elem()
	fill(v, text)
	return recordOf(t, v.Interface().(schemas.Payload), text())
}

func recordOf(t *testing.T, p schemas.Payload, id string) schemas.Record {
	t.Helper()
	kind := p.EventType().Kind()
	m, err := schemas.Encode(schemas.Event{
		ID: "e1", Time: time.Unix(1e9, 0), Source: "/test", Actor: schemas.Agent(id, id, id), Aggregate: schemas.Aggregate{Kind: kind, ID: id}, Data: p,
	})
	if err != nil {
		t.Fatal(err)
	}
	return schemas.Record{Message: m, Stream: kind.Stream(), Seq: 7}
}

// TestNothingLeavesThatTheListDoesNotName puts a text of its own into every field of
// every type of event.
func TestNothingLeavesThatTheListDoesNotName(t *testing.T) {
	listed := map[schemas.Type][]string{}
	for _, k := range Kinds() {
		listed[k.Type] = k.Fields
	}
	for _, typ := range schemas.Types() {
		n := 0
		fields, leaves := listed[typ]
		if !leaves && slices.Contains([]schemas.Type{"records.lost", "records.archived", "log.moved", "rule.imported", "rule.edited", "rule.proposed"}, typ) {
			continue // a text of any kind in their fields is none of theirs
		}
		copies, err := (&Copier{Clean: plain, Secret: []byte("k")}).Copies(nil, record(t, typ, func() string { n++; return fmt.Sprintf("text-%d", n) }))
		if err != nil {
			t.Fatalf("%s: %v", typ, err)
		}
		if leaves != (len(copies) == 1) {
			t.Errorf("%s: %d copies", typ, len(copies))
			continue
		}
		if !leaves {
			continue
		}
		raw, err := json.Marshal(copies[0].Data)
		if err != nil {
			t.Fatal(err)
		}
		var texts []string
		for _, field := range fields {
			if !strings.HasPrefix(field, "signed.") && !strings.HasPrefix(field, "with.") {
				texts = append(texts, field)
			}
		}
		free := slices.DeleteFunc(slices.Clone(texts), func(f string) bool { return forms[f[strings.LastIndexByte(f, '.')+1:]] != nil })
		if got := strings.Count(string(raw), "text-"); got > len(free) {
			t.Errorf("%s: %d texts leave, %d fields may hold any: %s", typ, got, len(free), raw)
		}
		for _, field := range texts {
			if !has(copies[0].Data, strings.Split(field, ".")) && !zero(field) {
				t.Errorf("%s has no field %s: %s", typ, field, raw)
			}
		}
	}
}

// zero are fields of numbers and flags, which are left out where they are none.
func zero(field string) bool {
	return slices.Contains([]string{"orchestrator", "restored", "failed", "files.bytes", "millis", "changes.put_back", "exit", "passed", "known", "late"}, field)
}

func has(value any, names []string) bool {
	switch v := value.(type) {
	case map[string]any:
		if len(names) == 0 {
			return false
		}
		inner, there := v[names[0]]
		return there && has(inner, names[1:])
	case []any:
		return len(v) > 0 && has(v[0], names)
	default:
		return len(names) == 0
	}
}

// TestNoSecretLeaves puts a secret into every field, and into what names session,
// rule and actor.
func TestNoSecretLeaves(t *testing.T) {
	for name, secret := range map[string]string{
		"an access key":       "AKIA" + "QYLPMN5HNM4NTZX2",
		"a token of a header": "Authorization: Bearer " + "Zk3v9QpLw7RtYx2NbMc5",
		"a password":          "postgres://app:Trombone-471@db.example.org/shop",
		"a path of home":      "/home/ann/secret/plan.md",
	} {
		for _, k := range Kinds() {
			copies, err := (&Copier{Clean: redact.Text, Secret: []byte("k")}).Copies(nil, record(t, k.Type, func() string { return secret }))
			if err != nil || len(copies) != 1 {
				t.Fatalf("%s: %d copies, %v", k.Type, len(copies), err)
			}
			raw, err := json.Marshal(copies[0])
			if err != nil {
				t.Fatal(err)
			}
			part := secret[len(secret)-12:]
			if name == "a password" {
				part = "Trombone-471"
			}
			if bytes.Contains(raw, []byte(part)) {
				t.Errorf("%s in every field of %s leaves: %s", name, k.Type, raw)
			}
		}
	}
}

// TestTheOtherPersonsSignatureLeaves where two approve: what the first gave, and what the
// second's approval bears of it, if it holds.
func TestTheOtherPersonsSignatureLeaves(t *testing.T) {
	key, err := evidence.NewKey("bob@example.org")
	if err != nil {
		t.Fatal(err)
	}
	given := schemas.ApprovalGiven{Gate: "plan", Fingerprint: strings.Repeat("0a", 32), Channel: "terminal", ActID: "terminal:0190a0b0-0000-7000-8000-000000000001"}
	s, err := evidence.SignAct(key, schemas.Session("s1"), given.Act(), schemas.Signed{Act: "0190a0b0-0000-7000-8000-000000000001", Time: time.Unix(1e9, 0)})
	if err != nil {
		t.Fatal(err)
	}
	given.Signed = &s
	whole := schemas.GateApproved{Gate: given.Gate, Fingerprint: given.Fingerprint, Channel: "terminal", Assurance: "terminal", ActID: "a", With: []schemas.Signed{s}}
	another := whole
	another.Gate = "tests"
	for name, c := range map[string]struct {
		p     schemas.Payload
		holds bool
	}{"given": {given, true}, "with it": {whole, true}, "of another gate": {another, false}} {
		copies, err := (&Copier{Clean: redact.Text, Secret: []byte("k")}).Copies(nil, recordOf(t, c.p, "s1"))
		if err != nil {
			t.Fatal(err)
		}
		raw, err := json.Marshal(copies[0].Data)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(raw, []byte(s.Key)) != c.holds {
			t.Errorf("%s: %s", name, raw)
		}
	}
}

// TestASignatureThatHoldsLeaves whole, so that it can be checked, and another not.
func TestASignatureThatHoldsLeaves(t *testing.T) {
	ann, err := evidence.NewKey("ann@example.org")
	if err != nil {
		t.Fatal(err)
	}
	p := schemas.GateApproved{Gate: "plan", Fingerprint: strings.Repeat("0a", 32), Channel: "terminal", Assurance: "terminal", ActID: "terminal:0190a0b0-0000-7000-8000-000000000001"}
	s, err := evidence.SignAct(ann, schemas.Session("s1"), p, schemas.Signed{Act: "0190a0b0-0000-7000-8000-000000000001", Time: time.Unix(1e9, 0)})
	if err != nil {
		t.Fatal(err)
	}
	for gate, holds := range map[string]bool{"plan": true, "tests": false} {
		p.Gate, p.Signed = gate, &s
		copies, err := (&Copier{Clean: redact.Text, Secret: []byte("k")}).Copies(nil, recordOf(t, p, "s1"))
		if err != nil {
			t.Fatal(err)
		}
		raw, err := json.Marshal(copies[0].Data)
		if err != nil {
			t.Fatal(err)
		}
		var back schemas.GateApproved
		if err := json.Unmarshal(raw, &back); err != nil {
			t.Fatal(err)
		}
		_, err = evidence.Person(schemas.Session("s1"), back)
		if (err == nil) != holds || !holds && back.Signed != nil {
			t.Errorf("%s: %v, %s", gate, err, raw)
		}
	}
}

func signers(t *testing.T) (note.Signer, note.Verifier) {
	t.Helper()
	secret, public, err := note.GenerateKey(rand.Reader, "writ-1")
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

// TestCopiesAreThoseThatWereSigned: the same log gives the same bytes, and what was
// altered, removed, added, swapped or signed by another is refused.
func TestCopiesAreThoseThatWereSigned(t *testing.T) {
	signer, verifier := signers(t)
	_, stranger := signers(t)
	write := func() []byte {
		var out bytes.Buffer
		w, copier := NewWriter(&out), Copier{Clean: plain, Secret: []byte("k")}
		for _, id := range []string{"s1", "s2", "s3"} {
			copies, err := copier.Copies(nil, recordOf(t, schemas.GateApproved{Gate: "plan", Fingerprint: strings.Repeat(id[1:], 64), Channel: "terminal", ActID: "a"}, id))
			if err != nil {
				t.Fatal(err)
			}
			if err := w.Write(copies[0]); err != nil {
				t.Fatal(err)
			}
		}
		if n, err := w.Close(signer, time.Unix(1e9, 0)); err != nil || n != 3 {
			t.Fatalf("%d, %v", n, err)
		}
		return out.Bytes()
	}
	file := write()
	if !bytes.Equal(file, write()) {
		t.Error("the same log gives other copies")
	}
	read, err := Verify(bytes.NewReader(file), verifier)
	if err != nil || read.Copies != 3 || read.Kinds["gate.approved"] != 3 || read.Log != "writ-1" || read.OtherList || !read.Time.Equal(time.Unix(1e9, 0)) {
		t.Errorf("%+v, %v", read, err)
	}
	if _, err := Verify(bytes.NewReader(file), stranger); !errors.Is(err, ErrFile) {
		t.Errorf("a stranger's key: %v", err)
	}
	lines := bytes.SplitAfter(file, []byte("\n"))
	join := func(parts ...[]byte) []byte { return bytes.Join(parts, nil) }
	for name, altered := range map[string][]byte{
		"a changed copy":     bytes.Replace(file, []byte(`"fingerprint":"2`), []byte(`"fingerprint":"4`), 1),
		"a changed nonce":    bytes.Replace(file, []byte(`"nonce":"`), []byte(`"nonce":"A`), 1),
		"one taken out":      join(lines[0], lines[2], lines[3]),
		"one put in":         join(lines[0], lines[0], lines[1], lines[2], lines[3]),
		"two swapped":        join(lines[1], lines[0], lines[2], lines[3]),
		"the end taken off":  join(lines[0], lines[1], lines[2]),
		"more after the end": join(file, lines[0]),
		"no copies at all":   lines[3],
		"nothing":            nil,
		"no JSON":            []byte("hello\n"),
	} {
		if read, err := Verify(bytes.NewReader(altered), verifier); !errors.Is(err, ErrFile) {
			t.Errorf("%s: %+v, %v", name, read, err)
		}
	}
}

// TestNoncesHideWhatIsCopied: the same event under another secret has another hash.
func TestNoncesHideWhatIsCopied(t *testing.T) {
	r := recordOf(t, schemas.GatesClosed{Reason: "r"}, "s1")
	one, err := (&Copier{Clean: plain, Secret: []byte("k")}).Copies(nil, r)
	if err != nil {
		t.Fatal(err)
	}
	other, err := (&Copier{Clean: plain, Secret: []byte("l")}).Copies(nil, r)
	if err != nil || one[0].Nonce == other[0].Nonce || len(one[0].Nonce) < 40 {
		t.Errorf("%q and %q, %v", one[0].Nonce, other[0].Nonce, err)
	}
}

func FuzzVerify(f *testing.F) {
	f.Add([]byte(`{"stream":"WRIT_SESSIONS","type":"gate.approved"}` + "\n" + `{"checkpoint":"x"}` + "\n"))
	secret, public, err := note.GenerateKey(rand.Reader, "writ-1")
	if err != nil {
		f.Fatal(err)
	}
	verifier, err := note.NewVerifier(public)
	if err != nil || secret == "" {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		if read, err := Verify(bytes.NewReader(file), verifier); err == nil {
			t.Errorf("nobody signed %+v", read)
		}
	})
}
