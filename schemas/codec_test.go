package schemas

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

var moment = time.Date(2026, 3, 4, 5, 6, 7, 89, time.UTC)

// sampleEvent is an event of type t with every field of its body filled.
func sampleEvent(t Type) Event {
	d := definitions()[t]
	v := reflect.New(d.goType).Elem()
	fill(v, "x")
	return Event{
		ID: "0198c0de-0000-7000-8000-000000000001", Time: moment, Source: "/writ/test",
		Aggregate: Aggregate{d.kind, "a.b *>/ü"}, Actor: ParseActor("agent smith"), CausationID: "c", CorrelationID: "100%",
		Data: v.Interface().(Payload),
	}
}

func fill(v reflect.Value, word string) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(word)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(7)
	case reflect.Uint64:
		v.SetUint(8)
	case reflect.Float64:
		v.SetFloat(0.5)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		if v.Type().Elem().Kind() == reflect.Uint8 {
			v.SetBytes([]byte{0, 255})
		} else {
			fill(v.Index(0), word)
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		e := reflect.New(v.Type().Elem()).Elem()
		fill(e, word)
		v.SetMapIndex(reflect.ValueOf("k"), e)
	case reflect.Interface:
		v.Set(reflect.ValueOf("any"))
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			v.Set(reflect.ValueOf(moment))
			return
		}
		for i := range v.NumField() {
			fill(v.Field(i), v.Type().Field(i).Name)
		}
		if rule, is := v.Addr().Interface().(*Rule); is {
			sampleNode(rule, NodeSkill)
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), word)
	default:
		panic("no sample for a field of " + v.Type().String())
	}
}

// sampleNode makes a filled rule a node of a type, with the detail of that type
// alone.
func sampleNode(r *Rule, t NodeType) {
	r.Type = t
	v := reflect.ValueOf(r).Elem()
	for other, i := range detailFields() {
		if f := v.Field(i); other != t {
			f.SetZero()
		} else if f.IsNil() {
			fill(f, "x")
		}
	}
}

func TestEveryTypeSurvivesTheCodec(t *testing.T) {
	for _, typ := range Types() {
		t.Run(string(typ), func(t *testing.T) {
			want := sampleEvent(typ)
			m, err := Encode(want)
			if err != nil {
				t.Fatal(err)
			}
			got, err := Decode(m)
			if err != nil {
				t.Fatal(err)
			}
			want.StoredVersion = typ.Version()
			if diff := cmp.Diff([]Event{want}, got, cmp.AllowUnexported(Actor{})); diff != "" {
				t.Errorf("(-written +read)\n%s", diff)
			}
		})
	}
}

func TestSeveralEventsTravelInOneMessage(t *testing.T) {
	main := sampleEvent("prompt.submitted")
	m, err := Encode(main, GateApproved{Gate: "plan", Fingerprint: "f", Channel: "prompt", ActID: "a"})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasSuffix(m.Subject, ".prompt.submitted") {
		t.Errorf("subject %s is not the main event's", m.Subject)
	}
	got, err := Record{Stream: StreamSessions, Seq: 9, Message: m}.Events()
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 2 || got[0].Type() != "prompt.submitted" || got[1].Type() != "gate.approved" {
		t.Fatalf("read %d events: %+v", len(got), got)
	}
	if got[1].ID != main.ID+"/1" || got[1].Position != (Position{StreamSessions, 9, 1}) || got[1].Actor != main.Actor {
		t.Errorf("second part: %+v", got[1])
	}
}

func TestEncodeRefuses(t *testing.T) {
	good := sampleEvent("mode.changed")
	for name, c := range map[string]struct {
		change func(*Event)
		also   Payload
		want   error
	}{
		"no data":              {func(e *Event) { e.Data = nil }, nil, ErrInvalid},
		"no id":                {func(e *Event) { e.ID = "" }, nil, ErrInvalid},
		"an id of two lines":   {func(e *Event) { e.ID = "a\r\nb" }, nil, ErrInvalid},
		"no time":              {func(e *Event) { e.Time = time.Time{} }, nil, ErrInvalid},
		"another aggregate":    {func(e *Event) { e.Aggregate.Kind = KindRule }, nil, ErrInvalid},
		"no aggregate id":      {func(e *Event) { e.Aggregate.ID = "" }, nil, ErrInvalid},
		"a huge aggregate id":  {func(e *Event) { e.Aggregate.ID = strings.Repeat("x", 10_000) }, nil, ErrIDTooLong},
		"a missing field":      {func(e *Event) { e.Data = ModeChanged{} }, nil, ErrInvalid},
		"a part without field": {func(*Event) {}, PhaseChanged{}, ErrInvalid},
		"a part of a rule":     {func(*Event) {}, RuleRetired{Reason: "r"}, ErrInvalid},
	} {
		t.Run(name, func(t *testing.T) {
			e := good
			c.change(&e)
			var also []Payload
			if c.also != nil {
				also = append(also, c.also)
			}
			if _, err := Encode(e, also...); !errors.Is(err, c.want) {
				t.Errorf("got %v, want %v", err, c.want)
			}
		})
	}
}

func TestDecodeRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Message)
		want   error
	}{
		"a foreign subject":       {func(m *Message) { m.Subject = "other.session.a.mode.changed" }, ErrMalformed},
		"a subject token":         {func(m *Message) { m.Subject = "writ.session.=zz.mode.changed" }, ErrMalformed},
		"header against subject":  {func(m *Message) { m.Header[HeaderType] = []string{"phase.changed"} }, ErrMalformed},
		"a copy for another id":   {func(m *Message) { m.Subject = Session("other").Subject("mode.changed") }, ErrMalformed},
		"no time":                 {func(m *Message) { delete(m.Header, HeaderTime) }, ErrMalformed},
		"no version":              {func(m *Message) { delete(m.Header, HeaderWritVersion) }, ErrMalformed},
		"version zero":            {func(m *Message) { m.Header[HeaderWritVersion] = []string{"0"} }, ErrMalformed},
		"a version of the future": {func(m *Message) { m.Header[HeaderWritVersion] = []string{"99"} }, ErrFutureVersion},
		"another content":         {func(m *Message) { m.Header[HeaderContentType] = []string{"text/html"} }, ErrMalformed},
		"half a body":             {func(m *Message) { m.Body = m.Body[:3] }, ErrMalformed},
		"an unknown type": {func(m *Message) {
			m.Subject = Session("a.b *>/ü").Subject("moon.landed")
			m.Header[HeaderType] = []string{"moon.landed"}
		}, ErrUnknownType},
		"parts that lie": {func(m *Message) {
			m.Header[HeaderContentType] = []string{contentParts}
			m.Body = []byte(`[{"type":"phase.changed","version":1,"data":{}}]`)
		}, ErrMalformed},
		"a part of another aggregate": {func(m *Message) {
			m.Header[HeaderContentType] = []string{contentParts}
			m.Body = []byte(`[{"type":"mode.changed","version":1,"data":{"to":"work"}},{"type":"rule.retired","version":1,"data":{"reason":"x"}}]`)
		}, ErrMalformed},
	} {
		t.Run(name, func(t *testing.T) {
			m, err := Encode(sampleEvent("mode.changed"))
			if err != nil {
				t.Fatal(err)
			}
			c.change(&m)
			if _, err := Decode(m); !errors.Is(err, c.want) {
				t.Errorf("got %v, want %v", err, c.want)
			}
		})
	}
}

func TestUpcastsRunStepByStep(t *testing.T) {
	rename := func(from, to string) Upcast {
		return func(raw json.RawMessage) (json.RawMessage, error) {
			return json.RawMessage(strings.ReplaceAll(string(raw), `"`+from+`"`, `"`+to+`"`)), nil
		}
	}
	_, d := define[ModeChanged](KindSession, rename("target", "aim"), rename("aim", "to"))
	if d.version() != 3 {
		t.Fatalf("two upcasts make version %d", d.version())
	}
	const typ = Type("mode.changed")
	was := definitions()[typ]
	definitions()[typ] = d
	t.Cleanup(func() { definitions()[typ] = was })
	for version, body := range map[int]string{1: `{"target":"work"}`, 2: `{"aim":"work"}`, 3: `{"to":"work"}`} {
		p, err := DecodePayload(typ, version, []byte(body))
		if err != nil || p.(ModeChanged).To != "work" {
			t.Errorf("version %d: %+v, %v", version, p, err)
		}
	}
	if _, err := DecodePayload(typ, 4, []byte(`{}`)); !errors.Is(err, ErrFutureVersion) {
		t.Errorf("version 4: %v", err)
	}
}

func TestSubjectsDecodeBackExactly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		id := string(rapid.SliceOfN(rapid.Byte(), 1, 80).Draw(t, "id"))
		a := Session(id)
		subject := a.Subject("tool.decided")
		if strings.Count(subject, ".") != 4 || strings.ContainsAny(subject, "*> \t\r\n\x00") {
			t.Fatalf("subject %q is not five safe tokens", subject)
		}
		got, typ, err := ParseSubject(subject)
		if err != nil || got != a || typ != "tool.decided" {
			t.Fatalf("%q came back as %v %q, %v", id, got, typ, err)
		}
	})
}

func TestTokensHaveOneSpelling(t *testing.T) {
	for _, bad := range []string{"", "a.b", "=6", "=61", "=2e", "=GG", "a b", "ü", "=="} {
		if id, err := DecodeToken(bad); !errors.Is(err, ErrBadToken) {
			t.Errorf("DecodeToken(%q) = %q, %v", bad, id, err)
		}
	}
}

func TestAttributesReadBackExactly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.String().Draw(t, "s")
		esc := escapeAttribute(s)
		if strings.ContainsAny(esc, "\r\n ") {
			t.Fatalf("%q breaks a header line", esc)
		}
		if got, err := unescapeAttribute(esc); err != nil || got != s {
			t.Fatalf("%q came back as %q, %v", s, got, err)
		}
	})
}

func FuzzDecode(f *testing.F) {
	for _, typ := range Types() {
		m, err := Encode(sampleEvent(typ))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(m.Subject, m.Header.Get(HeaderType), m.Header.Get(HeaderTime), m.Header.Get(HeaderWritVersion), m.Header.Get(HeaderContentType), m.Header.Get(HeaderActor), m.Body)
	}
	f.Add("writ.session.a.mode.changed", "mode.changed", "2026-01-01T00:00:00Z", "1", contentParts, "%4", []byte(`[{}]`))
	f.Fuzz(func(t *testing.T, subject, typ, at, version, content, actor string, body []byte) {
		h := Header{HeaderSpecVersion: {specVersion}, HeaderID: {"id"}}
		if a, _, err := ParseSubject(subject); err == nil {
			h.set(HeaderSubject, escapeAttribute(a.ID))
		}
		h.set(HeaderType, typ)
		h.set(HeaderTime, at)
		h.set(HeaderWritVersion, version)
		h.set(HeaderContentType, content)
		h.set(HeaderActor, actor)
		events, err := Decode(Message{Subject: subject, Header: h, Body: body})
		if (err == nil) != (len(events) > 0) {
			t.Fatalf("%d events and error %v", len(events), err)
		}
		for _, e := range events {
			if e.Data == nil || e.Type().Kind() != e.Aggregate.Kind {
				t.Fatalf("decoded %+v", e)
			}
		}
	})
}
