package observation

import (
	"strings"
	"testing"
)

// good is what an annotation says where a test states nothing else.
func good(text, verdict string) Gated {
	return Gated{Text: text, Verdict: verdict, Reason: "classified", Confidence: 0.65}
}

func failed(text, reason string) Gated {
	return Gated{Text: text, Verdict: "allow", Reason: reason, Confidence: 0.35, Fallback: true}
}

func missing(text string) Gated { return failed(text, "missing_annotation") }
func broken(text string) Gated  { return failed(text, "malformed_annotation") }

type gateCase struct {
	input string
	want  Gated
}

func check(t *testing.T, cases []gateCase) {
	t.Helper()
	for _, c := range cases {
		if got := Gate([]byte(c.input)); got != c.want {
			t.Errorf("%q:\ngot  %+v\nwant %+v", c.input, got, c.want)
		}
	}
}

// same asserts that inputs, which are no annotation, keep every character.
func same(t *testing.T, as func(string) Gated, inputs ...string) {
	t.Helper()
	for _, input := range inputs {
		check(t, []gateCase{{input, as(input)}})
	}
}

func TestMarkers(t *testing.T) {
	for _, markers := range []string{
		"", "-", "*", "•", "- ", "*\t", "•  ", "🔴", "🟡", "🟢", "🔴\uFE0F", "🟢\uFE0F ", "- 🔴", "-🔴", "*\t🟡\uFE0F\t", " \t\r\n• 🟢 ",
	} {
		check(t, []gateCase{{markers + "[gate=hold] x", good("x", "hold")}})
	}
	same(t, missing,
		"- - [gate=hold] x", "-* [gate=hold] x", "-- [gate=hold] x",
		"🔴🔴 [gate=hold] x", "🔴 🟢 [gate=hold] x", "🔴\uFE0F\uFE0F [gate=hold] x", "\uFE0F[gate=hold] x",
		"🔴 - [gate=hold] x", "🟡• [gate=hold] x", "-\uFE0F [gate=hold] x",
		"+ [gate=hold] x", "– [gate=hold] x", "◦ [gate=hold] x", "· [gate=hold] x", "1. [gate=hold] x", "# [gate=hold] x",
		"🟠 [gate=hold] x", "🔵 [gate=hold] x", "⚪ [gate=hold] x", "❗ [gate=hold] x",
		"x [gate=hold] y", "\\[gate=hold] x", "`[gate=hold] x`",
		"-\n[gate=hold] x", "🔴\n[gate=hold] x", "-\r\n🔴 [gate=hold] x",
	)
}

func TestKeysAndVerdicts(t *testing.T) {
	check(t, []gateCase{
		{"[gate=allow] x", good("x", "allow")},
		{"[gate=discard] x", good("x", "discard")},
		{"[GATE=HOLD] x", good("x", "hold")},
		{"[VeRdIcT='DisCard'] x", good("x", "discard")},
		{"[reason=r conf=.5 category=C gate=hold] x", Gated{"x", "hold", "r", 0.65, false, "C"}},
		{"[category=jc:operations reason=r confidence=0.5 verdict=hold] x", Gated{"x", "hold", "r", 0.5, false, "jc:operations"}},
		{"[Category='Two Words' gate=allow] x", Gated{"x", "allow", "classified", 0.65, false, "Two Words"}},
		// Unknown keys beside a verdict, wherever they stand.
		{"[k=v gate=hold] x", good("x", "hold")},
		{"[gate=hold gate2=allow note='gate=allow'] x", good("x", "hold")},
		{"[ключ=значение gate=hold] x", good("x", "hold")},
		{"[gates=allow gate=hold gat=allow] x", good("x", "hold")},
		// No letter but A to Z folds.
		{"[gate=diſcard] x", failed("x", "unknown_verdict")},
		{"[gate=dİscard] x", failed("x", "unknown_verdict")},
		{"[gate=HOLD verdİct=allow] x", good("x", "hold")},
	})
}

