package retrieval

import (
	"math"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/writbus/writ/retrieval/corpus"
	"github.com/writbus/writ/retrieval/embed/minilm"
	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/schemas/language"
)

// wholeCorpus is the shipped corpus under the encoder in the program, built once.
var wholeCorpus = sync.OnceValues(func() (*Index, error) {
	return withEncoder(func(schemas.Rule) bool { return false })
})

// withEncoder is the shipped corpus without some of its rules under the encoder in
// the program, whose vectors come with it.
func withEncoder(without func(schemas.Rule) bool) (*Index, error) {
	e, err := minilm.Default()
	if err != nil {
		return nil, err
	}
	files, _ := corpus.Load(os.DirFS("corpus/rules"))
	var docs []Document
	for _, f := range files {
		if !without(f.Rule) {
			docs = append(docs, Analyse(f.Rule))
		}
	}
	return NewIndex(docs, Options{Embedder: e})
}

func encoderIndex(t *testing.T) *Index {
	t.Helper()
	ix, err := wholeCorpus()
	if err != nil {
		t.Fatal(err)
	}
	return ix
}

// chances are those of the rules that were judged for a text.
func chances(ix *Index, text string) map[string]float64 {
	of := map[string]float64{}
	for _, h := range ix.Search(Query{Text: text, Raw: true, Explain: true, BudgetTokens: -1}).Rules {
		if h.Why.Evidence != nil {
			of[h.ID] = h.Probability
		}
	}
	return of
}

// nearest is the rule that is nearest to a text by meaning.
func nearest(ix *Index, text string) string {
	for _, h := range ix.Search(Query{Text: text, Raw: true, BudgetTokens: -1}).Rules {
		if h.Why.Ranks.Vector == 1 {
			return h.ID
		}
	}
	return ""
}

func TestTenRulesMoreOrLessMoveNoDecision(t *testing.T) {
	all := encoderIndex(t)
	var gone []string
	for i, doc := range all.docs {
		if i%56 == 7 && all.kinds[i].retrievable {
			gone = append(gone, doc.Rule.ID)
		}
	}
	if len(gone) < 9 {
		t.Fatalf("%d rules are taken out", len(gone))
	}
	fewer, err := withEncoder(func(r schemas.Rule) bool { return slices.Contains(gone, r.ID) })
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{
		"add a worker pool that resizes uploaded images", "the list default argument keeps growing between calls",
		"add rate limiting to the login route", "make the button accessible for screen readers", "partition the events table by month",
	} {
		if slices.Contains(gone, nearest(all, text)) {
			continue // the text itself is farther from all rules then
		}
		with, without := chances(all, text), chances(fewer, text)
		if len(without) < 20 {
			t.Fatalf("%q: %d rules are judged", text, len(without))
		}
		for id, p := range without {
			was, judged := with[id]
			if judged && math.Abs(was-p) > 0.03 {
				t.Errorf("%q: %s had a chance of %.3f among all, %.3f without ten others", text, id, was, p)
			}
		}
	}
}

func TestTalkIsGivenNothing(t *testing.T) {
	ix := encoderIndex(t)
	for _, text := range []string{
		"ok", "and now?", "yes, both please", "how do I exit vim", "what does this repo do", "which tests cover the parser",
		"walk me through this file", "explain the code above", "what did the last run say", "rerun the pipeline", "thanks, perfect",
		"prune the grapevine before March", "a recipe for lentil soup for six people", "weiter", "danke, passt",
		"why does sbt compile everything again", "why is poetry so slow, or is it my laptop", "please tell me which service owns the invoices",
		"the editor says that the file is not part of the toolchain", "open the makefile and explain the targets",
		"why does docker desktop eat all my memory", "why is the ci queue so long today",
		"the tests are green on my machine", "hold on, the database password was wrong, my bad", "wow, query went from 3 s to 20 ms",
		"write the commit message for the caching change", "how can I see which index postgres used", "put that into the PR description",
		"no, I meant the orders controller", "yes, but keep the old props", "yes but call it Fetch", "make the font of my vim bigger",
	} {
		if a := ix.Search(Query{Text: text, BudgetTokens: 150}); a.Block != "" || len(a.Rules) > 0 {
			t.Errorf("%q was given\n%s", text, a.Block)
		}
	}
}

