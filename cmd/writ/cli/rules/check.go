package rules

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/writbus/writ/cmd/writ/cli/client"
	"github.com/writbus/writ/schemas"
)

// maxCheckedFile is the longest file that is checked, in bytes; what is longer
// was made by a program.
const maxCheckedFile = 2 << 20

// checkBatch is how many bytes of files travel in one request.
const checkBatch = 8 << 20

// checks run the mechanical checks of rules.
type checks struct{ *client.Client }

func (a *checks) checkCommand() *cobra.Command {
	var diff, staged bool
	var base string
	c := &cobra.Command{
		Use: "check [FILE|DIR…]", Short: "Run the rules' mechanical checks over files or changed lines",
		Long: `Runs the checks that rules carry. With --diff only on the lines that differ from
the last commit (or from --base), new files included; with --staged on what is
about to be committed. Exit 1 if anything is found.`,
		Example: "  writ check internal/store.go\n  writ check --diff\n  writ check --diff --base origin/main --json",
		RunE: func(cmd *cobra.Command, args []string) error {
			var files []schemas.CheckFile
			var changes string
			var err error
			switch {
			case diff || staged || base != "":
				files, changes, err = a.changedFiles(cmd.Context(), args, base, staged)
			case len(args) == 0:
				return client.Usage("check: name files or folders, or say --diff", "`writ check --help` shows examples.")
			default:
				files, err = a.namedFiles(args)
			}
			if err != nil {
				return err
			}
			return a.checkFiles(cmd.Context(), files, changes)
		},
	}
	c.Flags().BoolVar(&diff, "diff", false, "only lines changed since the last commit")
	c.Flags().BoolVar(&staged, "staged", false, "only lines that are staged")
	c.Flags().StringVar(&base, "base", "", "only lines changed since this commit")
	return c
}

func (a *checks) checkFiles(ctx context.Context, files []schemas.CheckFile, diff string) error {
	if len(files) == 0 {
		if !a.JSON {
			a.Note("there is no file to check")
		}
		return nil
	}
	findings, checks := 0, 0
	st := a.Env.Style(a.Out)
	for len(files) > 0 {
		n, bytes := 0, 0
		for n < len(files) && (n == 0 || bytes+len(files[n].Content) <= checkBatch) {
			bytes += len(files[n].Content)
			n++
		}
		reply, err := client.Ask[schemas.CheckReply](ctx, a.Client, client.RoleHook, "check", schemas.SvcCheck, schemas.CheckRequest{Files: files[:n], Diff: diff})
		if err != nil {
			return err
		}
		checks = reply.Checks
		findings += len(reply.Findings)
		for _, f := range reply.Findings {
			if a.JSON {
				if err := a.PrintJSON(f); err != nil {
					return err
				}
				continue
			}
			a.Printf("%s:%d:%d: %s: %s\n", f.Path, f.Line, f.Column, st.Bold(st.Yellow(f.Rule)), f.Message)
			if f.Excerpt != "" {
				a.Printf("    %s\n", st.Dim(f.Excerpt))
			}
		}
		files = files[n:]
	}
	if findings > 0 {
		return client.Refused("check", client.Plural(findings, "finding", "findings"), "`writ rule show ID` says why and how to do it right.")
	}
	if !a.JSON {
		a.Note("nothing found by %s", client.Plural(checks, "check", "checks"))
	}
	return nil
}

// namedFiles reads files and the files of folders, leaving out what version
// control and dependencies keep there.
func (a *checks) namedFiles(paths []string) ([]schemas.CheckFile, error) {
	var files []schemas.CheckFile
	for _, path := range paths {
		path = a.Env.Absolute(path)
		err := filepath.WalkDir(path, func(at string, entry fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case entry.IsDir() && at != path && isForeignDir(entry.Name()):
				return filepath.SkipDir
			case !entry.Type().IsRegular():
				return nil
			}
			file, ok, err := a.checkedFile(at)
			if ok {
				files = append(files, file)
			}
			return err
		})
		if errors.Is(err, fs.ErrNotExist) {
			return nil, client.Refused("check", path+" does not exist", "")
		}
		if err != nil {
			return nil, client.Refused("check", err.Error(), "")
		}
	}
	return files, nil
}

func isForeignDir(name string) bool {
	return strings.HasPrefix(name, ".") || name == "node_modules" || name == "vendor" || name == "__pycache__" || name == "target"
}

