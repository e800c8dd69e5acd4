package files

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/cmd/internal/config"
	"github.com/writbus/writ/cmd/writ/cli/client"
	"github.com/writbus/writ/schemas"
)

const (
	// indexPoll is how often the progress of a build is asked for.
	indexPoll = 250 * time.Millisecond
	// watchPoll is how long one question waits for a change.
	watchPoll = 5 * time.Second
)

func (a *app) indexCommand() *cobra.Command {
	return client.Group("index", "Index a project's own files for search and context", `  writ index build
  writ index status
  writ index deps docs/architecture.md`,
		a.indexBuildCommand(), a.indexStatusCommand(), a.indexDepsCommand())
}

// indexFlags say what to index.
type indexFlags struct {
	project, explain       string
	watch, force, defaults bool
}

func (a *app) indexBuildCommand() *cobra.Command {
	var flags indexFlags
	c := &cobra.Command{
		Use:   "build [PATH...]",
		Short: "Bring the index up to the files",
		Long: `Indexes the files of the project: those of the paths, which may be globs ("**" is
any folders, "{a,b}" either), else of those given before, else all that are text,
wherever they lie. What .gitignore and .writignore name is left out, and so are
version control, vendored and generated files, binaries, hidden files but for the
settings of builds and tools, keys and passwords by their names, data over 64 KiB
and files over 1 MiB. Files that did not change are not read again.

From then on the index follows the files by itself. --watch stays and shows each
change until it is interrupted. --explain says of one path why it is in the
index, or why not, and builds nothing.`,
		Example: `  writ index build
  writ index build 'docs/**/*.md' src
  writ index build --watch
  writ index build --explain vendor/lib/a.go`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if flags.explain != "" {
				return a.explainPath(cmd.Context(), flags)
			}
			return a.buildIndex(cmd.Context(), flags, args)
		},
	}
	f := c.Flags()
	f.BoolVar(&flags.watch, "watch", false, "stay and show each change until interrupted")
	f.BoolVar(&flags.force, "force", false, "read every file again")
	f.BoolVar(&flags.defaults, "defaults", false, "forget the paths that were given before")
	f.StringVar(&flags.explain, "explain", "", "say why this path is in the index or is not")
	a.projectFlag(c, &flags.project)
	return c
}

func (a *app) projectFlag(c *cobra.Command, to *string) {
	c.Flags().StringVar(to, "project", "", "the project's folder, from which paths are then meant (default: that around the working folder)")
}

func (a *app) indexStatusCommand() *cobra.Command {
	var request schemas.ArtifactStatusRequest
	c := &cobra.Command{
		Use:   "status",
		Short: "Show what the index holds, what it left out, and how old it is",
		Example: `  writ index status
  writ index status --check --json | jq .index`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			request.Project = a.indexedProject(cmd.Context(), request.Project)
			return client.Show(cmd.Context(), a.Client, client.RoleHook, "index status", schemas.SvcArtifactStatus, request, a.showIndex)
		},
	}
	c.Flags().BoolVar(&request.Check, "check", false, "compare the index with the files first")
	a.projectFlag(c, &request.Project)
	return c
}

func (a *app) indexDepsCommand() *cobra.Command {
	var request schemas.ArtifactDepsRequest
	c := &cobra.Command{
		Use:   "deps PATH",
		Short: "Show what a file mentions, and which files mention it",
		Long:  `Follows the mentions @path, @path:LINE, @path#section and @"path with blanks".`,
		Example: `  writ index deps docs/architecture.md
  writ index deps --depth 3 README.md --json`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("depth") && request.Depth < 1 {
				return client.Usage("index deps: --depth must be at least 1", "")
			}
			in := a.indexed(a.indexedProject(cmd.Context(), request.Project), request.Project)
			request.Project, request.Path = in.project, in.path(args[0])
			return client.Show(cmd.Context(), a.Client, client.RoleHook, "index deps "+args[0], schemas.SvcArtifactDeps, request, a.showDeps)
		},
	}
	c.Flags().IntVar(&request.Depth, "depth", 1, "how many steps to follow, at most 20")
	a.projectFlag(c, &request.Project)
	return c
}

// projects are the folders whose index may be meant, the nearest first: the
// repositories around the working folder, and the project that Writ guards; the
// working folder where there is none.
func (a *app) projects() (all []string) {
	guarded, found := config.FindProject(a.Env.Dir)
	for dir := a.Env.Dir; dir != guarded; dir = filepath.Dir(dir) {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			all = append(all, dir)
		}
		if dir == filepath.Dir(dir) {
			break
		}
	}
	switch {
	case found:
		return append(all, guarded)
	case len(all) == 0:
		return []string{a.Env.Dir}
	}
	return all
}

// indexedProject is the folder whose index is read: that of the flag, else the
// nearest that has an index, else the nearest.
func (a *app) indexedProject(ctx context.Context, flag string) string {
	if flag != "" {
		return a.Env.Absolute(flag)
	}
	all := a.projects()
	for i := 0; len(all) > 1 && i < len(all); i++ {
		status, err := client.Ask[schemas.ArtifactStatus](ctx, a.Client, client.RoleHook, "index status", schemas.SvcArtifactStatus, schemas.ArtifactStatusRequest{Project: all[i]})
		if err != nil || status.Exists || status.State == "loading" {
			return all[i]
		}
	}
	return all[0]
}

