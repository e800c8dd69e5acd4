package finder

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/writbus/writ/retrieval"
	"github.com/writbus/writ/retrieval/artifact/strategy"
	"github.com/writbus/writ/retrieval/files"
	"github.com/writbus/writ/schemas"
)

var shop = map[string]string{
	"docs/payments.md":      "---\ntags: [security]\n---\n# Payments\n\nHow money moves.\n\n## Retries\n\nA payment is asked for again after a timeout, at most three times.\n\n## Refunds\n\nMoney goes back.\n",
	"payment/retry.go":      "// Package payment asks the bank.\npackage payment\n\n// RetryPayment asks again after a timeout.\nfunc RetryPayment() error {\n\treturn nil\n}\n",
	"payment/retry_test.go": "package payment\n\nimport \"testing\"\n\nfunc TestRetryPayment(t *testing.T) { RetryPayment() }\n",
	"payment/long.txt":      "retry " + strings.Repeat("payment timeout ", 400) + "\nend\n",
	"cart/cart.go":          "package cart\n\n// Add puts an item into the cart.\nfunc Add() {}\n",
}

// project is a folder with files, indexed, and its finder.
func project(t *testing.T, texts map[string]string) (*Finder, string) {
	t.Helper()
	root := t.TempDir()
	for name, text := range texts {
		write(t, root, name, text)
	}
	p, err := files.Open(files.Options{
		Root: root, Now: time.Now, Workers: 1, Record: func(context.Context, []schemas.Payload) error { return nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	f := New(p, time.Now)
	if _, err := f.Search(schemas.ArtifactSearchRequest{Query: "x"}, strategy.BuiltIn()); !errors.Is(err, ErrNoIndex) {
		t.Errorf("before the first build: %v", err)
	}
	if _, err := p.Update(t.Context(), files.Update{Globs: &[]string{"**", ".aiwg/**"}}); err != nil {
		t.Fatal(err)
	}
	return f, root
}

func write(t *testing.T, root, name, text string) {
	t.Helper()
	path := filepath.Join(root, filepath.FromSlash(name))
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
		t.Fatal(err)
	}
}

func ask(t *testing.T, f *Finder, r schemas.ArtifactSearchRequest) schemas.ArtifactSearchReply {
	t.Helper()
	reply, err := f.Search(r, strategy.BuiltIn())
	if err != nil {
		t.Fatal(err)
	}
	return reply
}

func paths(found []schemas.ArtifactFound) (all []string) {
	for _, a := range found {
		all = append(all, a.Path)
	}
	return all
}

func TestSearchGivesTheTextOfItsLines(t *testing.T) {
	f, root := project(t, shop)
	reply := ask(t, f, schemas.ArtifactSearchRequest{Query: "retry a payment after a timeout"})
	if len(reply.Artifacts) == 0 || reply.Artifacts[0].Path != "payment/retry.go" {
		t.Fatalf("found %v", paths(reply.Artifacts))
	}
	for _, a := range reply.Artifacts {
		raw, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(a.Path)))
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.SplitAfter(string(raw), "\n")
		if want := strings.Join(lines[a.Lines[0]-1:a.Lines[1]], ""); a.Path != "payment/long.txt" && a.Content != want {
			t.Errorf("%s:%v is %q, not %q", a.Path, a.Lines, a.Content, want)
		}
		if a.Path == "payment/long.txt" && a.Lines == [2]int{1, 1} && len(a.Content) >= len(lines[0]) {
			t.Errorf("of a long line the whole is given, not its chunk")
		}
	}
	if reply.Index.Stale || len(reply.References) == 0 || reply.Method != "two-stage" || reply.Confidence.Overall != reply.Artifacts[0].Score {
		t.Errorf("reply: %+v", reply)
	}
}