// A technology's name is not yet a reason for its rules: where nothing else of a
// text is about one, none is given in full.
func TestANameAloneGivesNoRuleInFull(t *testing.T) {
	ix := encoderIndex(t)
	for text, subject := range map[string]string{
		"rename the loop variable in the kafka producer":               "kafka",
		"put the kafka topic names into one constants class":           "kafka",
		"the elasticsearch mapper class should be called SearchMapper": "elasticsearch",
		"the redis key constant is spelled wrong, fix the spelling":    "redis",
		"the graphql schema belongs into a folder of its own":          "graphql",
	} {
		a := ix.Search(Query{Text: text, Languages: []string{"java", "spring"}, Subjects: []string{subject}, Project: true, BudgetTokens: 150})
		if a.Tier == TierInject {
			t.Errorf("%q was given\n%s", text, a.Block)
		}
	}
	meant := Query{Text: "the kafka consumer commits the offset before the row is written", Languages: []string{"java"}, Subjects: []string{"kafka"}, Project: true, BudgetTokens: 150}
	if a := ix.Search(meant); a.Tier != TierInject || a.Rules[0].ID != "KAFKA-COMMIT-AFTER-001" {
		t.Errorf("%q was given\n%s", meant.Text, a.Block)
	}
}

// Where room is scarce a second rule in full displaces no more than what lines
// leave: it becomes a line.
func TestASecondRuleInFullLeavesRoomForLines(t *testing.T) {
	ix := encoderIndex(t)
	yielded := 0
	for _, text := range []string{
		"add stripe checkout to the cart page", "write the password reset flow with a link by mail", "send the newsletter to all subscribers",
		"let customers upload a picture of their receipt", "roll out the api on kubernetes with three replicas",
	} {
		whole, lines, likely, offered := 0, 0, 0, 0
		for _, h := range ix.Search(Query{Text: text, BudgetTokens: 150}).Rules {
			if h.Probability >= ix.decision.Whole {
				likely++
			}
			switch h.Rendered {
			case RenderedWhole, RenderedShort:
				whole++
			case RenderedTitle:
				lines++
			}
			if h.Tier == TierTitles {
				offered++
			}
		}
		if whole == 0 || whole > 1 && lines < min(offered, linesKept) {
			t.Errorf("%q: %d in full, %d lines of %d", text, whole, lines, offered)
		}
		if likely > whole {
			yielded++
		}
	}
	if yielded == 0 {
		t.Error("no rule became a line")
	}
}

func TestARuleOfAnotherFrameworkIsLessLikely(t *testing.T) {
	ix := encoderIndex(t)
	text := "add pagination to the list of orders"
	plain := chances(ix, text)["DJANGO-PAGE-ORDER-001"]
	var own float64
	for _, h := range ix.Search(Query{Text: text, Languages: []string{"python", "django"}, Raw: true, Explain: true}).Rules {
		if h.ID == "DJANGO-PAGE-ORDER-001" {
			own = h.Probability
		}
	}
	if plain == 0 || own <= plain {
		t.Errorf("in a project that uses it %.3f, where nothing is known %.3f", own, plain)
	}
}

// What a reader has takes its place and is named; of a line it has, nothing is
// said again.
func TestWhatWasGivenIsNotGivenAgain(t *testing.T) {
	ix := encoderIndex(t)
	for _, q := range []Query{
		{Text: "add rate limiting to the login route", BudgetTokens: 600},
		{Text: "add rate limiting to the login route", BudgetTokens: 120}, // some lines find no room at first
	} {
		checkAskedAgain(t, ix, q)
	}
}

// An always-on rule is named long before another one would be given in full, and
// lets others be given beside it.
func TestAnAlwaysOnRuleIsNamedBeforeItIsSure(t *testing.T) {
	ix := encoderIndex(t)
	a := ix.Search(Query{Text: "users.py builds the query with f-strings, clean it up", Languages: []string{"python"}, Project: true, BudgetTokens: 150})
	at := slices.IndexFunc(a.Rules, func(h Hit) bool { return h.ID == "SEC-SQL-PARAM-001" })
	if at < 0 || a.Rules[at].Rendered != RenderedAlready || a.Rules[at].Probability >= ix.decision.Whole {
		t.Fatalf("given:\n%s", a.Block)
	}
	if !slices.ContainsFunc(a.Rules, func(h Hit) bool { return h.Rendered == RenderedTitle && h.Probability < lineAgain }) {
		t.Errorf("no line beside it:\n%s", a.Block)
	}
}