func TestDuplicates(t *testing.T) {
	check(t, []gateCase{
		{"[gate=allow gate=hold] x", good("x", "hold")},
		{"[gate=hold verdict=allow] x", good("x", "allow")},
		{"[verdict=hold gate=discard VERDICT=allow] x", good("x", "allow")},
		{"[gate=nothing gate=hold] x", good("x", "hold")},
		{"[gate=hold verdict=nothing] x", failed("x", "unknown_verdict")},
		{"[gate=hold conf=0.1 confidence=0.2] x", Gated{"x", "hold", "classified", 0.2, false, ""}},
		{"[gate=hold confidence=0.2 conf=0.1] x", Gated{"x", "hold", "classified", 0.1, false, ""}},
		{"[gate=hold reason=first reason=''] x", good("x", "hold")},
		{"[gate=hold category=a Category=b] x", Gated{"x", "hold", "classified", 0.65, false, "b"}},
	})
}

func TestQuotes(t *testing.T) {
	reason := func(r string) Gated { return Gated{"x", "hold", r, 0.65, false, ""} }
	check(t, []gateCase{
		{`[gate="hold"] x`, good("x", "hold")},
		{`[gate='hold'] x`, good("x", "hold")},
		{`[gate=hold reason="a, b = c] d [e"] x`, reason("a, b = c] d [e")},
		{`[gate=hold reason='a, b = c] d [e'] x`, reason("a, b = c] d [e")},
		{`[gate=hold reason="it's"] x`, reason("it's")},
		{`[gate=hold reason='say "so"'] x`, reason(`say "so"`)},
		{"[gate=hold reason=\"a\tb\"] x", reason("a\tb")},
		// A quote inside a bare value is a character.
		{`[gate=hold reason=it's] x`, reason("it's")},
		{`[gate=hold reason=5"] x`, reason(`5"`)},
		// No escapes: the backslash is a character, the quote closes.
		{`[gate=hold reason="a\"] x`, reason(`a\`)},
		{`[gate=hold reason="a\\"] x`, reason(`a\\`)},
		{`[gate=hold reason=a\nb] x`, reason(`a\nb`)},
		// The verdict is the whole value.
		{"[gate=hold; reason=r] x", failed("x", "unknown_verdict")},
		{`[gate=" hold "] x`, failed("x", "unknown_verdict")},
		{`[gate=""] x`, failed("x", "unknown_verdict")},
	})
	same(t, broken,
		`[gate=hold reason="a\"b"] x`, `[gate=hold reason="a"b] x`, `[gate="hold"confidence=0.5] x`, `[gate="hold"reason] x`,
		`[gate="hold x`, `[gate='hold] x`, `[gate=hold reason="a'] x`, `[gate=hold reason='tis] x`, `[gate=hold reason="a x`,
	)
	same(t, missing, `[k="v"gate=hold] x`, `[k="gate=hold] x`, `["gate"="hold"] x`, `["gate=hold"] x`)
}

func TestSeparators(t *testing.T) {
	all := Gated{"x", "hold", "r", 0.5, false, ""}
	for _, input := range []string{
		"[gate=hold conf=0.5 reason=r] x",
		"[gate=hold,conf=0.5,reason=r] x",
		"[gate=hold , conf=0.5 ,reason=r] x",
		"[gate=hold,,conf=0.5,, ,reason=r,,] x",
		"[ gate=hold conf=0.5 reason=r ] x",
		"[\tgate=hold\tconf=0.5\treason=r\t] x",
		"[,gate=hold conf=0.5 reason=r] x",
		"[gate = hold conf =0.5 reason= r] x",
		"[gate\t=\thold conf \t = \t 0.5 reason  =  'r'] x",
		"[gate=hold conf=0.5 reason=r]x",
		"[gate=hold conf=0.5 reason=r] \t\r\n x \n",
	} {
		check(t, []gateCase{{input, all}})
	}
	check(t, []gateCase{{"[gate=hold reason=a[0] x", Gated{"x", "hold", "a[0", 0.65, false, ""}}})
	same(t, broken,
		"[gate=hold conf=] x", "[gate=hold reason=,conf=0.5] x", "[gate=,hold] x", "[gate=] x", "[gate=", "[gate= ] x", "[gate==hold] x",
		"[gate=hold reason=a=b] x", "[gate=hold reason= conf=0.5] x", "[gate=hold =r] x", "[gate=hold urgent] x",
		"[gate=hold conf=85 %] x", "[gate=hold\u00A0conf=0.5] x", "[gate=hold reason=two words] x",
		"[gate=hold", "[gate=hold,", "[gate=hold reason", "[gate=hold conf=0.5) x", "[gate=hold} x",
	)
}

func TestNewlinesInside(t *testing.T) {
	same(t, broken,
		"[gate=hold\n] x", "[\ngate=hold] x", "[gate=hold\nconf=0.5] x", "[gate=hold\r\nconf=0.5] x", "[gate=hold\rconf=0.5] x",
		"[gate\n=hold] x", "[gate=\nhold] x", "[gate=hold reason='a\nb'] x", "[gate=hold reason=\"a\r\nb\"] x", "[gate=hold k='\n'] x",
		"[gate=hold,\nreason=r] x", "[gate=what\n] x",
	)
	same(t, missing, "[k=v\n] x", "[k\n=v] x", "[\n] x")
}

func TestMultiLine(t *testing.T) {
	check(t, []gateCase{
		{"[gate=hold]\nsecond", good("second", "hold")},
		{"\n\n- [gate=hold] first\n[gate=allow] second\n\n- third\n", good("first\n[gate=allow] second\n\n- third", "hold")},
		{"[gate=hold] first\r\n\r\n  - indented\t", good("first\r\n\r\n  - indented", "hold")},
	})
	same(t, missing, "- a\n- [gate=hold] b", "🔴 a\n🟡 b", "a\n\n\nb", "a\r\nb", "| a | b |\n|---|---|\n| 1 | 2 |", "-\n-")
}

func TestConfidence(t *testing.T) {
	for stated, want := range map[string]float64{
		"0": 0, "1": 1, "0.5": 0.5, "00.50": 0.5, "007": 1, "1.0": 1, "0.350": 0.35,
		"2": 1, "1.0001": 1, "-0": 0, "-0.0": 0, "-0.2": 0, "-7": 0,
		"0%": 0, "85%": 0.85, "100%": 1, "250%": 1, "-10%": 0, "12.5%": 0.125, "0.5%": 0.005,
		strings.Repeat("9", 400): 1, strings.Repeat("9", 400) + "%": 1, "-" + strings.Repeat("9", 400): 0, "0." + strings.Repeat("0", 400) + "1": 0,
		// No numbers.
		".5": 0.65, "5.": 0.65, "+0.5": 0.65, "--1": 0.65, "-": 0.65, "%": 0.65, "-%": 0.65, "1e-1": 0.65, "0x1": 0.65, "1_0": 0.65, "1.2.3": 0.65,
		"85%%": 0.65, "%85": 0.65, "Inf": 0.65, "-Inf": 0.65, "NaN": 0.65, "high": 0.65, "½": 0.65, "٠": 0.65, "０": 0.65,
	} {
		check(t, []gateCase{
			{"[gate=hold conf=" + stated + "] x", Gated{"x", "hold", "classified", want, false, ""}},
			{"[gate=hold confidence='" + stated + "'] x", Gated{"x", "hold", "classified", want, false, ""}},
		})
	}
	for _, stated := range []string{"", " 0.8", "0.8 ", "85 %", "0,8", "0.8\t"} {
		check(t, []gateCase{{"[gate=hold conf='" + stated + "'] x", good("x", "hold")}})
	}
	if c := Gate([]byte("[gate=hold conf=-0.0] x")).Confidence; 1/c < 0 {
		t.Error("confidence is a negative zero")
	}
}

func TestReasons(t *testing.T) {
	long := func(n int) string { return strings.Repeat("é", n) }
	for stated, want := range map[string]string{
		"":                         "classified",
		" \t ":                     "classified",
		"  padded  ":               "padded",
		"\u00A0wide\u2003":         "wide",
		"classified":               "classified",
		long(119):                  long(119),
		long(120):                  long(120),
		long(121):                  long(120),
		"  " + long(121) + "  ":    long(120),
		long(119) + " " + long(3):  long(119) + " ",
		long(119) + "\u0301" + "a": long(119) + "\u0301",
		long(119) + "👩\u200D🔧":     long(119) + "👩",
		"a\xFFb":                   "a\uFFFDb",
		"a\xFF\xFEb":               "a\uFFFD\uFFFDb",
		long(119) + "\xF0\x9F\x94": long(119) + "\uFFFD",
		"unterminated [ bracket ]": "unterminated [ bracket ]",
	} {
		check(t, []gateCase{{"[gate=hold reason=\"" + stated + "\"] x", Gated{"x", "hold", want, 0.65, false, ""}}})
	}
}
