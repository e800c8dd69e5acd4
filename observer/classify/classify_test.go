package classify

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"runtime"
	"strings"
	"testing"
	"unicode/utf8"
)

var update = flag.Bool("update", false, "train the model and write its card anew")

// cardSeed draws the intervals of the card.
const cardSeed = 1

func labelled(t testing.TB, name string) []Labelled {
	t.Helper()
	f, err := os.Open("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	all, err := ReadLabelled(f)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestModelIsTrainedFromItsData(t *testing.T) {
	if runtime.GOARCH != "amd64" && !*update {
		t.Skip("math.Exp differs in the last bit between processors; the model was trained on amd64")
	}
	m, err := Train(labelled(t, "train.jsonl"), DefaultTraining())
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile("model.bin", m.Encode(), 0o644); err != nil {
			t.Fatal(err)
		}
		embedded = m.Encode()
	}
	if !bytes.Equal(m.Encode(), embedded) {
		t.Error("model.bin is not what the data trains to. Train it anew: go test ./observer/classify -update")
	}
}

func TestModelCard(t *testing.T) {
	var card bytes.Buffer
	if err := Default().WriteCard(&card, DefaultTraining(), labelled(t, "train.jsonl"), labelled(t, "heldout.jsonl"), cardSeed); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile("MODEL_CARD.md", card.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	committed, err := os.ReadFile("MODEL_CARD.md")
	if err != nil || !bytes.Equal(committed, card.Bytes()) {
		t.Errorf("the card does not say what is measured. Write it anew: go test ./observer/classify -update\n%s%v", card.String(), err)
	}
}

// The model has to be worth its place: better than storing everything and than
// chance beyond doubt, and seldom discarding what is worth keeping.
func TestQuality(t *testing.T) {
	heldout := labelled(t, "heldout.jsonl")
	r := Evaluate(heldout, Default().Verdicts(heldout), cardSeed)
	if r.Verdict.F1 < 0.8 || r.OverEverythingCI.Low < 0.25 || r.OverRandomCI.Low < 0.25 || float64(r.Lost) > 0.05*float64(r.Keep) {
		t.Errorf("%+v", r)
	}
	for _, l := range labelled(t, "train.jsonl") {
		for _, h := range heldout {
			if l.Text == h.Text {
				t.Errorf("held out and trained on: %q", l.Text)
			}
		}
	}
}

// The verdicts and reasons of the held-out texts, in one sum.
func TestSameEverywhere(t *testing.T) {
	sum := sha256.New()
	for _, l := range labelled(t, "heldout.jsonl") {
		v := Default().Classify(l.Text)
		fmt.Fprintf(sum, "%s %.2f %s\n", v.Verdict, v.Confidence, v.Reason)
	}
	got := hex.EncodeToString(sum.Sum(nil))
	if *update {
		if err := os.WriteFile("testdata/verdicts.sha256", []byte(got+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile("testdata/verdicts.sha256")
	if err != nil || strings.TrimSpace(string(want)) != got {
		t.Errorf("%s, want %s, %v", got, want, err)
	}
}

func TestVerdicts(t *testing.T) {
	for text, want := range map[string]string{
		"Never push to the release branch, the deploy job depends on its history.": Allow,
		"We decided to keep the old importer because finance still needs it.":      Allow,
		"I'll run the tests now.": Discard,
		"All tests pass.":         Discard,
		"ok":                      Discard,
	} {
		v := Default().Classify(text)
		if v.Verdict != want || v.Confidence < 0.5 || !strings.HasPrefix(v.Reason, "embedded classifier ") || !strings.Contains(v.Reason, ": ") {
			t.Errorf("%q: %+v", text, v)
		}
	}
}

// What is said in passing is allowed for strong evidence only.
func TestExtractIsStricter(t *testing.T) {
	order := map[string]int{Discard: 0, Hold: 1, Allow: 2}
	n := map[string]int{}
	for _, l := range labelled(t, "heldout.jsonl") {
		in, out := Default().Classify(l.Text), Default().Extract(l.Text)
		n[out.Verdict]++
		if order[out.Verdict] > order[in.Verdict] || in.Verdict == Hold && out.Verdict == Hold {
			t.Errorf("%q: %+v, in passing %+v", l.Text, in, out)
		}
	}
	if n[Allow] < 20 || n[Hold] < 5 || n[Discard] < 200 {
		t.Errorf("%v", n)
	}
}

func FuzzClassify(f *testing.F) {
	for _, seed := range []string{"", " ", "a", "never", "\xff\xfe", strings.Repeat("never because ", 400), "０１２ ümlaut '’'", strings.Repeat("é", 500), "? ! :"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		v := Default().Classify(text)
		if v.Verdict != Allow && v.Verdict != Hold && v.Verdict != Discard {
			t.Fatalf("%q: verdict %q", text, v.Verdict)
		}
		if !(v.Confidence >= 0 && v.Confidence <= 1) || !(v.Keep >= 0 && v.Keep <= 1) {
			t.Fatalf("%q: %+v", text, v)
		}
		if v.Reason == "" || utf8.RuneCountInString(v.Reason) > 120 || strings.ContainsAny(v.Reason, "\n\"]") {
			t.Fatalf("%q: reason %q", text, v.Reason)
		}
		if again := Default().Classify(text); again != v {
			t.Fatalf("%q: %+v, then %+v", text, v, again)
		}
	})
}

func FuzzDecode(f *testing.F) {
	f.Add(embedded)
	f.Add([]byte(magic))
	f.Add(append(bytes.Clone(embedded[:len(embedded)-1]), 0))
	f.Fuzz(func(t *testing.T, raw []byte) {
		m, err := Decode(raw)
		if err != nil {
			if !errors.Is(err, ErrModel) {
				t.Fatal(err)
			}
			return
		}
		if !bytes.Equal(m.Encode(), raw) {
			t.Fatal("encoded otherwise")
		}
	})
}

func TestDecodeRefuses(t *testing.T) {
	whole := Default().Encode()
	sealed := func(change func([]byte)) []byte {
		m := bytes.Clone(whole)
		change(m)
		return reseal(m)
	}
	for name, raw := range map[string][]byte{
		"nothing":            nil,
		"cut":                whole[:len(whole)-1],
		"a changed byte":     func() []byte { m := bytes.Clone(whole); m[headerSize] ^= 1; return m }(),
		"a later version":    sealed(func(m []byte) { m[len(magic)] = 2 }),
		"no number":          sealed(func(m []byte) { putFloat(m, 0, math.NaN()) }),
		"crossed thresholds": sealed(func(m []byte) { putFloat(m, 2, -9) }),
	} {
		if _, err := Decode(raw); !errors.Is(err, ErrModel) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestReadLabelled(t *testing.T) {
	all, err := ReadLabelled(strings.NewReader("{\"text\":\"a\",\"keep\":true,\"why\":1}\n\n{\"text\":\"\",\"keep\":false}"))
	if err != nil || len(all) != 2 || !all[0].Keep || all[1].Text != "" {
		t.Errorf("%+v, %v", all, err)
	}
	for name, bad := range map[string]struct{ in, tells string }{
		"nothing":   {"\n \n", "nothing"},
		"no JSON":   {"{\"text\":\"a\",\"keep\":true}\n{", "line 2"},
		"no keep":   {"{\"text\":\"a\"}", "line 1"},
		"no text":   {"{\"keep\":true}", "line 1"},
		"long line": {strings.Repeat("x", maxLine+1), "line 1"},
	} {
		if _, err := ReadLabelled(strings.NewReader(bad.in)); !errors.Is(err, ErrData) || !strings.Contains(err.Error(), bad.tells) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestTrainRefusesOneKind(t *testing.T) {
	if _, err := Train([]Labelled{{"a", true}, {"b", true}, {"c", true}, {"d", true}, {"e", true}, {"f", false}}, DefaultTraining()); !errors.Is(err, ErrData) {
		t.Error(err)
	}
}

func TestEvaluate(t *testing.T) {
	data := []Labelled{{"a", true}, {"b", true}, {"c", false}, {"d", false}, {"e", true}}
	r := Evaluate(data, []string{Allow, Hold, Allow, Discard, Discard}, 7)
	near := func(got, want float64) bool { return math.Abs(got-want) < 1e-9 }
	if r.Allow != 2 || r.Hold != 1 || r.Discard != 2 || r.Lost != 1 || !near(r.Verdict.Precision, 0.5) || !near(r.Verdict.Recall, 1.0/3) ||
		!near(r.Reviewed.Precision, 2.0/3) || !near(r.Reviewed.Recall, 2.0/3) || !near(r.Everything.F1, 0.75) || !near(r.Random.Precision, 0.6) || !near(r.Random.Recall, 0.4) {
		t.Errorf("%+v", r)
	}
	if again := Evaluate(data, []string{Allow, Hold, Allow, Discard, Discard}, 7); again != r {
		t.Error("one seed, two reports")
	}
	if ci := r.Verdict.F1CI; ci.Low > r.Verdict.F1 || ci.High < r.Verdict.F1 {
		t.Errorf("%+v", r.Verdict)
	}
}
