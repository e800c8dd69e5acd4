package schedule

import (
	"errors"
	"strings"
	"testing"
	"time"
	_ "time/tzdata"

	"pgregory.net/rapid"

	"github.com/writbus/writ/test/conformance"
)

type conformanceCase struct {
	ID     string    `json:"id"`
	Now    time.Time `json:"now"`
	Line   string    `json:"line"`
	Expect struct {
		Kind    string    `json:"kind"`
		Next    time.Time `json:"next"`
		Message string    `json:"message"`
		Error   bool      `json:"error"`
	} `json:"expect"`
}

// kinds are the words of the cases.
var kinds = map[Kind]string{Once: "once", Recurring: "recurring"}

func TestConformanceSchedule(t *testing.T) {
	conformance.Run(t, "schedule", func(t *testing.T, c conformanceCase) {
		p, err := Parse(c.Line, c.Now, nil)
		if c.Expect.Error {
			if !errors.Is(err, ErrPhrase) {
				t.Errorf("accepted as %+v (%v)", p, err)
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if kinds[p.Kind] != c.Expect.Kind || !p.First().Equal(c.Expect.Next) || p.Message != c.Expect.Message {
			t.Errorf("%s at %s: %q, expected %+v", kinds[p.Kind], p.First(), p.Message, c.Expect)
		}
	})
}

func moments(t testing.TB, s string) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339, s)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

func zoneOf(t testing.TB, name string) *time.Location {
	t.Helper()
	zone, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return zone
}

func TestAccepted(t *testing.T) {
	for _, c := range []struct{ now, zone, line, first string }{
		{"2026-03-04T10:00:00Z", "UTC", "IN  1\tMinute:\tx", "2026-03-04T10:01:00Z"},
		{"2026-03-04T10:00:00Z", "UTC", "at 10:00: x", "2026-03-05T10:00:00Z"},
		{"2026-03-04T10:00:00Z", "UTC", "at 9:30: x", "2026-03-05T09:30:00Z"},
		{"2026-03-04T10:00:00Z", "UTC", "daily at 10:00: x", "2026-03-05T10:00:00Z"},
		{"2026-03-04T10:00:00Z", "UTC", "every Wed at 10:00: x", "2026-03-11T10:00:00Z"},
		{"2026-03-04T10:00:00Z", "UTC", "weekly on fri: x", "2026-03-06T09:00:00Z"},
		{"2026-03-04T10:00:00Z", "UTC", "every 1 hour: x", "2026-03-04T11:00:00Z"},
		{"2026-03-04T10:00:00Z", "UTC", "in 520 weeks: x", "2036-02-20T10:00:00Z"},
		{"2026-03-04T10:00:00Z", "Europe/Berlin", "at 11:30: x", "2026-03-04T10:30:00Z"},
		{"2026-03-04T23:30:00Z", "Europe/Berlin", "tomorrow: x", "2026-03-06T08:00:00Z"},
		{"2026-03-28T12:00:00Z", "Europe/Berlin", "tomorrow at 02:30: x", "2026-03-29T01:30:00Z"}, // skipped: shown as 03:30
		{"2026-03-28T12:00:00Z", "Europe/Berlin", "tomorrow at 03:30: x", "2026-03-29T01:30:00Z"},
		{"2026-10-24T12:00:00Z", "Europe/Berlin", "tomorrow at 02:30: x", "2026-10-25T00:30:00Z"}, // twice: the first
		{"2026-10-24T12:00:00Z", "Europe/Berlin", "tomorrow at 12:00: x", "2026-10-25T11:00:00Z"},
		{"2026-03-28T12:00:00Z", "Europe/Berlin", "in 1 day: x", "2026-03-29T12:00:00Z"},
		{"2026-12-29T12:00:00Z", "Pacific/Apia", "daily: x", "2026-12-29T20:00:00Z"},
	} {
		p, err := Parse(c.line, moments(t, c.now), zoneOf(t, c.zone))
		if err != nil {
			t.Errorf("%q: %v", c.line, err)
		} else if !p.First().Equal(moments(t, c.first)) {
			t.Errorf("%q in %s: %s, expected %s", c.line, c.zone, p.First(), c.first)
		}
	}
}

func TestRefusals(t *testing.T) {
	now := moments(t, "2026-03-04T10:00:00Z")
	for line, reason := range map[string]string{
		"on 2026-6-1: x": "no date", "on 2026-03-04: x": "is past", "on 2026-03-04 at 10:00: x": "is past", "on 2025-01-01: x": "is past",
		"in 3654 days: x": "longer than 10 years", "every 90000 hours: x": "longer than 10 years", "every 2 days: x": "whole number and a unit",
		"every minute: x": "whole number and a unit", "every: x": "every what", "in +5 minutes: x": "whole number", "at 24:00: x": "there is no 24:00",
		"at 9:3: x": "no time of day", "at 009:30: x": "no time of day", "at noon: x": "no time of day", "hourly at 10:00: x": "not understood",
		"weekly on: x": "no day", "weekly on moon: x": "no day", "in 5 minutes : \t": "no message", "in 5 minutes": "no message", "tomorrow at: x": "no time of day",
		"daily 10:00: x": "not understood", "in 5 minutess: x": "whole number", "every mondays: x": "whole number", "every 0 hours: x": "interval of nothing",
		"in 00 weeks: x": "interval of nothing", "at ٠٩:30: x": "no time of day",
	} {
		_, err := Parse(line, now, nil)
		if !errors.Is(err, ErrPhrase) || !strings.Contains(err.Error(), reason) {
			t.Errorf("%q: error %v does not say %q", line, err, reason)
		}
	}
}

func TestMissedFiresAreJoined(t *testing.T) {
	given := moments(t, "2026-03-04T10:00:00Z")
	for _, c := range []struct {
		line, last, now, at string
		missed              int
	}{
		{"every 15 minutes: x", "2026-03-04T10:00:00Z", "2026-03-04T10:14:59Z", "", 0},
		{"every 15 minutes: x", "2026-03-04T10:00:00Z", "2026-03-04T10:15:00Z", "2026-03-04T10:15:00Z", 0},
		{"every 15 minutes: x", "2026-03-04T10:15:00Z", "2026-03-04T11:20:00Z", "2026-03-04T11:15:00Z", 3},
		{"daily: x", "2026-03-05T09:00:00Z", "2026-03-10T12:00:00Z", "2026-03-10T09:00:00Z", 4},
		{"daily: x", "2026-03-10T09:00:00Z", "2026-03-10T12:00:00Z", "", 0},
		{"in 5 minutes: x", "0001-01-01T00:00:00Z", "2027-01-01T00:00:00Z", "2026-03-04T10:05:00Z", 0},
		{"in 5 minutes: x", "2026-03-04T10:05:00Z", "2027-01-01T00:00:00Z", "", 0},
	} {
		p, err := Parse(c.line, given, nil)
		if err != nil {
			t.Fatal(err)
		}
		fire, ok := p.Due(moments(t, c.last), moments(t, c.now))
		if ok != (c.at != "") || ok && (!fire.At.Equal(moments(t, c.at)) || fire.Missed != c.missed) {
			t.Errorf("%q after %s at %s: %+v %v", c.line, c.last, c.now, fire, ok)
		}
	}
}

func TestZeroPlanNeverFires(t *testing.T) {
	if _, ok := (Plan{}).Due(time.Time{}, moments(t, "2026-03-04T10:00:00Z")); ok {
		t.Error("it fires")
	}
}

var phrases = []string{
	"every 7 minutes: x", "every 5 hours: x", "hourly: x", "daily: x", "daily at 02:30: x", "weekly: x", "every sun at 2:30: x",
	"in 3 days: x", "tomorrow: x", "at 02:10: x",
}

func drawn(t *rapid.T) Plan {
	zones := []string{"UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu"}
	zone, err := time.LoadLocation(rapid.SampledFrom(zones).Draw(t, "zone"))
	if err != nil {
		t.Fatal(err)
	}
	given := time.Unix(rapid.Int64Range(1.7e9, 1.9e9).Draw(t, "given"), 0)
	p, err := Parse(rapid.SampledFrom(phrases).Draw(t, "line"), given, zone)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestNextIncreases(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawn(t)
		at := p.given
		for range 20 {
			next, ok := p.Next(at)
			if !ok {
				if p.Kind != Once {
					t.Fatalf("a recurring plan ends after %s", at)
				}
				return
			}
			if !next.After(at) || p.Kind == Recurring && p.form != interval && next.Sub(at) > 8*24*time.Hour {
				t.Fatalf("%s follows %s", next, at)
			}
			at = next
		}
	})
}

