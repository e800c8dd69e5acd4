package history

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/mod/sumdb/note"

	"github.com/writbus/writ/cmd/writ/cli/client"
	"github.com/writbus/writ/projections/audit/attest"
	"github.com/writbus/writ/projections/audit/evidence"
	"github.com/writbus/writ/projections/audit/gitcommit"
	"github.com/writbus/writ/retrieval/rulerelease"
	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/schemas/atomicfile"
)

// attests are the commands about statements on commits.
type attests struct{ *app }

func (a attests) command() *cobra.Command {
	var out string
	var beside bool
	c := &cobra.Command{
		Use: "attest [COMMIT|A..B]", Short: "State what the log knows of a commit's files, signed",
		Long: `Says of each file that COMMIT changed (default: HEAD), or that B changed since it
left A, whether it is as an allowed write left it, under which approvals, and
whether the tests passed afterwards. Files are known by the digest of their content,
so that the statement goes on to hold after a squash, a rebase or an amended commit.

The statement is in-toto's in a DSSE envelope, signed with the key of the audit. It
names sessions, paths in the repository, approvals and places in the log; no prompt
and no code. --note keeps it beside the commit, in refs/notes/writ, which is pushed
by itself: git push origin refs/notes/writ.
Trailers of writ git install are resolved, too.`,
		Example: `  writ audit attest
  writ audit attest --note && git push origin refs/notes/writ
  writ audit attest origin/main..HEAD --out evidence.json`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.attest(cmd.Context(), client.First(args), out, beside)
		},
	}
	c.Flags().StringVar(&out, "out", "", "`file` to write the statement to, - for standard output")
	c.Flags().BoolVar(&beside, "note", false, "keep the statement in git notes, beside the commit")
	c.AddCommand(a.verifyCommand())
	return c
}

func (a attests) attest(ctx context.Context, revision, out string, beside bool) error {
	const what = "attest"
	r := gitcommit.Repository{Dir: a.Env.Dir, Env: a.Env.Vars}
	d, err := r.Difference(ctx, revision)
	if err != nil {
		return client.Refused(what, err.Error(), "Name a commit or a range of this repository.")
	}
	s, envelope, err := a.stated(ctx, what, d)
	if err != nil {
		return err
	}
	if beside {
		if err := r.Keep(ctx, d.Commit, string(envelope)+"\n"); err != nil {
			return client.Refused(what, err.Error(), "")
		}
	}
	switch {
	case out == "-":
		a.Printf("%s\n", envelope)
		return nil
	case out != "":
		if err := atomicfile.Write(a.Env.Absolute(out), append(envelope, '\n'), 0o644); err != nil {
			return client.Refused(what, err.Error(), "")
		}
	}
	if a.JSON {
		return a.PrintJSON(s)
	}
	a.showFindings(attest.Judge(d.Changes, []attest.Statement{s}, attest.Policy{}))
	all, err := r.Trailers(ctx, d, strings.Contains(revision, ".."), s)
	if err != nil {
		return client.Refused(what, err.Error(), "")
	}
	for _, one := range all {
		if one.Wrote > 0 {
			a.Printf("%s: %s wrote %s of these as committed\n", gitcommit.TrailerSession, client.Printable(one.Session), client.Plural(one.Wrote, "file", "files"))
		} else {
			a.Printf("%s: %s wrote none of these files as committed, as far as this log knows\n", gitcommit.TrailerSession, client.Printable(one.Session))
		}
	}
	switch {
	case beside:
		a.Printf("kept beside %.12s; to share it: git push origin refs/notes/%s\n", d.Commit, gitcommit.NotesRef)
	case out != "":
		a.Printf("written to %s\n", out)
	default:
		a.Printf("not kept: --note keeps it beside the commit, --out in a file\n")
	}
	return nil
}

// attestFlags say what a difference is held against.
type attestFlags struct {
	evidence, keys, except []string
	persons, released      []string
	assurance              string
	release, root          string
	recorded, tests, two   bool
}