func TestAnAnswerFromChangedFilesIsStale(t *testing.T) {
	f, root := project(t, shop)
	write(t, root, "payment/retry.go", strings.Replace(shop["payment/retry.go"], "again", "twice", 1))
	if reply := ask(t, f, schemas.ArtifactSearchRequest{Query: "retry payment"}); !reply.Index.Stale || reply.Index.Changed != 1 {
		t.Errorf("a changed file: %+v", reply.Index)
	}
	if err := os.Remove(filepath.Join(root, "payment", "retry.go")); err != nil {
		t.Fatal(err)
	}
	if reply := ask(t, f, schemas.ArtifactSearchRequest{Query: "retry payment"}); !reply.Index.Stale || slices.Contains(paths(reply.Artifacts), "payment/retry.go") {
		t.Errorf("a file that is gone: %v, %+v", paths(reply.Artifacts), reply.Index)
	}
}

func TestWhatARequestNamesWinsOverTheStrategy(t *testing.T) {
	f, _ := project(t, shop)
	zero := 0.0
	base := schemas.ArtifactSearchRequest{Query: "retry payment", Agent: "Security-Auditor", MinScore: &zero}
	if reply := ask(t, f, base); !slices.Contains(paths(reply.Artifacts), "payment/retry.go") || reply.AgentType != "security_auditor" {
		t.Errorf("code without tags passes: %v", paths(reply.Artifacts))
	}
	base.Tags = []string{"security"}
	if reply := ask(t, f, base); len(reply.Artifacts) != 0 {
		t.Errorf("no code is tagged, and tags were asked for: %v", paths(reply.Artifacts))
	}
	base.Tags = nil
	base.Types = []string{"Documentation"}
	if reply := ask(t, f, base); !slices.Equal(paths(reply.Artifacts)[:1], []string{"docs/payments.md"}) {
		t.Errorf("the tagged document: %v", paths(reply.Artifacts))
	}
	base.Agent, base.Types, base.Stage2TopK = "default", nil, 1
	if reply := ask(t, f, base); len(reply.Artifacts) != 1 {
		t.Errorf("the flag is 1: %v", paths(reply.Artifacts))
	}
	for want, r := range map[string]schemas.ArtifactSearchRequest{
		"needs a text":                       {Query: " "},
		"unknown method \"magic\": use bm25": {Query: "x", Method: "magic"},
		"there is no type \"poem\"":          {Query: "x", Types: []string{"poem"}},
		"not a path pattern":                 {Query: "x", Path: "a/["},
		"has no vectors":                     {Query: "x", Method: "semantic"},
		"stage2_topk are 1 to":               {Query: "x", Stage2TopK: -1},
	} {
		if _, err := f.Search(r, strategy.BuiltIn()); !errors.Is(err, ErrRequest) || !strings.Contains(err.Error(), want) {
			t.Errorf("want %s, got %v", want, err)
		}
	}
}

// Where a strategy's types hold nothing that answers, files of others are given; a
// request that narrows by itself is left as it is.
func TestAStrategyGivesWhatAnswersWhereItsTypesDoNot(t *testing.T) {
	f, _ := project(t, shop)
	r := schemas.ArtifactSearchRequest{Query: "retry a payment after a timeout", Agent: "api-designer"}
	if reply := ask(t, f, r); !reply.AllTypes || !slices.Contains(paths(reply.Artifacts), "payment/retry.go") {
		t.Errorf("no requirement and no architecture is there: %v, all types %t", paths(reply.Artifacts), reply.AllTypes)
	}
	r.Types = []string{"architecture"}
	if reply := ask(t, f, r); reply.AllTypes || len(reply.Artifacts) != 0 {
		t.Errorf("architecture was asked for: %v, all types %t", paths(reply.Artifacts), reply.AllTypes)
	}
}