// checkedFile reads a file unless it is too long or no text.
func (a *checks) checkedFile(path string) (file schemas.CheckFile, ok bool, err error) {
	info, err := os.Stat(path)
	if err != nil || info.Size() > maxCheckedFile {
		return file, false, err
	}
	content, err := os.ReadFile(path)
	if err != nil || bytes.IndexByte(content[:min(len(content), 8<<10)], 0) >= 0 {
		return file, false, err
	}
	name := path
	if rel, err := filepath.Rel(a.Env.Dir, path); err == nil && filepath.IsLocal(rel) {
		name = rel
	}
	return schemas.CheckFile{Path: filepath.ToSlash(name), Content: string(content)}, true, nil
}

// changedFiles asks git what changed, and adds files it does not know yet
// whole. Paths are those of the work tree.
func (a *checks) changedFiles(ctx context.Context, paths []string, base string, staged bool) (files []schemas.CheckFile, diff string, err error) {
	root, err := a.git(ctx, "rev-parse", "--show-toplevel")
	if err != nil {
		return nil, "", client.Refused("check --diff", err.Error(), "It needs a git work tree; name files instead.")
	}
	top := strings.TrimRight(root, "\n")
	args := []string{"diff", "--unified=0", "--no-color", "--no-ext-diff", "--no-textconv", "--src-prefix=a/", "--dst-prefix=b/"}
	switch {
	case staged:
		args = append(args, "--cached")
	case base != "":
		args = append(args, base)
	default:
		if _, err := a.git(ctx, "rev-parse", "--verify", "--quiet", "HEAD"); err == nil {
			args = append(args, "HEAD")
		}
	}
	names, err := a.git(ctx, append(append(append([]string{}, args...), "--name-only", "-z", "--diff-filter=d", "--"), paths...)...)
	if err != nil {
		return nil, "", client.Refused("check --diff", err.Error(), "")
	}
	diff, err = a.git(ctx, append(append(args, "--"), paths...)...)
	if err != nil {
		return nil, "", client.Refused("check --diff", err.Error(), "")
	}
	for _, name := range listed(names) {
		file, ok, err := a.versionOf(ctx, top, name, staged)
		if err != nil {
			return nil, "", client.Refused("check --diff", err.Error(), "")
		}
		if ok {
			files = append(files, file)
		}
	}
	if !staged {
		files, err = a.addUntracked(ctx, files, paths)
	}
	return files, diff, err
}

func listed(names string) []string {
	return strings.FieldsFunc(names, func(r rune) bool { return r == 0 })
}

// versionOf reads the file as the lines of the diff count it.
func (a *checks) versionOf(ctx context.Context, top, path string, staged bool) (schemas.CheckFile, bool, error) {
	if !staged {
		file, ok, err := a.checkedFile(filepath.Join(top, filepath.FromSlash(path)))
		file.Path = path
		if errors.Is(err, fs.ErrNotExist) {
			return file, false, nil
		}
		return file, ok, err
	}
	content, err := a.git(ctx, "show", ":"+path)
	return schemas.CheckFile{Path: path, Content: content}, err == nil && len(content) <= maxCheckedFile, err
}

func (a *checks) addUntracked(ctx context.Context, files []schemas.CheckFile, paths []string) ([]schemas.CheckFile, error) {
	names, err := a.git(ctx, append([]string{"ls-files", "--others", "--exclude-standard", "-z", "--"}, paths...)...)
	if err != nil {
		return nil, client.Refused("check --diff", err.Error(), "")
	}
	for _, name := range listed(names) {
		file, ok, err := a.checkedFile(a.Env.Absolute(filepath.FromSlash(name)))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, client.Refused("check --diff", err.Error(), "")
		}
		if ok {
			files = append(files, file)
		}
	}
	return files, nil
}

// git runs a reading git command in the working folder.
func (a *checks) git(ctx context.Context, args ...string) (string, error) {
	c := exec.CommandContext(ctx, "git", args...)
	c.Dir, c.Env = a.Env.Dir, a.Env.Vars
	var out, complaint bytes.Buffer
	c.Stdout, c.Stderr = &out, &complaint
	if err := c.Run(); err != nil {
		if text := strings.TrimSpace(complaint.String()); text != "" {
			return "", errors.New(client.OneLine(text))
		}
		return "", err
	}
	return out.String(), nil
}