// indexed is the project of a command, and the folder from which its paths are
// meant: the project that --project names, else the working folder.
type indexed struct {
	project string
	from    client.Env
}

func (a *app) indexed(project, flag string) indexed {
	i := indexed{project, a.Env}
	if flag != "" {
		i.from.Dir = i.project
	}
	return i
}

// path is one as it is seen from the project. One that leads out of it stays
// absolute, for the daemon to refuse.
func (i indexed) path(written string) string {
	project, at := i.project, i.from.Absolute(strings.TrimPrefix(written, "@"))
	if rel, err := filepath.Rel(project, at); err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return filepath.ToSlash(rel)
	}
	return at
}

// globs are the paths of a command line, from the project. A path that is there
// is that one; a pattern without a slash matches in any folder.
func (i indexed) globs(args []string) ([]string, error) {
	var globs []string
	for _, arg := range args {
		rel := i.path(arg)
		if filepath.IsAbs(rel) {
			return nil, client.Usage(fmt.Sprintf("index build: %s is not in the project %s", arg, i.project), "Name another project with --project.")
		}
		_, err := os.Lstat(i.from.Absolute(arg))
		switch {
		case rel == ".":
			globs = append(globs, "**")
		case path.Clean(arg) == ".": // of a folder in the project, whose index is not to lose the rest
			continue
		case err == nil:
			globs = append(globs, "/"+rel)
		case !strings.ContainsAny(arg, "*?[{"):
			return nil, client.Refused("index build "+arg, "there is no "+i.from.Absolute(arg), "Nothing was changed.")
		case !strings.Contains(arg, "/") && i.from.Dir == i.project:
			globs = append(globs, arg)
		default:
			globs = append(globs, "/"+path.Clean(rel))
		}
	}
	return globs, nil
}

// buildIndex builds, shows how far it is, and with --watch stays.
func (a *app) buildIndex(ctx context.Context, flags indexFlags, args []string) error {
	project := a.projects()[0]
	if flags.project != "" {
		project = a.Env.Absolute(flags.project)
	}
	in := a.indexed(project, flags.project)
	globs, err := in.globs(args)
	if err != nil {
		return err
	}
	if project != in.from.Dir && !a.JSON {
		a.Note("this is the index of %s; `--project .` makes one of this folder alone", project)
	}
	s, err := a.Open(ctx, client.RoleHook)
	if err != nil {
		return client.Explain("index build", err)
	}
	defer s.Close()
	status, err := client.Call[schemas.ArtifactStatus](ctx, s, schemas.SvcArtifactBuild, schemas.ArtifactBuildRequest{
		Project: project, Globs: globs, Defaults: flags.defaults, Force: flags.force, Watch: flags.watch, Wait: indexPoll,
	})
	bar, begun := a.indexBar(), err == nil
	for err == nil && (status.State == "building" || status.State == "loading") {
		bar(status.Progress)
		status, err = client.Call[schemas.ArtifactStatus](ctx, s, schemas.SvcArtifactStatus, schemas.ArtifactStatusRequest{
			Project: project, After: status.Revision, Wait: indexPoll, Watch: flags.watch,
		})
	}
	bar(nil)
	if errors.Is(err, bus.ErrUnavailable) && begun {
		return client.Refused("index build", "the daemon ended meanwhile", "The index is as it was before; build again to go on.")
	}
	if err != nil {
		return client.Explain("index build", err)
	}
	if status.State == "failed" {
		return client.Refused("index build", status.Error, "The index is as it was before.")
	}
	if err := a.showBuilt(status); err != nil || !flags.watch {
		return err
	}
	return a.watchIndex(ctx, s, status)
}

// watchIndex shows each change until it is interrupted.
func (a *app) watchIndex(ctx context.Context, s client.Service, last schemas.ArtifactStatus) error {
	if !a.JSON {
		a.Note("watching %s; interrupt to stop", last.Project)
	}
	for {
		status, err := client.Call[schemas.ArtifactStatus](ctx, s, schemas.SvcArtifactStatus, schemas.ArtifactStatusRequest{
			Project: last.Project, After: last.Revision, Wait: watchPoll, Watch: true,
		})
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			return client.Explain("index build --watch", err)
		case status.State == "failed" && status.Error != last.Error:
			a.Note("writ: %s", status.Error)
		case status.Revision != last.Revision:
			if err := a.showBuilt(status); err != nil {
				return err
			}
		}
		last = status
	}
}

func (a *app) explainPath(ctx context.Context, flags indexFlags) error {
	in := a.indexed(a.indexedProject(ctx, flags.project), flags.project)
	reply, err := client.Ask[schemas.ArtifactExplanation](ctx, a.Client, client.RoleHook, "index build --explain "+flags.explain, schemas.SvcArtifactExplain,
		schemas.ArtifactExplainRequest{Project: in.project, Path: in.path(flags.explain)})
	if err != nil {
		return err
	}
	if a.JSON {
		return a.PrintJSON(reply)
	}
	if reply.Indexed {
		a.Printf("%s is indexed: %s.\n", reply.Path, reply.Detail)
		return nil
	}
	a.Printf("%s is not indexed (%s): %s.\n", reply.Path, reply.Reason, reply.Detail)
	return nil
}
