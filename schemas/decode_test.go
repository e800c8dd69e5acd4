package schemas

import (
	"encoding/json"
	"reflect"
	"testing"
)

// FuzzPayload: of every type, the library reads what encoding/json reads, which
// wrote the bodies that logs hold, and refuses what it refuses.
func FuzzPayload(f *testing.F) {
	for _, odd := range []string{
		`{"tool":null}`, `{"TOOL":"a"}`, `{"tool":"a","tool":"b"}`, `{"tool":"\ud800"}`, "{\"tool\":\"\xff\"}", `{"bytes":01}`, `{"bytes":1.5}`,
		`{"confidence":1e999}`, `{"original":"A"}`, `{"original":"A\nA=="}`, `{"tool":"a",}`, `{"tool":"a"}}`, `{"t\u006fol":"a"}`, ` {} `, `[]`, `null`, ``,
		`{"targets":[{"path":"a"}],"targets":[{}]}`, `{"nobody":{"knows":[1]}}`,
	} {
		f.Add([]byte(odd))
	}
	for _, typ := range Types() {
		body, err := json.Marshal(sampleEvent(typ).Data)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		for typ, d := range definitions() {
			want := reflect.New(d.goType)
			wantErr := json.Unmarshal(body, want.Interface())
			got, err := d.decode(body)
			if (err == nil) != (wantErr == nil) {
				t.Fatalf("%s %q: %v, encoding/json says %v", typ, body, err, wantErr)
			}
			if err == nil && !reflect.DeepEqual(want.Elem().Interface(), got) {
				t.Fatalf("%s %q: read %+v, encoding/json reads %+v", typ, body, got, want.Elem())
			}
		}
	})
}

// FuzzUnparsedHeader: an unparsed header decodes like the parsed one.
func FuzzUnparsedHeader(f *testing.F) {
	m, err := Encode(sampleEvent("mode.changed"))
	if err != nil {
		f.Fatal(err)
	}
	block := "NATS/1.0\r\n"
	for name, values := range m.Header {
		block += name + ": " + values[0] + "\r\n"
	}
	f.Add([]byte(block + "Nats-Expected-Last-Sequence: 3\r\n\r\n"))
	f.Add([]byte(block + "ce-id: other\r\n: no name\r\nodd:\t \r\n\r\n"))
	f.Add([]byte("NATS/1.0\r\nce-id"))
	f.Fuzz(func(t *testing.T, block []byte) {
		raw := m
		raw.Header, raw.Block = nil, block
		parsed := raw.Unfolded()
		if parsed.Block != nil {
			t.Fatal("still unparsed")
		}
		for name := range parsed.Header {
			if a, b := raw.Attribute(name), parsed.Attribute(name); a != b {
				t.Fatalf("%q is %q unparsed and %q parsed, in %q", name, a, b, block)
			}
		}
		want, wantErr := Decode(parsed)
		got, gotErr := Decode(raw)
		if (wantErr == nil) != (gotErr == nil) || !reflect.DeepEqual(want, got) {
			t.Fatalf("unparsed: %+v, %v; parsed: %+v, %v", got, gotErr, want, wantErr)
		}
	})
}

func BenchmarkDecodeObservation(b *testing.B) {
	e := sampleEvent("observation.recorded")
	m, err := Encode(e)
	if err != nil {
		b.Fatal(err)
	}
	raw := m
	raw.Block = []byte("NATS/1.0\r\n")
	for name, values := range m.Header {
		raw.Block = append(raw.Block, name+": "+values[0]+"\r\n"...)
	}
	for name, m := range map[string]Message{"parsed": m, "unparsed": raw} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			var events []Event
			for b.Loop() {
				if events, err = AppendDecoded(events[:0], m); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
