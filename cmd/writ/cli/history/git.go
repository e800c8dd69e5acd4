package history

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/mod/sumdb/note"

	"github.com/writbus/writ/cmd/writ/cli/client"
	"github.com/writbus/writ/projections/transparency/attest"
	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/schemas/atomicfile"
)

const (
	// gitHook is the one hook of git's that Writ uses: it runs for commits and for
	// merges, knows what is committed, and can add to the message.
	gitHook = "commit-msg"
	// gitMark is in every line or file that Writ puts there (persisted; never
	// change).
	gitMark = "# writ git"
	// gitBefore ends the name of the hook that was there before Writ's, which runs
	// first (persisted; never change).
	gitBefore = ".before-writ"
	// The trailers of a message (persisted; never change).
	trailerSession = "Writ-Session"
	trailerLog     = "Writ-Log"
)

// gitScript is the hook in a folder of hooks. The hook that was there before keeps
// its folder, since many find their own files by it.
const gitScript = `#!/bin/sh
` + gitMark + `: made by writ git install, taken away by writ git uninstall
if [ -x "$0` + gitBefore + `" ]; then
  "$0` + gitBefore + `" "$@" || exit $?
fi
` + gitLine + "\n"

// gitLine asks Writ, where it is installed.
const gitLine = `if command -v writ >/dev/null 2>&1; then writ git hook "$1"; fi ` + gitMark

// GitCommand is what Writ does in git itself.
func GitCommand(c *client.Client) *cobra.Command {
	g := gitHooks{&app{c}}
	return client.Group("git", "Let commits refuse what nobody approved", `  writ git install
  writ git uninstall`, g.installCommand(), g.uninstallCommand(), g.hookCommand())
}

// gitHooks are the commands about git's hooks of the repository around the working
// folder.
type gitHooks struct{ *app }

func (g gitHooks) installCommand() *cobra.Command {
	var shared bool
	c := &cobra.Command{
		Use: "install", Short: "Have commits refuse unapproved drift, and name their sessions",
		Long: `Adds a commit-msg hook to the repository of the working folder. A commit is refused
where a file in it is not as an allowed write left it although the log has writes of
it, or as a write left it that the gate would have refused. Files that no agent wrote
are yours, and pass. The message of a commit with files of agents gets trailers,
Writ-Log and Writ-Session, which writ audit attest resolves by the files' contents,
also after a squash, a rebase or an amended commit.

A hook that is there stays and runs first; core.hooksPath is respected, and with husky
the line goes into .husky/commit-msg. Folders of hooks outside of the repository serve
other repositories, too: --shared installs there, and a repository without Writ
notices nothing. A person can pass by with git commit --no-verify; what a forge asks
is writ audit attest verify.`,
		Example: `  writ git install`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			at, husky, err := g.place(cmd.Context(), "git install", shared)
			if err != nil {
				return err
			}
			said, err := install(at, husky)
			if err != nil {
				return client.Refused("git install", err.Error(), "Nothing was changed, or only the copy of the hook that was there.")
			}
			return g.Print(map[string]any{"hook": at, "husky": husky}, func() { g.Printf("%s: %s\n", at, said) })
		},
	}
	c.Flags().BoolVar(&shared, "shared", false, "install into a folder of hooks that other repositories use, too")
	return c
}

func (g gitHooks) uninstallCommand() *cobra.Command {
	return &cobra.Command{
		Use: "uninstall", Short: "Take the hook away, and put back what was there before",
		Example: `  writ git uninstall`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			at, husky, err := g.place(cmd.Context(), "git uninstall", true)
			if err != nil {
				return err
			}
			said, err := uninstall(at, husky)
			if err != nil {
				return client.Refused("git uninstall", err.Error(), "")
			}
			return g.Print(map[string]any{"hook": at}, func() { g.Printf("%s: %s\n", at, said) })
		},
	}
}

var huskyFolder = regexp.MustCompile(`(^|/)\.husky(/_)?$`)