func TestContextBeginsWithWhatTheTaskMentions(t *testing.T) {
	f, _ := project(t, shop)
	zero := 0.0
	request := schemas.ArtifactContextRequest{ArtifactSearchRequest: schemas.ArtifactSearchRequest{
		Query: "add to the cart, see @docs/payments.md#refunds and @payment/retry.go:5, not @docs/gone.md", MinScore: &zero,
	}}
	reply, err := f.Context(request, strategy.BuiltIn(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := paths(reply.Artifacts); len(got) < 3 || got[0] != "docs/payments.md" || got[1] != "payment/retry.go" || !slices.Contains(got, "cart/cart.go") {
		t.Errorf("order: %v", got)
	}
	if first := reply.Artifacts[0].Content; !strings.Contains(first, "Money goes back") || strings.Contains(first, "three times") {
		t.Errorf("not the section alone: %q", first)
	}
	if len(reply.Unresolved) != 1 || reply.Unresolved[0].Mention != "@docs/gone.md" {
		t.Errorf("unresolved: %+v", reply.Unresolved)
	}
	if n := retrieval.CountTokens(reply.Context); n != reply.Tokens || !strings.Contains(reply.Context, "mentioned in the task") {
		t.Errorf("%d tokens, said to be %d:\n%s", n, reply.Tokens, reply.Context)
	}
	request.MaxContextTokens = 120
	tight, err := f.Context(request, strategy.BuiltIn(), nil)
	if err != nil || tight.Tokens > 120 || tight.Dropped == 0 || len(tight.Artifacts) >= len(reply.Artifacts) {
		t.Errorf("%v: %d tokens, %d dropped", err, tight.Tokens, tight.Dropped)
	}
	request.MaxContextTokens = 0
	fresh, err := f.Context(request, strategy.BuiltIn(), func(h schemas.ArtifactHit) bool { return h.Path != "cart/cart.go" && h.SHA256 != "" })
	if err != nil || !slices.Equal(paths(fresh.Artifacts), []string{"cart/cart.go"}) {
		t.Errorf("%v: what was shown is left out: %v", err, paths(fresh.Artifacts))
	}
	request.Format = "xml"
	if _, err := f.Context(request, strategy.BuiltIn(), nil); !errors.Is(err, ErrRequest) {
		t.Errorf("an unknown format: %v", err)
	}
}

// login is a project as one would be found in practice: each kind of file about
// authentication, and others.
var login = map[string]string{
	".aiwg/requirements/UC-001-user-authentication.md": "# UC-001: User authentication\n\nA user signs in with e-mail and password. After five failures the account is locked.\n\n## Acceptance\n\nA session ends after 30 minutes.\n",
	".aiwg/requirements/UC-002-checkout.md":            "# UC-002: Checkout\n\nA customer pays for what is in the cart.\n",
	".aiwg/requirements/UC-003-invoices.md":            "# UC-003: Invoices\n\nA user downloads invoices of earlier orders.\n",
	".aiwg/architecture/authentication.md":             "---\ntags: [security, authentication]\n---\n# Authentication service\n\nTokens are signed and carry the user's id. The gateway verifies them.\n",
	".aiwg/architecture/payments.md":                   "---\ntags: [billing]\n---\n# Payments\n\nThe bank is asked through a queue.\n",
	"docs/signing-in.md":                               "# Signing in\n\nHow user authentication works for clients: ask for a token, send it with each request.\n",
	"docs/deploying.md":                                "# Deploying\n\nImages are built by the pipeline.\n",
	"src/auth/authenticate.ts":                         "// Checks who a user is.\nexport function authenticateUser(email: string, password: string): Token {\n  return sign(findUser(email), verify(password));\n}\n",
	"src/cart/cart.ts":                                 "export class Cart {\n  add(item: Item) { this.items.push(item); }\n}\n",
	"src/orders/invoice.ts":                            "export function renderInvoice(order: Order) { return template(order); }\n",
	"test/auth/authenticate.test.ts":                   "import { authenticateUser } from '../../src/auth/authenticate';\n\ntest('user authentication locks after five failures', () => {\n  expect(() => authenticateUser('a', 'b')).toThrow();\n});\n",
	"test/cart/cart.test.ts":                           "import { Cart } from '../../src/cart/cart';\n\ntest('adds', () => { new Cart().add(1); });\n",
}

func TestEachStrategyFindsItsFiles(t *testing.T) {
	const (
		requirement, architecture = ".aiwg/requirements/UC-001-user-authentication.md", ".aiwg/architecture/authentication.md"
		code, test, documentation = "src/auth/authenticate.ts", "test/auth/authenticate.test.ts", "docs/signing-in.md"
	)
	f, _ := project(t, login)
	for agent, want := range map[string][]string{
		"test-engineer":    {requirement, architecture, code},
		"security-auditor": {architecture, code},
		"api-designer":     {requirement, architecture},
		"integrator":       {architecture, test, documentation},
		"default":          {requirement, architecture, code, test},
	} {
		reply, err := f.Context(schemas.ArtifactContextRequest{
			ArtifactSearchRequest: schemas.ArtifactSearchRequest{Query: "user authentication", Agent: agent}, MaxContextTokens: 1500,
		}, strategy.BuiltIn(), nil)
		if err != nil {
			t.Fatal(err)
		}
		got := paths(reply.Artifacts)
		for _, path := range want {
			if !slices.Contains(got, path) {
				t.Errorf("%s: %s is missing among %v", agent, path, got)
			}
		}
		for _, path := range got {
			if !strings.Contains(login[path], "uthentica") {
				t.Errorf("%s: %s says nothing of it", agent, path)
			}
		}
		if nothing := ask(t, f, schemas.ArtifactSearchRequest{Query: "kubernetes ingress annotations", Agent: agent}); len(nothing.Artifacts) != 0 {
			t.Errorf("%s: nothing answers, and %v are given", agent, paths(nothing.Artifacts))
		}
	}
}

// What a session was shown is not said to be missing.
func TestWhatWasShownIsKnown(t *testing.T) {
	f, _ := project(t, login)
	reply, err := f.Context(schemas.ArtifactContextRequest{ArtifactSearchRequest: schemas.ArtifactSearchRequest{Query: "user authentication", Agent: "default"}},
		strategy.BuiltIn(), func(schemas.ArtifactHit) bool { return true })
	if err != nil || len(reply.Artifacts) != 0 || reply.Known == 0 {
		t.Errorf("%v, %d known, %v", err, reply.Known, paths(reply.Artifacts))
	}
}

func TestValidText(t *testing.T) {
	if got := validText([]byte("a\xff\xfeb")); got != "a\uFFFD\uFFFDb" {
		t.Errorf("%q", got)
	}
}

// TestAPieceIsNoOlderThanItsFile: after a file changed, as when a branch is
// switched, each piece has the lines, the heading and the text that its file has
// now, or is left out.
func TestAPieceIsNoOlderThanItsFile(t *testing.T) {
	filler := strings.Repeat("Much is said of other matters here, line by line.\n", 30)
	before := "# Payments\n\n" + filler + "\n## Retries\n\nA payment is asked for again after a timeout, at most three times.\n" + filler + "\n## Refunds\n\nMoney that is paid back.\n" + filler
	after := "# Payments\n\n" + filler + "\n## History\n\nOnce there were stamps.\n" + filler + "\n## Retries\n\nA payment is asked for again after a timeout, at most nine times.\n" + filler
	request := schemas.ArtifactSearchRequest{Query: "payment asked again after a timeout; refunds, money paid back"}
	for name, refresh := range map[string]bool{"cut anew": false, "indexed anew": true} {
		f, root := project(t, map[string]string{"docs/payments.md": before})
		if refresh {
			f.Refresh = func(paths []string) bool {
				_, err := f.project.Update(t.Context(), files.Update{Paths: paths, Some: true})
				return err == nil
			}
		}
		if got := ask(t, f, request); len(got.Artifacts) < 2 {
			t.Fatalf("%+v", got.Artifacts)
		}
		write(t, root, "docs/payments.md", after)
		reply, lines, retries := ask(t, f, request), strings.SplitAfter(after, "\n"), false
		for _, a := range reply.Artifacts {
			if want := strings.Join(lines[a.Lines[0]-1:a.Lines[1]], ""); a.Content != want {
				t.Errorf("%s: lines %v are %q, the file has %q", name, a.Lines, a.Content, want)
			}
			if part := a.Metadata.Heading[strings.LastIndex(a.Metadata.Heading, "> ")+1:]; !strings.Contains(a.Content, part) {
				t.Errorf("%s: %q is the heading of %q", name, a.Metadata.Heading, a.Content)
			}
			retries = retries || strings.Contains(a.Content, "nine times")
		}
		if !retries {
			t.Errorf("%s: what the file says now is not among %+v", name, reply.Artifacts)
		}
		if reply.Index.Stale == refresh {
			t.Errorf("%s: %+v", name, reply.Index)
		}
	}
}