func (a attests) verifyCommand() *cobra.Command {
	var f attestFlags
	c := &cobra.Command{
		Use: "verify [COMMIT|A..B]", Short: "Refuse a commit that holds a change nobody approved",
		Long: `Asks git what was changed, and holds every file against the statements in
refs/notes/writ and in --evidence that one of the given keys signed. A file is in
order when a statement has it, at this path and with this content, as an allowed
write left it, under an approved plan and, for code, approved tests; a file of a
merge, when it is as in a parent. Exit code 1 says that a file is not.

It needs neither the log nor the daemon. Without --key the key of this installation
counts; a forge is given keys, a file of them or several.

People write files, too: --except takes patterns of files of which nothing is asked.
--recorded takes files that were written outside of work mode, which nobody approved.
--person asks that each approval bears the signature of one of these persons, and
names them: writ approve key. --release does so by what a signed release says.`,
		Example: `  writ audit attest verify origin/main..HEAD --key team.keys
  writ audit attest verify --evidence evidence.json --key key.pub --assurance terminal
  writ audit attest verify HEAD --key key.pub --except 'docs/**' --tests`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.verify(cmd.Context(), client.First(args), f)
		},
	}
	flags := c.Flags()
	flags.StringArrayVar(&f.evidence, "evidence", nil, "`file` with statements, one a line; may be repeated")
	flags.StringArrayVar(&f.keys, "key", nil, "public `key`, or a file with one a line; may be repeated")
	flags.StringArrayVar(&f.except, "except", nil, "`pattern` of files of which nothing is asked, such as docs/**; may be repeated")
	flags.StringArrayVar(&f.persons, "person", nil, "public `key` of who may approve (writ approve key), or a file with one a line; may be repeated")
	flags.BoolVar(&f.two, "two-person", false, "ask for the signatures of two of the persons under each approval")
	flags.StringArrayVar(&f.released, "policy", nil, "released `policy`, such as acme/deps, under which agents may write unapproved; may be repeated")
	flags.StringVar(&f.release, "release", "", "`place` of the newest release, whose persons may approve, whose policies count, and what it revoked does not")
	flags.StringVar(&f.root, "root", "", "public `key` that the release is signed with, or its SHA-256")
	flags.StringVar(&f.assurance, "assurance", "", "least assurance of an approval: "+strings.Join(schemas.Assurances(), ", "))
	flags.BoolVar(&f.recorded, "recorded", false, "take files that were written outside of work mode")
	flags.BoolVar(&f.tests, "tests", false, "ask that tests passed after a file was written")
	return c
}

// attestVerified is the outcome for a commit or a range.
type attestVerified struct {
	OK         bool             `json:"ok"`
	Commit     string           `json:"commit"`
	Base       []string         `json:"base"`
	Statements int              `json:"statements"` // under a given key
	Foreign    int              `json:"foreign"`    // under no given key, or altered
	Release    string           `json:"release,omitempty"`
	Files      []attest.Finding `json:"files"`
}

