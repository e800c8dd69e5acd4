package enforcement

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/writbus/writ/enforcement/shell"
	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/schemas/excerpt"
	"github.com/writbus/writ/schemas/glob"
	"github.com/writbus/writ/schemas/lazyregexp"
)

// maxCovered bounds the files that a user lets in beside those of a plan.
const maxCovered = 500

// covers reports whether the approval of the plan lets a file of code be
// written: the plan names it, it comes with one that the plan names, or the user
// let it in since. An approval of which the log has no files covers all, and a
// target without a name stands for no file.
func (w Work) covers(t schemas.Target) bool {
	planned := w.Gates[GatePlan].Planned
	if t.Rel == "" || len(planned) == 0 && len(w.Added) == 0 {
		return true
	}
	if installed[path.Base(t.Rel)] {
		return true
	}
	return slices.ContainsFunc(w.Added, func(added string) bool { // a slash at its end takes in what is below
		return added == t.Rel || strings.HasSuffix(added, "/") && strings.HasPrefix(t.Rel+"/", added)
	}) ||
		slices.ContainsFunc(planned, func(name string) bool { return names(name, t) || companion(name, t) })
}

// names reports whether a path of a plan is a file, the folder around it or a
// pattern of it. One that stands for the whole project names nothing.
func names(name string, t schemas.Target) bool {
	rel := t.Rel
	if path.IsAbs(name) {
		below, inside := within(strings.TrimSuffix(t.Path, "/"+rel), name, false)
		if !inside {
			return false
		}
		name = below
	}
	if strings.Trim(name, "*?/.") == "" {
		return false
	}
	if _, ok := within(name, rel, false); ok {
		return true
	}
	if !strings.ContainsAny(name, "*?{") {
		return false
	}
	// A name alone is one at the root, and brackets are part of a name.
	pattern, err := glob.Parse("/" + strings.ReplaceAll(name, "[", `\[`))
	return err == nil && pattern.Match(rel)
}

// lockFiles are what package managers write beside a file that is named.
var lockFiles = map[string][]string{
	"go.mod":         {"go.sum", "go.work.sum"},
	"go.work":        {"go.work.sum"},
	"package.json":   {"package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml", "bun.lock", "bun.lockb"},
	"deno.json":      {"deno.lock"},
	"Cargo.toml":     {"Cargo.lock"},
	"pyproject.toml": {"poetry.lock", "uv.lock", "pdm.lock"},
	"Pipfile":        {"Pipfile.lock"},
	"Gemfile":        {"Gemfile.lock"},
	"composer.json":  {"composer.lock"},
	"mix.exs":        {"mix.lock"},
	"pubspec.yaml":   {"pubspec.lock"},
	"flake.nix":      {"flake.lock"},
	"Package.swift":  {"Package.resolved"},
}

// installed are folders that tools fill, as a whole; what is written below them
// by name is judged like any other file.
var installed = setOf("node_modules", ".venv", ".tox", ".pytest_cache", ".mypy_cache", ".ruff_cache")

// companion reports whether a file comes with one that is named: the lock file
// of a manifest, in its folder or above it, and the empty file that makes a
// folder of Python a package.
func companion(name string, t schemas.Target) bool {
	beside, dir := path.Dir(name), path.Dir(t.Rel)
	base := path.Base(t.Rel)
	if base == "__init__.py" {
		return dir == beside && path.Ext(name) == ".py" && t.Result == Hash(nil)
	}
	_, above := within(dir, beside, false)
	return slices.Contains(lockFiles[path.Base(name)], base) && (above || dir == ".")
}

// asksBeyond reports whether the user was asked about files that the plan does
// not cover.
func (w Work) asksBeyond(p schemas.ToolDecided) bool {
	return p.Verdict == Ask.String() && p.Rule == RulePlan && w.Phase == PhaseImplementation && len(w.beyond(p.Targets)) > 0
}

// answered is the user's yes to files beyond the plan, which shows itself by the
// tool having run; nil where none was asked for.
func (c FinishTool) answered(s State) *schemas.PlanExtended {
	_, w := s.take(c.ToolFinished)
	if len(w.Beyond) == 0 || c.Failed || c.Unasked || c.Actor.Parent != nil {
		return nil
	}
	// The whole project is no file: who lets a command go over it lets that through.
	files := remove(w.Beyond, ".")
	if len(files) == 0 {
		return nil
	}
	return &schemas.PlanExtended{Files: files, Channel: ChannelAnswer, ToolUseID: c.ToolUseID}
}

// brings reports whether a command line may bring content of its own into a
// target. It does not where all that it runs puts files back as the commit that
// is checked out has them, puts changes away, deletes what git does not know,
// formats, or builds a program of Go; what git loses is asked for elsewhere. A
// redirection brings what is printed, but never into the whole project.
func (c *ShellCommand) brings(t schemas.Target) bool {
	if c == nil || strings.Contains(joined.Regexp().ReplaceAllString(c.Text, "$1"), ">") && t.Rel != "." {
		return true
	}
	runs := shell.Runs(c.Text)
	return len(runs) == 0 || slices.ContainsFunc(runs, func(r shell.Run) bool { return !quiet(r.Words) })
}

// joined is a redirection of errors to where the output goes.
var joined = lazyregexp.New(`2>&1([\s|;)]|$)`)

