package observation

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/writbus/writ/schemas"
)

// shreds are pieces of the grammar, whole, broken and foreign, so that random
// inputs come near annotations.
var shreds = []string{
	"[", "]", "=", ",", " ", "\t", "\n", "\r\n", `"`, "'", "\\", "%", "-", "*", "•", "🔴", "🟡", "🟢", "\uFE0F", "\u00A0",
	"gate", "verdict", "confidence", "conf", "category", "reason", "GATE", "allow", "hold", "discard", "Hold", "keep", "k", "0.8", "85%", "-1",
	"[gate=hold", "[gate=discard]", "reason=\"", "x", "text", "\xFF", "\xF0\x9F", "\x00",
}

func inputs() *rapid.Generator[[]byte] {
	return rapid.OneOf(
		rapid.SliceOf(rapid.Byte()),
		rapid.Map(rapid.String(), func(s string) []byte { return []byte(s) }),
		rapid.Map(rapid.SliceOfN(rapid.SampledFrom(shreds), 0, 30), func(s []string) []byte { return []byte(strings.Join(s, "")) }),
	)
}

// invariants are what holds of any input.
func invariants(input []byte) error {
	before := bytes.Clone(input)
	r := Record("id", "source", "session", input)
	if !bytes.Equal(r.Original, before) || !bytes.Equal(input, before) {
		return fmt.Errorf("the original is %q", r.Original)
	}
	if again := Record("id", "source", "session", input); !reflect.DeepEqual(r, again) {
		return fmt.Errorf("two readings differ: %+v, %+v", r, again)
	}
	if err := checkVerdict(r, input); err != nil {
		return err
	}
	return survivesJSON(r)
}

func checkVerdict(r schemas.ObservationRecorded, input []byte) error {
	trimmed := strings.TrimSpace(strings.ToValidUTF8(string(input), "\uFFFD"))
	// ToValidUTF8 replaces a run of bytes by one character.
	squeezed := func(s string) string { return strings.ReplaceAll(s, "\uFFFD", "") }
	whole := squeezed(r.Text) == squeezed(trimmed)
	switch {
	case math.IsNaN(r.Confidence) || r.Confidence < 0 || r.Confidence > 1:
		return fmt.Errorf("confidence %v", r.Confidence)
	case utf8.RuneCountInString(r.Reason) > 120 || r.Reason == "":
		return fmt.Errorf("reason %q", r.Reason)
	case r.Text != strings.TrimSpace(r.Text) || !strings.HasSuffix(squeezed(trimmed), squeezed(r.Text)):
		return fmt.Errorf("text %q", r.Text)
	}
	if !r.Fallback {
		if r.Verdict != Allow && r.Verdict != Hold && r.Verdict != Discard {
			return fmt.Errorf("verdict %q", r.Verdict)
		}
		if !strings.Contains(strings.ToLower(trimmed), r.Verdict) || !strings.Contains(trimmed, "[") || r.Text == "" {
			return fmt.Errorf("the verdict %q is invented", r.Verdict)
		}
		return nil
	}
	if r.Verdict != Allow || r.Confidence != 0.35 {
		return fmt.Errorf("a fallback to %q at %v", r.Verdict, r.Confidence)
	}
	switch r.Reason {
	case MissingAnnotation, MalformedAnnotation:
		if !whole || r.Text == "" || r.Category != "" {
			return fmt.Errorf("%s left %q", r.Reason, r.Text)
		}
	case EmptyObservation:
		if strings.Trim(r.Text, "-*•🔴🟡🟢\uFE0F \t") != "" {
			return fmt.Errorf("%q is not empty", r.Text)
		}
	case UnknownVerdict:
	default:
		return fmt.Errorf("a fallback because of %q", r.Reason)
	}
	return nil
}

func survivesJSON(r schemas.ObservationRecorded) error {
	body, err := json.Marshal(r)
	if err != nil {
		return err
	}
	var got schemas.ObservationRecorded
	if err := json.Unmarshal(body, &got); err != nil {
		return err
	}
	if !reflect.DeepEqual(got, r) {
		return fmt.Errorf("stored %+v, read %+v", r, got)
	}
	return nil
}

func TestNothingIsLost(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		if err := invariants(inputs().Draw(t, "input")); err != nil {
			t.Fatal(err)
		}
	})
}

// A hold or discard comes from an annotation only: hiding what every
// annotation needs leaves allows.
func TestVerdictsAreStated(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		input := inputs().Draw(t, "input")
		hide := rapid.SampledFrom([]string{"[", "]", "="}).Draw(t, "hide")
		g := Gate(bytes.ReplaceAll(input, []byte(hide), []byte("_")))
		if g.Verdict != Allow || !g.Fallback {
			t.Fatalf("without %q: %+v", hide, g)
		}
	})
}