// place is the file of the hook. With husky that is one of the project's, which git
// does not run itself.
func (g gitHooks) place(ctx context.Context, what string, shared bool) (at string, husky bool, err error) {
	r := repository{g.Env.Dir, g.Env.Vars}
	top, err := r.git(ctx, nil, "rev-parse", "--show-toplevel")
	if err != nil {
		return "", false, client.Refused(what, err.Error(), "Go into the work tree of a repository.")
	}
	common, err := r.git(ctx, nil, "rev-parse", "--path-format=absolute", "--git-common-dir")
	if err != nil {
		return "", false, client.Refused(what, err.Error(), "")
	}
	folder, err := r.git(ctx, nil, "rev-parse", "--path-format=absolute", "--git-path", "hooks")
	if err != nil {
		return "", false, client.Refused(what, err.Error(), "")
	}
	inside := func(dir string) bool {
		rel, err := filepath.Rel(dir, folder)
		return err == nil && filepath.IsLocal(rel)
	}
	if !inside(top) && !inside(common) && !shared {
		return "", false, client.Refused(what, "core.hooksPath leads out of the repository, to "+folder, "Other repositories use it, too: `writ git install --shared` installs there.")
	}
	if slashed := filepath.ToSlash(folder); huskyFolder.MatchString(slashed) {
		return filepath.Join(filepath.FromSlash(strings.TrimSuffix(slashed, "/_")), gitHook), true, nil
	}
	return filepath.Join(folder, gitHook), false, nil
}

// install puts the hook in its place; one that is there is kept beside it.
func install(at string, husky bool) (said string, err error) {
	there, err := os.ReadFile(at)
	switch {
	case err == nil && bytes.Contains(there, []byte(gitMark)):
		return "installed already", nil
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return "", err
	}
	if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
		return "", err
	}
	if husky {
		if len(there) > 0 && !bytes.HasSuffix(there, []byte("\n")) {
			there = append(there, '\n')
		}
		return "the line of Writ is in it; commit it for the others", atomicfile.Write(at, append(there, gitLine+"\n"...), 0o755)
	}
	said = "installed"
	if err == nil {
		info, err := os.Stat(at)
		if err != nil {
			return "", err
		}
		if err := atomicfile.Write(at+gitBefore, there, info.Mode().Perm()); err != nil {
			return "", err
		}
		said = "installed; the hook that was there runs first, from " + filepath.Base(at) + gitBefore
	}
	return said, atomicfile.Write(at, []byte(gitScript), 0o755)
}

// uninstall undoes install. A hook that somebody changed loses the lines of Writ
// alone.
func uninstall(at string, husky bool) (said string, err error) {
	there, err := os.ReadFile(at)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !bytes.Contains(there, []byte(gitMark)) {
		return "Writ is not in it", nil
	}
	if err != nil {
		return "", err
	}
	if husky || string(there) != gitScript {
		kept := strings.Join(slices.DeleteFunc(strings.SplitAfter(string(there), "\n"), func(line string) bool { return strings.Contains(line, gitMark) }), "")
		if husky && strings.TrimSpace(kept) == "" {
			return "taken away", os.Remove(at)
		}
		info, err := os.Stat(at)
		if err != nil {
			return "", err
		}
		return "the lines of Writ are gone", atomicfile.Write(at, []byte(kept), info.Mode().Perm())
	}
	before, err := os.ReadFile(at + gitBefore)
	if errors.Is(err, fs.ErrNotExist) {
		return "taken away", os.Remove(at)
	}
	if err != nil {
		return "", err
	}
	info, err := os.Stat(at + gitBefore)
	if err != nil {
		return "", err
	}
	if err := atomicfile.Write(at, before, info.Mode().Perm()); err != nil {
		return "", err
	}
	return "taken away; the hook that was there before is back", os.Remove(at + gitBefore)
}

func (g gitHooks) hookCommand() *cobra.Command {
	return &cobra.Command{
		Use: "hook FILE", Short: "Judge a commit and add to its message, as git's hook does", Hidden: true,
		Example: `  writ git hook .git/COMMIT_EDITMSG`,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if _, guarded := g.FindProject(g.Env.Dir); !guarded {
				return nil
			}
			return g.commit(cmd.Context(), g.Env.Absolute(args[0]))
		},
	}
}

