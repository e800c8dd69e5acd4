package retrieval

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math/rand"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/writbus/writ/retrieval/embed/static"
	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/test/integration"
)

// shuffleVariable makes the test binary print the hash of its answers, given
// the corpus in an order of that seed.
const shuffleVariable = "WRIT_TEST_SHUFFLE"

func TestMain(m *testing.M) {
	if seed := os.Getenv(shuffleVariable); seed != "" {
		n, err := strconv.ParseInt(seed, 10, 64)
		if err == nil {
			err = printAnswers(n)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// printAnswers builds an index with and one without vectors, half the documents
// by way of their stored form, and hashes the bytes of every answer.
func printAnswers(seed int64) error {
	e, err := static.Default()
	if err != nil {
		return err
	}
	r := rand.New(rand.NewSource(seed))
	rules := append(randomRules(rand.New(rand.NewSource(5)), 30, 0.6), corpusRules()...)
	r.Shuffle(len(rules), func(i, j int) { rules[i], rules[j] = rules[j], rules[i] })
	sum := sha256.New()
	for _, embedder := range []Embedder{e, nil} {
		docs, err := shuffledDocuments(r, rules, embedder)
		if err != nil {
			return err
		}
		ix, err := NewIndex(docs, Options{Embedder: embedder, BuiltAt: "then"})
		if err != nil {
			return err
		}
		for _, text := range []string{
			"the request hangs", "errors GO-LOG-001 wrapped", "a quote breaks the search", "retry timeout mutex", "thanks", "state leaks between two calls",
		} {
			for _, profile := range []string{"", ProfileReference, ProfileStatic} {
				answer, err := json.Marshal(ix.Search(Query{Text: text, Profile: profile, Explain: true, BudgetTokens: 9000, Previous: []string{"SQL-INJ-001"}}))
				if err != nil {
					return err
				}
				sum.Write(answer)
			}
		}
	}
	fmt.Printf("%x", sum.Sum(nil))
	return nil
}

func shuffledDocuments(r *rand.Rand, rules []schemas.Rule, e Embedder) ([]Document, error) {
	docs, err := AnalyseAll(rules, e)
	if err != nil {
		return nil, err
	}
	for i := range docs {
		if r.Intn(2) == 0 {
			continue
		}
		stored, err := docs[i].MarshalBinary()
		if err != nil {
			return nil, err
		}
		if docs[i], err = UnmarshalDocument(stored); err != nil {
			return nil, err
		}
	}
	return docs, nil
}

func TestProcessesAnswerAlike(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	n := integration.Rounds(4, 16) // the simulations run a hundred
	if given := os.Getenv("WRIT_PROCESSES"); given != "" {
		if n, err = strconv.Atoi(given); err != nil || n < 2 {
			t.Fatalf("WRIT_PROCESSES is %q, must be a number above 1", given)
		}
	}
	var want string
	for seed := range n {
		cmd := exec.Command(self)
		cmd.Env = append(os.Environ(), shuffleVariable+"="+strconv.Itoa(seed), "GOMAXPROCS="+strconv.Itoa(1+seed%4))
		cmd.Stderr = os.Stderr
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.TrimSpace(string(out)); want == "" {
			want = got
		} else if got != want || len(got) != 64 {
			t.Fatalf("process %d answers %q, the first %q", seed, got, want)
		}
	}
}