func checkAskedAgain(t *testing.T, ix *Index, q Query) {
	t.Helper()
	first := ix.Search(q)
	for _, h := range first.Rules {
		switch h.Rendered {
		case RenderedTitle:
			q.Named = append(q.Named, h.ID)
		case RenderedWhole, RenderedShort:
			q.Shown = append(q.Shown, h.ID)
		}
	}
	if len(q.Shown) == 0 || len(q.Named) == 0 {
		t.Fatalf("given at first:\n%s", first.Block)
	}
	for _, h := range ix.Search(q).Rules {
		fresh := h.Rendered == RenderedTitle && h.Probability >= lineAgain && !slices.Contains(q.Named, h.ID)
		if h.Rendered != RenderedAlready && h.Rendered != "" && !fresh {
			t.Errorf("%s is given again, %s, with a chance of %.2f", h.ID, h.Rendered, h.Probability)
		}
	}
	if block, want := ix.Search(q).Block, blockStart+"ALREADY GIVEN: "+strings.Join(q.Shown, ", ")+"\n"; !strings.HasPrefix(block, want) {
		t.Errorf("got\n%swant first\n%s", block, want)
	}
}

// TestTechnologiesThatAProjectHasNotAreLeftOut: rules about a technology are
// given where the prompt, the files or the manifests name it.
func TestTechnologiesThatAProjectHasNotAreLeftOut(t *testing.T) {
	ix := encoderIndex(t)
	const text = "page through all hits of the search and export them"
	about := func(q Query) (found bool) {
		for _, h := range ix.Search(q).Rules {
			found = found || language.SubjectOf(h.Rule.Domain, h.Rule.Tags) == "elasticsearch"
		}
		return found
	}
	for name, c := range map[string]struct {
		q    Query
		want bool
	}{
		"in no project":       {Query{Text: text}, true},
		"in one without":      {Query{Text: text, Project: true}, false},
		"in one with another": {Query{Text: text, Project: true, Subjects: []string{"mongodb"}}, false},
		"in one with it":      {Query{Text: text, Project: true, Subjects: []string{"elasticsearch"}}, true},
		"named by the text":   {Query{Text: text + " in OpenSearch", Project: true}, true},
		"asked for by its id": {Query{Text: "ES-PAGE-AFTER-001", Project: true}, true},
	} {
		if got := about(c.q); got != c.want {
			t.Errorf("%s: given is %v, want %v", name, got, c.want)
		}
	}
}

// The less a text reads like a task, the likelier its best rule has to be; where
// no line tells tasks from talk, how it reads says nothing.
func TestTheLeastChanceDependsOnHowMuchATextReadsLikeATask(t *testing.T) {
	d := Decision{Any: 0.1, Even: 0.3, Doubt: 4, Task: []float64{1}}
	for task, want := range map[float64]float64{1: 0.1, 0.4: 0.1, 0: 0.3, -0.5: 0.76, -1.5: 0.994} {
		if got := d.Least(task); math.Abs(got-want) > 0.001 {
			t.Errorf("%v: %v, want %v", task, got, want)
		}
	}
	if got := (&Decision{Any: 0.1, Even: 0.3, Doubt: 4}).Least(-1); got != 0.1 {
		t.Errorf("without a line: %v", got)
	}
}

// A question, an order to look at something and an aside read less like a task
// than the same words as an order to make something.
func TestTheFormOfATextCounts(t *testing.T) {
	d, fitted := decisionFor("all-MiniLM-")
	if !fitted {
		t.Fatal("no decision is fitted")
	}
	v := make([]float32, len(d.Task)-1-formParts)
	made := d.task(formOf("limit the login attempts"), v)
	for _, text := range []string{"do we limit the login attempts", "show the login attempts", "no, the login attempts", "limit the login attempts?"} {
		if got := d.task(formOf(text), v); got >= made {
			t.Errorf("%q: %.2f, and the order %.2f", text, got, made)
		}
	}
}

