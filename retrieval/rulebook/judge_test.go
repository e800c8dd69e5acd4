package rulebook

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/writbus/writ/retrieval"
	"github.com/writbus/writ/schemas"
)

func judgedIndex(t *testing.T) *retrieval.Index {
	t.Helper()
	var docs []retrieval.Document
	for _, r := range []schemas.Rule{
		{ID: "A-LOCK-ORDER", Title: "Take locks in one order", Trigger: "Two locks are held at once.", Statement: "Take locks in one global order.", Symptoms: []string{"the program hangs under load"}},
		{ID: "A-RETRY-SAFE", Title: "Retry what may be repeated", Trigger: "A request is repeated.", Statement: "Repeat only what is idempotent.", Symptoms: []string{"customers were charged twice"}},
	} {
		docs = append(docs, retrieval.Analyse(r))
	}
	ix, err := retrieval.NewIndex(docs, retrieval.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return ix
}

func TestModelIsAskedOncePerPrompt(t *testing.T) {
	ix := judgedIndex(t)
	synctest.Test(t, func(t *testing.T) {
		var calls atomic.Int32
		j := newJudge(func(_ context.Context, system, question string) (string, error) {
			calls.Add(1)
			if system != retrieval.JudgeSystem || !strings.Contains(question, "charged twice") || !strings.Contains(question, "1. ") {
				t.Errorf("asked %q", question)
			}
			return "full: 1\nline:", nil
		})
		q := retrieval.Query{Text: "customers were charged twice", Session: "s", Project: true}
		for range 3 {
			got := j.judged(t.Context(), ix, q)
			if len(got.Judged) != 1 || got.Judged["A-RETRY-SAFE"] != retrieval.TierInject || len(got.Also) > 0 {
				t.Fatalf("judged %v, also %v", got.Judged, got.Also)
			}
		}
		if calls.Load() != 1 {
			t.Errorf("%d calls", calls.Load())
		}
		q.Text = "tell me a story about zebras"
		if got := j.judged(t.Context(), ix, q); got.Judged != nil || calls.Load() != 1 {
			t.Errorf("talk: %v after %d calls", got.Judged, calls.Load())
		}
	})
}

// A prompt does not wait for a slow model; what it chose comes with the next one.
func TestSlowModelServesTheNextPrompt(t *testing.T) {
	ix := judgedIndex(t)
	synctest.Test(t, func(t *testing.T) {
		j := newJudge(func(context.Context, string, string) (string, error) {
			time.Sleep(10 * time.Second)
			return "full: 1", nil
		})
		began := time.Now()
		q := retrieval.Query{Text: "customers were charged twice", Session: "s", Project: true}
		if got := j.judged(t.Context(), ix, q); got.Judged != nil || time.Since(began) != judgePatience {
			t.Errorf("%v after %v", got.Judged, time.Since(began))
		}
		if again := time.Now(); j.judged(t.Context(), ix, q).Judged != nil || time.Since(again) != 0 {
			t.Errorf("the same prompt again waits for %v more", time.Since(again))
		}
		next := retrieval.Query{Text: "zebras", Session: "s", Project: true}
		if got := j.judged(t.Context(), ix, next); len(got.Also) > 0 {
			t.Errorf("not answered yet: %v", got.Also)
		}
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if got := j.judged(t.Context(), ix, retrieval.Query{Text: "zebras", Session: "other", Project: true}); len(got.Also) > 0 {
			t.Errorf("another session's: %v", got.Also)
		}
		for range 2 { // a decision is made again where another came between
			if got := j.judged(t.Context(), ix, next); !slices.Equal(got.Also, []string{"A-RETRY-SAFE"}) {
				t.Errorf("with the next prompt: %v", got.Also)
			}
		}
		next.Text = "more zebras"
		if got := j.judged(t.Context(), ix, next); len(got.Also) > 0 {
			t.Errorf("with the one after it: %v", got.Also)
		}
		if got := j.judged(t.Context(), ix, q); got.Judged["A-RETRY-SAFE"] != retrieval.TierInject {
			t.Errorf("the same prompt again: %v", got.Judged)
		}
	})
}

// A model that fails, or says what cannot be understood, takes nothing away and is
// asked again.
func TestFailingModelTakesNothingAway(t *testing.T) {
	ix := judgedIndex(t)
	synctest.Test(t, func(t *testing.T) { // a machine under load is no slow model
		answers := []string{"", "I am sorry.", "full: 1"}
		var calls int
		j := newJudge(func(context.Context, string, string) (string, error) {
			calls++
			if answers[calls-1] == "" {
				return "", errors.New("no route to the model")
			}
			return answers[calls-1], nil
		})
		q := retrieval.Query{Text: "customers were charged twice", Session: "s", Project: true}
		for at, want := range []int{0, 0, 1} {
			if got := j.judged(t.Context(), ix, q); len(got.Judged) != want || calls != at+1 {
				t.Errorf("answer %q: %v after %d calls", answers[at], got.Judged, calls)
			}
		}
	})
}

// Of two prompts that both went without a choice, each is paid with the next one.
func TestEachSlowChoiceComesWithTheNextPrompt(t *testing.T) {
	ix := judgedIndex(t)
	synctest.Test(t, func(t *testing.T) {
		j := newJudge(func(context.Context, string, string) (string, error) {
			time.Sleep(time.Second)
			return "full: 1", nil
		})
		for _, c := range []struct {
			text string
			also []string
		}{
			{"customers were charged twice", nil}, {"the program hangs under load", []string{"A-RETRY-SAFE"}}, {"zebras", []string{"A-LOCK-ORDER"}}, {"other zebras", nil},
		} {
			if got := j.judged(t.Context(), ix, retrieval.Query{Text: c.text, Session: "s", Project: true}); !slices.Equal(got.Also, c.also) || got.Judged != nil {
				t.Errorf("%q: also %v, judged %v; want %v", c.text, got.Also, got.Judged, c.also)
			}
			time.Sleep(2 * time.Second)
		}
		if len(j.owed) > 0 {
			t.Errorf("still owed: %v", j.owed)
		}
	})
}

func TestChoicesKeptAreBounded(t *testing.T) {
	ix := judgedIndex(t)
	j := newJudge(func(context.Context, string, string) (string, error) { return "full: 1", nil })
	for i := range judgedKept + 10 {
		j.judged(t.Context(), ix, retrieval.Query{Text: "customers were charged twice" + strings.Repeat(" again", i), Session: "s", Project: true})
	}
	if len(j.choose) > judgedKept || len(j.oldest) != len(j.choose) {
		t.Errorf("%d choices, %d in order", len(j.choose), len(j.oldest))
	}
}