func (a attests) verify(ctx context.Context, revision string, f attestFlags) error {
	const what = "attest verify"
	policy, err := f.policy()
	if err != nil {
		return err
	}
	if len(f.persons) > 0 {
		if policy.Persons, err = a.keys(what, f.persons); err != nil {
			return err
		}
	}
	v := attestVerified{}
	if f.release != "" {
		if v.Release, err = (rulerelease.Desk{Dir: a.Env.Dir}).Judge(ctx, f.release, f.root, a.Env.Now(), &policy); err != nil {
			return client.Refused(what, err.Error(), "Name the newest release with --release, and its key with --root.")
		}
	}
	keys, err := a.keys(what, f.keys)
	if err != nil {
		return err
	}
	r := gitcommit.Repository{Dir: a.Env.Dir, Env: a.Env.Vars}
	d, err := r.Difference(ctx, revision)
	if err != nil {
		return client.Refused(what, err.Error(), "Name a commit or a range of this repository.")
	}
	texts, err := r.Statements(ctx)
	if err != nil {
		return client.Refused(what, err.Error(), "")
	}
	for _, name := range f.evidence {
		raw, err := os.ReadFile(a.Env.Absolute(name))
		if err != nil {
			return client.Refused(what, err.Error(), "--evidence takes a file that writ audit attest --out wrote.")
		}
		if first, _, _ := bytes.Cut(raw, []byte{'\n'}); !json.Valid(first) {
			return client.Refused(what, name+" holds no statements", "--evidence takes what writ audit attest wrote, one statement a line.")
		}
		texts = append(texts, string(raw))
	}
	v.Commit, v.Base, policy.First = d.Commit, d.Parents, d.Repository.First
	statements, foreign := attest.OpenAll(texts, keys)
	v.Statements, v.Foreign = len(statements), foreign
	v.Files = attest.Judge(d.Changes, statements, policy)
	v.OK = !slices.ContainsFunc(v.Files, func(f attest.Finding) bool { return !f.OK })
	if a.JSON {
		if err := a.PrintJSON(v); err != nil {
			return err
		}
	} else {
		a.showFindings(v.Files)
		a.Printf("%s, %s under the given keys%s%s\n", client.Plural(len(v.Files), "changed file", "changed files"),
			client.Plural(v.Statements, "statement", "statements"), foreignText(v.Foreign), map[bool]string{true: "; by what the release " + v.Release + " says"}[v.Release != ""])
	}
	if !v.OK {
		return client.Refused(what, "the commit holds changes that no statement bears out", "Make statements where the log is (writ audit attest --note), push refs/notes/writ and fetch it here; or name the files that people write with --except.")
	}
	return nil
}

func foreignText(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(", %d altered or of another key", n)
}

func (f attestFlags) policy() (p attest.Policy, err error) {
	p = attest.Policy{Recorded: f.recorded, Tests: f.tests, Released: f.released, Two: f.two}
	if f.two && len(f.persons) == 0 && f.release == "" {
		return p, client.Usage("attest verify: --two-person needs the keys of those who may approve", "Give them with --person, or name the release that does with --release.")
	}
	if f.assurance != "" {
		ladder := schemas.Assurances()
		at := slices.Index(ladder, f.assurance)
		if at < 0 {
			return p, client.Usage(fmt.Sprintf("attest verify: there is no assurance %q", f.assurance), "Use "+strings.Join(ladder, ", ")+".")
		}
		p.Rungs = ladder[at:]
	}
	if p.Except, err = attest.Matching(f.except); err != nil {
		return p, client.Usage("attest verify: --except: "+err.Error(), "Use patterns such as docs/** or *.md.")
	}
	return p, nil
}

// keys are the keys that are trusted: those given, or this installation's.
func (a attests) keys(what string, given []string) (keys []note.Verifier, err error) {
	if len(given) == 0 {
		given = []string{""}
	}
	for _, text := range given {
		lines := []string{text}
		if _, err := evidence.ParseKey(text); err != nil && text != "" { // a key is never the name of a file of the commit's
			if raw, err := os.ReadFile(a.Env.Absolute(text)); err == nil {
				lines = strings.Split(string(raw), "\n")
			}
		}
		for _, line := range lines {
			if line = strings.TrimSpace(line); text != "" && line == "" || strings.HasPrefix(line, "#") {
				continue
			}
			key, err := a.auditKey(what, line)
			if err != nil {
				return nil, err
			}
			keys = append(keys, key)
		}
	}
	if len(keys) == 0 {
		return nil, client.Refused(what, "no key is given", "--key takes a public key or a file with one a line.")
	}
	return keys, nil
}

func (a attests) showFindings(all []attest.Finding) {
	st := a.Env.Style(a.Out)
	for _, f := range all {
		mark := st.Green("✓")
		if !f.OK {
			mark = st.Red("✗")
		}
		a.Printf("%s %s: %s\n", mark, client.Printable(f.Path), client.Printable(f.Why))
	}
}