// A well-formed annotation, written in any of the allowed ways, is read as
// stated, whatever text follows it.
func TestStatedVerdictStands(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := drawText(t)
		verdict := rapid.SampledFrom([]string{Allow, Hold, Discard}).Draw(t, "verdict")
		want := Gated{Text: text, Verdict: verdict, Reason: "classified", Confidence: 0.65}
		pairs := []string{drawPair(t, []string{"gate", "verdict"}, verdict, true)}
		if rapid.Bool().Draw(t, "with a confidence") {
			tenths := rapid.IntRange(0, 10).Draw(t, "tenths")
			want.Confidence = float64(tenths) / 10
			pairs = append(pairs, drawPair(t, []string{"confidence", "conf"}, fmt.Sprintf("%d%%", 10*tenths), false))
		}
		if rapid.Bool().Draw(t, "with a reason") {
			want.Reason = rapid.SampledFrom([]string{"short", "two words", "a=b, c]", "gate=allow", "allow"}).Draw(t, "reason")
			pairs = append(pairs, drawPair(t, []string{"reason"}, want.Reason, false))
		}
		if rapid.Bool().Draw(t, "with a category") {
			want.Category = rapid.SampledFrom([]string{"jc:operations", "Two Words"}).Draw(t, "category")
			pairs = append(pairs, drawPair(t, []string{"category"}, want.Category, false))
		}
		if rapid.Bool().Draw(t, "with a foreign pair") {
			pairs = append(pairs, drawPair(t, []string{"note", "gated"}, "allow", true))
		}
		pairs = rapid.Permutation(pairs).Draw(t, "order")
		if rapid.Bool().Draw(t, "with a duplicate before") {
			pairs = append([]string{drawPair(t, []string{"gate", "verdict"}, "allow", true)}, pairs...)
		}
		blank := rapid.SampledFrom([]string{"", " ", "\t"})
		separator := rapid.SampledFrom([]string{" ", ",", ", ", "\t", ",,", " , "}).Draw(t, "separator")
		input := rapid.SampledFrom([]string{"", " ", "\n"}).Draw(t, "before") +
			rapid.SampledFrom([]string{"", "-", "*", "•"}).Draw(t, "bullet") + blank.Draw(t, "blank") +
			rapid.SampledFrom([]string{"", "🔴", "🟡", "🟢\uFE0F"}).Draw(t, "mark") + blank.Draw(t, "blank") +
			"[" + blank.Draw(t, "blank") + strings.Join(pairs, separator) + blank.Draw(t, "blank") + "]" + blank.Draw(t, "blank") + text
		if got := Gate([]byte(input)); got != want {
			t.Fatalf("%q:\ngot  %+v\nwant %+v", input, got, want)
		}
	})
}

// drawText draws a text that is not empty and has no white space around it.
func drawText(t *rapid.T) string {
	text := strings.TrimSpace(validUTF8(string(inputs().Draw(t, "text"))))
	if text == "" {
		return "x"
	}
	return text
}

// drawPair spells key=value in a random allowed way; folds says that the value
// ignores case.
func drawPair(t *rapid.T, names []string, value string, folds bool) string {
	key := rapid.SampledFrom(names).Draw(t, "key")
	if rapid.Bool().Draw(t, "in capitals") {
		key = strings.ToUpper(key)
	}
	if folds && rapid.Bool().Draw(t, "value in capitals") {
		value = strings.ToUpper(value)
	}
	quotes := []string{`"`, "'"}
	if !strings.ContainsAny(value, " ,=]") {
		quotes = append(quotes, "")
	}
	quote := rapid.SampledFrom(quotes).Draw(t, "quote")
	sign := rapid.SampledFrom([]string{"=", " =", "= ", "\t=  "}).Draw(t, "sign")
	return key + sign + quote + value + quote
}

func FuzzGate(f *testing.F) {
	for _, seed := range []string{
		"", " ", "- 🔴\uFE0F [gate=hold confidence=0.8 category=jc:operations reason=\"short words\"] text",
		"[VERDICT='Discard',,conf=85%] x\r\ny", "[gate=hold\nconf=1] x", "[gate=hold reason=\"a] x", "[k=v] x", "[gate=hold]", "[gate=\xFF] \xF0\x9F",
		"[gate=hold reason='" + strings.Repeat("é", 130) + "'] x", "[gate==a] x", "• -", "[TODO] x", "[conf=-0.0 gate=allow] x",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, input []byte) {
		if err := invariants(input); err != nil {
			t.Fatal(err)
		}
	})
}