func quiet(words []string) bool {
	option := func(part string) bool {
		return slices.ContainsFunc(words, func(w string) bool {
			return strings.HasPrefix(strings.TrimLeft(w, "-"), part) && strings.HasPrefix(w, "-")
		})
	}
	switch words[0] {
	case "cd", "pwd", "echo", "true", "head", "tail", "cat", "ls", "grep":
		return true
	case "gofmt", "goimports":
		return !option("r")
	case "go":
		return len(words) > 1 && (words[1] == "build" && !option("o") || words[1] == "vet" || words[1] == "test" && !option("o"))
	}
	if words[0] != "git" || len(words) == 1 {
		return false
	}
	args := words[2:]
	switch words[1] {
	case "clean", "status", "diff", "log":
		return true
	case "stash":
		return len(args) == 0 || args[0] == "push" || strings.HasPrefix(args[0], "-")
	case "checkout":
		return len(args) > 0 && args[0] == "--"
	case "reset":
		return !slices.ContainsFunc(args, func(a string) bool { return a != "HEAD" && !strings.HasPrefix(a, "--") })
	case "restore":
		return !slices.ContainsFunc(args, func(a string) bool { return strings.HasPrefix(a, "-") && a != "--" })
	}
	return false
}

// beyond are the files of code among the targets that the plan does not cover.
func (w Work) beyond(targets []schemas.Target) []string {
	var names []string
	for _, t := range targets {
		if t.Class == ClassCode && !w.covers(t) {
			names = insert(names, t.Rel)
		}
	}
	return names
}

// carriedOut notes a file that was written in carrying out the plan.
func (w Work) carriedOut(file string) Work {
	if w.Phase == PhaseImplementation && len(w.Written) < maxUntested {
		w.Written = insert(w.Written, file)
	}
	return w
}

func textBeyond(names []string) wording {
	what := "it is"
	if slices.Contains(names, ".") {
		return wording{
			"what it changes there is not told, and the plan names files.",
			"A yes lets this one through. Name the files of the plan instead, or do it after their work is done.",
		}
	}
	if len(names) > 1 {
		what = excerpt.Runes(fileList(names), 200) + " are"
	}
	return wording{
		fmt.Sprintf("%s not among the files of the approved plan.", what),
		"The user's yes adds it, once for all; so do their words `add FILE to the plan`. Without it go on by the plan, or have it taken back for a new one: `writ session phase invalidate plan` at their terminal.",
	}
}

// textUnnamed tells of changes beyond the plan, made by a command or after one
// that had ended.
func textUnnamed(names []string, since string) string {
	who := "the command changed"
	if since != "" {
		who = fmt.Sprintf("after `%s` had ended, something changed", excerpt.Runes(since, 100))
	}
	return fmt.Sprintf("%s what the approved plan does not name: %s.", who, excerpt.Runes(fileList(names), 300))
}

// addition is a prompt that is nothing but a wish to add files to the plan.
var addition = lazyregexp.New(`(?i)^(?:yes|ok|okay|please|and|you may|you can|[,\s])*\badd\s+(.+?)\s+to\s+(?:the\s+)?(?:approved\s+)?plan(?:'s files)?[\s.!]*$`)

// added are the files that a prompt adds to the plan, nil for none; it, them and
// so on stand for what the session last asked for.
func (w Work) added(prompt string) []string {
	m := addition.Regexp().FindStringSubmatch(strings.TrimSpace(prompt))
	if m == nil {
		return nil
	}
	names := []string{}
	for _, word := range strings.Fields(strings.ReplaceAll(m[1], ",", " ")) {
		switch name := strings.Trim(word, "`'\""); strings.ToLower(name) {
		case "and", "the", "file", "files":
		case "it", "them", "this", "that", "these", "those":
			names = append(names, w.Asked...)
		default:
			if !strings.ContainsAny(name, "./") && !slices.Contains(w.Asked, name) {
				return nil // it talks of what the plan should say
			}
			names = append(names, name)
		}
	}
	return names
}

// extend adds files to the plan for an act of the user.
func (c SubmitPrompt) extend(s State, names []string) Decision {
	channel, refusal := c.channel(s)
	a := userAct{id: c.ActID, channel: channel, gate: GatePlan}
	var files []string
	for _, name := range names {
		clean := path.Clean(name)
		if rel, inside := within(s.Project, clean, false); inside {
			clean = rel
		}
		if strings.Trim(clean, "*?/.") == "" || strings.HasPrefix(clean, "../") || path.IsAbs(clean) || strings.ContainsAny(clean, "*?") {
			refusal = fmt.Sprintf("%q is no file or folder of the project", excerpt.Runes(name, 80))
			break
		}
		if strings.HasSuffix(name, "/") {
			clean += "/"
		}
		files = insert(files, clean)
	}
	switch {
	case refusal != "":
	case TooWeak(channel, c.Settings.Approval) != "":
		refusal = TooWeak(channel, c.Settings.Approval) + ", once plan.md names the file"
	case len(files) == 0:
		refusal = "no file was asked for; name the files to be added"
	case !s.Approved(GatePlan):
		refusal = "no plan is approved that files could be added to"
	case len(files)+len(s.Work.Added) > maxCovered:
		refusal = "the plan would name too many files; approve another plan"
	}
	if refusal != "" {
		return s.refuse(Decision{Gate: GatePlan, Problems: []string{refusal}}, a)
	}
	return Decision{
		Record:  []schemas.Payload{schemas.PlanExtended{Files: files, Channel: channel, ActID: c.ActID}},
		Context: fmt.Sprintf("The user added to the files of the plan: %s.", excerpt.Runes(fileList(files), 200)),
		Notice:  fmt.Sprintf("Added to the files of the plan: %s.", excerpt.Runes(fileList(files), 200)),
	}
}

func (w Work) extended(p schemas.PlanExtended) Work {
	if !w.approved(GatePlan) {
		return w
	}
	for _, f := range p.Files {
		if len(w.Added) < maxCovered {
			w.Added = insert(w.Added, f)
		}
		w.Asked = remove(w.Asked, f)
	}
	return w
}