// commit judges what git is about to commit. A daemon that cannot be asked does not
// keep anybody from committing: the message then has no trailer.
func (g gitHooks) commit(ctx context.Context, message string) error {
	const what = "git commit"
	r := repository{g.Env.Dir, g.Env.Vars}
	d, err := r.staged(ctx)
	if err != nil {
		return client.Refused(what, err.Error(), "")
	}
	if len(d.Changes) == 0 {
		return nil
	}
	s, _, err := attests{g.app}.stated(ctx, what, d)
	if err != nil {
		_, _ = fmt.Fprintf(g.Err, "writ: this commit was not looked at, and gets no trailer: %s\n", client.OneLine(err.Error()))
		return nil
	}
	sessions := map[string]bool{}
	var refused []string
	for _, p := range s.Predicate.Paths {
		switch p.State {
		case attest.Written:
			if p.Write != nil {
				sessions[p.Write.Session] = true
			}
		case attest.Changed:
			refused = append(refused, p.Path+": changed since an agent wrote it, by nobody that the log knows")
		case attest.Unapproved:
			refused = append(refused, p.Path+": written although the gate would have refused it ("+p.Rule+")")
		}
	}
	if len(refused) > 0 {
		slices.Sort(refused)
		_, _ = fmt.Fprintf(g.Err, "writ: not committed, since nobody approved this:\n  %s\n", client.Printable(strings.Join(refused, "\n  ")))
		return client.Refused(what, client.Plural(len(refused), "file has", "files have")+" unapproved drift",
			"Let the agent write them again under the approved plan, or put back what was approved. What you changed yourself you commit with `git commit --no-verify`; the message is in .git/COMMIT_EDITMSG.")
	}
	args := []string{"interpret-trailers", "--in-place", "--if-exists", "addIfDifferent"}
	if len(sessions) == 0 {
		return nil
	}
	args = append(args, "--trailer", trailerLog+": "+s.Predicate.Log)
	for _, id := range slices.Sorted(maps.Keys(sessions)) {
		args = append(args, "--trailer", trailerSession+": "+id)
	}
	if _, err := r.git(ctx, nil, append(args, message)...); err != nil {
		return client.Refused(what, err.Error(), "")
	}
	return nil
}

// stated asks what the log knows of a difference, and opens the statement.
func (a attests) stated(ctx context.Context, what string, d schemas.AttestRequest) (s attest.Statement, envelope []byte, err error) {
	reply, err := client.Ask[schemas.Attested](ctx, a.Client, client.RoleAdmin, what, schemas.SvcAuditAttest, d)
	if err != nil {
		return s, nil, err
	}
	key, err := a.auditKey(what, reply.Key)
	if err != nil {
		return s, nil, err
	}
	if s, _, err = attest.Open(reply.Envelope, []note.Verifier{key}); err != nil {
		return s, nil, client.Refused(what, err.Error(), "")
	}
	return s, reply.Envelope, nil
}

// staged is what git is about to commit, against HEAD and what is merged into it.
func (r repository) staged(ctx context.Context) (d schemas.AttestRequest, err error) {
	if d.Tree, err = r.git(ctx, nil, "write-tree"); err != nil {
		return d, err
	}
	d.Commit, d.Parents = d.Tree, []string{} // it is no commit yet
	if head, err := r.git(ctx, nil, "rev-parse", "--verify", "--quiet", "HEAD^{commit}"); err == nil {
		d.Parents = append(d.Parents, head)
	}
	merged, err := r.git(ctx, nil, "rev-parse", "--path-format=absolute", "--git-path", "MERGE_HEAD")
	if err != nil {
		return d, err
	}
	if heads, err := os.ReadFile(merged); err == nil {
		d.Parents = append(d.Parents, strings.Fields(string(heads))...)
	}
	if d.Roots, err = r.roots(ctx); err != nil {
		return d, err
	}
	d.Changes, err = r.changes(ctx, d.Tree, d.Parents)
	return d, err
}

// named is a session that a message's trailer names, and how many of the files it
// left as the commit has them.
type named struct {
	Session string `json:"session"`
	Wrote   int    `json:"wrote"`
}

// trailers resolves the trailers of the commits of a difference by what the log
// knows of their files.
func (r repository) trailers(ctx context.Context, d schemas.AttestRequest, ranged bool, s attest.Statement) ([]named, error) {
	which := []string{"--max-count=1", d.Commit}
	if ranged {
		which = []string{d.Parents[0] + ".." + d.Commit}
	}
	text, err := r.git(ctx, nil, append([]string{"log", "--format=%(trailers:key=" + trailerSession + ",valueonly)"}, which...)...)
	if err != nil {
		return nil, err
	}
	ids := strings.Fields(text)
	slices.Sort(ids)
	var all []named
	for _, id := range slices.Compact(ids) {
		one := named{Session: id}
		for _, p := range s.Predicate.Paths {
			if p.State == attest.Written && p.Write != nil && p.Write.Session == id {
				one.Wrote++
			}
		}
		all = append(all, one)
	}
	return all, nil
}