// A prompt in another language is given what the same prompt in English is.
func TestPromptsInOtherLanguages(t *testing.T) {
	ix := encoderIndex(t)
	for text, want := range map[string]string{
		"die Abfrage der Bestellungen macht für jede Zeile noch eine eigene Abfrage": "SQL-QUERY-LOOP-001",
		"le mot de passe est enregistré en clair dans la base":                       "SEC-PASS-HASH-001",
		"los eventos llegan desordenados y el saldo es incorrecto":                   "KAFKA-KEY-ORDER-001",
		"密码以明文保存在数据库里":                                                               "SEC-PASS-HASH-001",
		"ログにパスワードが出力される":                                                             "SEC-LOG-REDACT-001",
		"谢谢，没有问题了":                                                                   "",
		"ありがとう、次の画面を見せて":                                                             "",
		"was macht dieses Repository und wer hat es geschrieben?":                    "",
		"wie verlasse ich vim?":                                                      "",
		"merci, c'est bon pour moi, on continue":                                     "",
		"qué hora es en Madrid y qué tiempo hace":                                    "",
	} {
		answer := ix.Search(Query{Text: text, Project: true, Subjects: []string{"kafka"}, Domains: ix.Domains(), BudgetTokens: 150})
		given := idsOf(answer.Rules)
		if want == "" && len(given) > 0 || want != "" && !slices.Contains(given, want) {
			t.Errorf("%q: given %v, want %q", text, given, want)
		}
	}
}

// A rule is likelier where the text is near what it is related to, and one
// without relations counts as its own neighbour.
func TestWhatIsRelatedCounts(t *testing.T) {
	of := func(edges ...int32) float64 {
		s := search{scratch: &scratch{places: []int32{1, 2}, pool: []candidate{{doc: 0, cosine: 0.4}, {doc: 1, cosine: 0.6}}}, ix: &Index{}}
		s.ix.graph.near = [][]int32{edges, nil}
		return s.related(0)
	}
	alone, near, both := of(), of(1), of(0, 1)
	if alone <= 0 || near <= alone || both <= near {
		t.Errorf("alone %.2f, with a nearer neighbour %.2f, with two %.2f", alone, near, both)
	}
	d, _ := decisionFor("all-MiniLM-")
	if d.weights[evRelated] <= 0 {
		t.Errorf("what is related weighs %v", d.weights[evRelated])
	}
}

// TestTalkBeforeAnOrderDoesNotHideIt: what answers what was said before reads like talk,
// whatever follows it.
func TestTalkBeforeAnOrderDoesNotHideIt(t *testing.T) {
	ix := encoderIndex(t)
	for text, want := range map[string]string{
		"thanks! next: helm chart for the worker":               "HELM-SELECTOR-FIXED-001",
		"great, and now a circuit of retries for the mail call": "HTTP-RETRY-IDEMPOTENT-001",
		"ok cool, could you put the sessions into redis":        "EXPRESS-SESSION-STORE-001",
	} {
		a := ix.Search(Query{Text: text, Languages: []string{"express", "kubernetes"}, Subjects: []string{"helm", "redis"}, Project: true, BudgetTokens: 150})
		if !slices.ContainsFunc(a.Rules, func(h Hit) bool { return h.ID == want }) {
			t.Errorf("%q was given\n%s", text, a.Block)
		}
	}
}

func TestOrder(t *testing.T) {
	for text, want := range map[string]string{
		"yes, and also log the request id":     "log the request id",
		"Good. Then Redis in front of it":      "Redis in front of it",
		"what about an index on the email":     "an index on the email",
		"hm, could you maybe shrink the image": "shrink the image",
		"why not a queue for that":             "a queue for that",
	} {
		if got := Order(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	for _, text := range []string{
		"ok", "and now?", "wow, query went from 3 s to 20 ms", "ok so the cache was stale after all", "fine, but call it RetryPolicy",
		"can you explain the handler", "great, now what is left", "next.js upgrade of the shop", "android permission prompt", "no, the other one", "",
	} {
		if got := Order(text); got != text {
			t.Errorf("%q: %q", text, got)
		}
	}
}
