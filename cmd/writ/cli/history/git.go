package history

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/mod/sumdb/note"

	"github.com/writbus/writ/cmd/writ/cli/client"
	"github.com/writbus/writ/projections/audit/attest"
	"github.com/writbus/writ/projections/audit/gitcommit"
	"github.com/writbus/writ/schemas"
)

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
A hook that is there stays and runs first; core.hooksPath and husky are respected.
Folders of hooks outside of the repository serve others, too: --shared installs there.
A person can pass by with git commit --no-verify, but not by writ audit attest verify.`,
		Example: `  writ git install`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			at, err := g.place(cmd.Context(), "git install", shared)
			if err != nil {
				return err
			}
			said, err := at.Install()
			if err != nil {
				return client.Refused("git install", err.Error(), "Nothing was changed, or only the copy of the hook that was there.")
			}
			return g.Print(map[string]any{"hook": at.Path, "husky": at.Husky}, func() { g.Printf("%s: %s\n", at.Path, said) })
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
			at, err := g.place(cmd.Context(), "git uninstall", true)
			if err != nil {
				return err
			}
			said, err := at.Uninstall()
			if err != nil {
				return client.Refused("git uninstall", err.Error(), "")
			}
			return g.Print(map[string]any{"hook": at.Path}, func() { g.Printf("%s: %s\n", at.Path, said) })
		},
	}
}

func (g gitHooks) place(ctx context.Context, what string, shared bool) (gitcommit.Hook, error) {
	at, err := gitcommit.Repository{Dir: g.Env.Dir, Env: g.Env.Vars}.HookOf(ctx, shared)
	switch {
	case errors.Is(err, gitcommit.ErrShared):
		return at, client.Refused(what, err.Error(), "Other repositories use it, too: `writ git install --shared` installs there.")
	case err != nil:
		return at, client.Refused(what, err.Error(), "It needs Git, and the work tree of a repository around this folder.")
	}
	return at, nil
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
	r := gitcommit.Repository{Dir: g.Env.Dir, Env: g.Env.Vars}
	d, err := r.Staged(ctx)
	if err != nil {
		return client.Refused(what, err.Error(), "")
	}
	if len(d.Changes) == 0 {
		return nil
	}
	s, _, err := attests(g).stated(ctx, what, d)
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
	args = append(args, "--trailer", gitcommit.TrailerLog+": "+s.Predicate.Log)
	for _, id := range slices.Sorted(maps.Keys(sessions)) {
		args = append(args, "--trailer", gitcommit.TrailerSession+": "+id)
	}
	if _, err := r.Git(ctx, append(args, message)...); err != nil {
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