// TestEachFireOnce looks at a plan at random moments, as a daemon that is
// stopped and started does, and compares with all of its moments.
func TestEachFireOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawn(t)
		now, last := p.given, time.Time{}
		counted := 0
		for range 10 {
			now = now.Add(time.Duration(rapid.Int64Range(0, int64(80*time.Hour)).Draw(t, "wait")))
			if fire, ok := p.Due(last, now); ok {
				if !fire.At.After(last) || fire.At.After(now) {
					t.Fatalf("fire %s after %s at %s", fire.At, last, now)
				}
				last = fire.At
				counted += 1 + fire.Missed
			}
		}
		want := 0
		for at, ok := p.Next(p.given); ok && !at.After(now); at, ok = p.Next(at) {
			want++
		}
		if counted != want {
			t.Fatalf("%d moments were fired or missed, there were %d", counted, want)
		}
	})
}

func FuzzParse(f *testing.F) {
	for _, c := range conformance.Cases[conformanceCase](f, "schedule") {
		f.Add(c.Line, c.Now.Unix())
	}
	f.Fuzz(func(t *testing.T, line string, unix int64) {
		const year9000 = 221845392000
		if unix < 0 || unix > year9000 {
			return
		}
		now := time.Unix(unix, 0)
		p, err := Parse(line, now, nil)
		if err != nil {
			if !errors.Is(err, ErrPhrase) {
				t.Fatal(err)
			}
			return
		}
		if p.Message == "" || !p.First().After(now) {
			t.Fatalf("%q at %s: %q at %s", line, now, p.Message, p.First())
		}
		if fire, ok := p.Due(time.Time{}, p.First()); !ok || !fire.At.Equal(p.First()) || fire.Missed != 0 {
			t.Fatalf("the first fire is %+v, %v", fire, ok)
		}
	})
}

func TestZones(t *testing.T) {
	for name, want := range map[string]bool{"UTC": true, "Europe/Berlin": true, "+02:00": true, "-03:30": true, "Local": false, "": false, "Mars/Base": false} {
		if _, err := LoadZone(name); (err == nil) != want {
			t.Errorf("%q: %v", name, err)
		}
	}
}
