package cli

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"mvdan.cc/sh/v3/syntax"

	"github.com/writbus/writ/cmd/internal/config"
	"github.com/writbus/writ/cmd/internal/topics"
	"github.com/writbus/writ/cmd/writ/cli/client"
	"github.com/writbus/writ/observer/agent/verbs/outside"
)

// root is the folder of the sources.
const root = "../../.."

// folders are where the topics lie.
var folders = []string{
	"bus/help", "cmd/writ/help", "cmd/internal/config/help", "enforcement/host/help", "observer/agent/vocabulary/help",
	"enforcement/help", "observer/help", "projections/help", "retrieval/help",
}

// documents are the topics and the README, by path, as they lie in the sources.
func documents(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, folder := range folders {
		files, err := filepath.Glob(filepath.Join(root, folder, "*.md"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			raw, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			all[file] = strings.ReplaceAll(string(raw), "\r\n", "\n")
		}
	}
	for _, topic := range topics.All() {
		if !slices.ContainsFunc(folders, func(folder string) bool { return all[filepath.Join(root, folder, topic.Name+".md")] != "" }) {
			t.Errorf("%s lies in none of the folders that are looked at", topic.Name)
		}
	}
	if len(all) != len(topics.All()) {
		t.Errorf("%d files, %d topics: one is not listed", len(all), len(topics.All()))
	}
	raw, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	all[filepath.Join(root, "README.md")] = strings.ReplaceAll(string(raw), "\r\n", "\n")
	return all
}

var (
	fence  = regexp.MustCompile("(?ms)^```([a-z]*)([^\n]*)\n(.*?)^```")
	inline = regexp.MustCompile("`([^`\n]+)`")
	target = regexp.MustCompile(`\[([^\]]*)\]\(([^)\s]+)\)`)
)

func TestTopicsAreNoCommands(t *testing.T) {
	names := commandNames((&app{&client.Client{}}).tree())
	for _, topic := range topics.All() {
		if slices.Contains(names, topic.Name) && !slices.Contains(topic.Commands, topic.Name) {
			t.Errorf("%s is a command, and a topic about something else", topic.Name)
		}
		if topic.Title == "" || topic.Summary == "" || len(topic.Summary) > 250 || topic.Name == topicsTopic {
			t.Errorf("%s: title %q, summary %q", topic.Name, topic.Title, topic.Summary)
		}
		for _, c := range topic.Commands {
			if found, _, err := (&app{&client.Client{}}).tree().Find([]string{c}); err != nil || !found.HasParent() {
				t.Errorf("%s is about %s, which is no command", topic.Name, c)
			}
		}
	}
}

// TestCommandLinesParse takes every command line of writ in the documents to
// the tree of commands, flags and arguments included.
func TestCommandLinesParse(t *testing.T) {
	checked := 0
	for file, text := range documents(t) {
		for _, block := range fence.FindAllStringSubmatch(text, -1) {
			if block[1] != "sh" && block[1] != "console" {
				continue
			}
			for line := range strings.Lines(block[3]) {
				line = strings.TrimSuffix(strings.TrimSpace(line), "\n")
				if block[1] == "console" && !strings.HasPrefix(line, "$ ") {
					continue
				}
				for _, words := range commands(t, file, strings.TrimPrefix(line, "$ ")) {
					checked++
					if err := known(words, true); err != nil {
						t.Errorf("%s: %s: %v", file, strings.TrimSpace(line), err)
					}
					taughtByItsName(t, file, words)
				}
			}
		}
		for _, code := range inline.FindAllStringSubmatch(fence.ReplaceAllString(text, ""), -1) {
			if !strings.HasPrefix(code[1], "writ ") {
				continue
			}
			for _, words := range commands(t, file, sketch.ReplaceAllString(code[1], " ")) {
				checked++
				if err := known(words, false); err != nil {
					t.Errorf("%s: `%s`: %v", file, code[1], err)
				}
				taughtByItsName(t, file, words)
			}
		}
	}
	if checked < 150 {
		t.Errorf("only %d command lines were found", checked)
	}
}

// taughtByItsName: a topic teaches the name that a command has now, but for what an
// older one alone can do.
func taughtByItsName(t *testing.T, file string, words []string) {
	t.Helper()
	command, _, err := (&app{&client.Client{}}).tree().Find(words)
	if err != nil || filepath.Base(file) == "README.md" || slices.Contains(words, "--profile") {
		return
	}
	for at := command; at != nil; at = at.Parent() {
		if now := client.Now(at); now != "" && now != "--version" {
			t.Errorf("%s: `writ %s` is an older name of `writ %s`", file, strings.Join(words, " "), now)
		}
	}
}

// sketch is what stands for something in a mention of a command.
var sketch = regexp.MustCompile(`…|\||\[[^\]]*\]`)

// commands are the words of every call of writ in a shell's line.
func commands(t *testing.T, file, line string) [][]string {
	t.Helper()
	parsed, err := syntax.NewParser().Parse(strings.NewReader(line), "")
	if err != nil {
		t.Errorf("%s: %s: %v", file, line, err)
		return nil
	}
	var calls [][]string
	syntax.Walk(parsed, func(n syntax.Node) bool {
		call, ok := n.(*syntax.CallExpr)
		if !ok || len(call.Args) == 0 || call.Args[0].Lit() != "writ" {
			return true
		}
		var words []string
		for _, w := range call.Args[1:] {
			text := ""
			for _, part := range w.Parts {
				switch part := part.(type) {
				case *syntax.Lit:
					text += part.Value
				case *syntax.SglQuoted:
					text += part.Value
				case *syntax.DblQuoted:
					for _, inner := range part.Parts {
						if lit, ok := inner.(*syntax.Lit); ok {
							text += lit.Value
						}
					}
				}
			}
			words = append(words, text)
		}
		calls = append(calls, words)
		return true
	})
	return calls
}

// known says why a command line would be refused; whole ones need their
// arguments.
func known(words []string, whole bool) error {
	tree := (&app{&client.Client{}}).tree()
	tree.InitDefaultHelpCmd()
	tree.InitDefaultCompletionCmd()
	command, rest, err := tree.Find(words)
	if err != nil {
		return err
	}
	if command.Name() == "help" && len(rest) == 1 {
		if rest[0] == topicsTopic || strings.ToUpper(rest[0]) == rest[0] {
			return nil
		}
		if _, found := topics.Find(rest[0]); found {
			return nil
		}
		_, _, err := tree.Find(rest)
		return err
	}
	if command.DisableFlagParsing {
		return knownTool(command, rest)
	}
	if err := command.ParseFlags(rest); err != nil {
		if errors.Is(err, pflag.ErrHelp) {
			return nil
		}
		return err
	}
	args := command.Flags().Args()
	if help, err := command.Flags().GetBool("help"); err == nil && help {
		return nil
	}
	if command.HasSubCommands() && len(args) > 0 && command.ValidateArgs(args) != nil {
		if strings.ToUpper(args[0]) == args[0] {
			return nil // writ COMMAND stands for any
		}
		return errors.New("there is no sub-command " + args[0])
	}
	if !whole {
		return nil
	}
	return command.ValidateArgs(args)
}

// knownTool checks the flags of what writd runs by its sources: its flags are
// not linked here.
func knownTool(command *cobra.Command, rest []string) error {
	sources := ""
	for _, folder := range []string{"cmd/writd/tools", "cmd/writ/cli"} {
		files, err := filepath.Glob(filepath.Join(root, folder, "*.go"))
		if err != nil {
			return err
		}
		for _, file := range files {
			raw, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			if !strings.HasSuffix(file, "_test.go") {
				sources += string(raw)
			}
		}
	}
	if len(rest) > 0 && slices.Contains([]string{"benchmark", "model"}, command.Name()) && !strings.Contains(sources, `"`+command.Name()+" "+rest[0]+`"`) {
		return errors.New("there is no tool " + rest[0])
	}
	for _, word := range rest {
		flag, found := strings.CutPrefix(word, "--")
		flag, _, _ = strings.Cut(flag, "=")
		if found && flag != "" && flag != "help" && !strings.Contains(sources, `"`+flag+`"`) && !strings.Contains(sources, `"--`+flag+`"`) {
			return errors.New("there is no flag --" + flag)
		}
	}
	return nil
}

func TestLinksLeadSomewhere(t *testing.T) {
	for file, text := range documents(t) {
		for _, link := range target.FindAllStringSubmatch(text, -1) {
			label, to := link[1], link[2]
			if strings.Contains(to, "://") {
				continue
			}
			if _, err := os.Stat(filepath.Join(filepath.Dir(file), filepath.FromSlash(to))); err != nil {
				t.Errorf("%s: %v", file, err)
			}
			name, found := strings.CutPrefix(strings.Trim(label, "`"), "writ help ")
			if found && name+".md" != filepath.Base(to) {
				t.Errorf("%s: %s leads to %s", file, label, to)
			}
		}
	}
}

// settingLine begins a mention of a setting with its value, settingName is one
// that cannot be another word.
var (
	settingLine = regexp.MustCompile(`^([a-z][a-z_.]*):( |$)`)
	settingName = regexp.MustCompile(`^(([a-z]+\.)+[a-z_]+|[a-z]+(_[a-z]+)+)$`)
)

// otherNames look like settings and are keys of constitutions, events, tools
// and files.
var otherNames = []string{
	"allowed_callees", "denied_callees", "max_depth", "max_tokens", "advance_phase", "write.unapproved", "command.denied", "log.restored", "log.moved", "streams.moved", "records.lost", "os.path.join",
	"grafana.json", "alerts.yaml", "config.yaml", "verbs.yaml", "memory.keys", "memory.keys.restore", "backups.json", "findings.md", "plan.md", "capabilities.md", "queries.jsonl", "daemon.lock", "start.lock", "package.json", "composer.json",
	"rule.proposed", "save_memory", "install.sh",
}

// busNames are what the topic of the bus names of NATS and of the services.
var busNames = regexp.MustCompile(`^(writ\.svc\.[a-z.]+|metadata\.[a-z]+|data_dir|bad_request|not_found|not_ready|by_start_sequence|(ack|deliver)_(policy|subject)|inactive_threshold)`)

func TestSettingsThatAreNamedExist(t *testing.T) {
	topic, _ := topics.Find("settings")
	exists := map[string]bool{}
	for _, line := range regexp.MustCompile("(?m)^- `([^`]+)`").FindAllStringSubmatch(topic.Text, -1) {
		exists[line[1]] = true
	}
	for file, text := range documents(t) {
		if filepath.Base(file) == "reference.md" {
			continue // subjects and types alone, and made from the program
		}
		for _, code := range inline.FindAllStringSubmatch(fence.ReplaceAllString(text, ""), -1) {
			if filepath.Base(file) == "bus.md" && busNames.MatchString(code[1]) {
				continue
			}
			name := ""
			if m := settingLine.FindStringSubmatch(code[1]); m != nil {
				name = m[1]
			} else if settingName.MatchString(code[1]) && !slices.Contains(otherNames, code[1]) && !strings.HasSuffix(code[1], ".md") {
				name = code[1]
			}
			if name != "" && !exists[name] {
				t.Errorf("%s: `%s`: there is no setting %s", file, code[1], name)
			}
		}
		for _, block := range fence.FindAllStringSubmatch(text, -1) {
			if block[1] != "yaml" {
				continue
			}
			if err := loads(t, strings.TrimSpace(block[2]), block[3]); err != nil {
				t.Errorf("%s: %v\n%s", file, err, block[3])
			}
		}
	}
}

// loads reads an example of a settings file as the program would.
func loads(t *testing.T, kind, content string) error {
	t.Helper()
	dir := t.TempDir()
	put := func(name string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	switch kind {
	case "config":
		put("config.yaml")
		_, err := config.Load(dir)
		return err
	case "project":
		_, err := config.ReadPolicy(put("project.yaml"))
		return err
	case "verbs":
		put("verbs.yaml")
		return config.LoadVerbs(dir, &outside.Settings{})
	}
	return errors.New("the fence does not say which file it is: config, project or verbs")
}

// account is no variable: the bus names its clients' account so.
const account = "WRIT_CLIENTS"

// TestVariablesAreDocumented holds the environment's page to the sources, both
// ways.
func TestVariablesAreDocumented(t *testing.T) {
	name := regexp.MustCompile(`\bWRIT(?:D\b|_[A-Z][A-Z0-9_]*[A-Z0-9])`)
	documented := map[string]bool{}
	for file, text := range documents(t) {
		for _, v := range name.FindAllString(text, -1) {
			documented[v] = true
			if strings.HasPrefix(v, "WRIT_TEST_") || strings.HasSuffix(file, "README.md") {
				continue
			}
			if !strings.Contains(sources(t), `"`+v+`"`) && !strings.Contains(sources(t), `"`+v+`=`) {
				t.Errorf("%s: the program knows no %s", file, v)
			}
		}
	}
	for _, quoted := range regexp.MustCompile(`"WRIT(D|_[A-Z0-9_]*[A-Z0-9])"`).FindAllString(sources(t), -1) {
		if v := strings.Trim(quoted, `"`); !documented[v] && v != account {
			t.Errorf("%s is in no topic", v)
		}
	}
}

// TestTroublesAreReal holds the errors that are explained to the texts that the
// program prints.
func TestTroublesAreReal(t *testing.T) {
	topic, _ := topics.Find("troubleshooting")
	headings := regexp.MustCompile(`(?m)^### "(.+)"`).FindAllStringSubmatch(topic.Text, -1)
	if len(headings) < 8 {
		t.Errorf("only %d errors are explained", len(headings))
	}
	for _, h := range headings {
		for _, part := range strings.Split(h[1], "…") {
			part = strings.Trim(part, " .,")
			if !strings.Contains(sources(t), part) {
				t.Errorf("no part of the program says %q", part)
			}
		}
	}
	for _, id := range regexp.MustCompile(`\bENF-[A-Z-]+\b`).FindAllString(topic.Text, -1) {
		if !strings.Contains(sources(t), `"`+id+`"`) {
			t.Errorf("there is no rule %s", id)
		}
	}
}

var sourceText string

// sources is the text of all Go files that are no tests.
func sources(t *testing.T) string {
	t.Helper()
	if sourceText != "" {
		return sourceText
	}
	var all strings.Builder
	for _, folder := range []string{"bus", "cmd", "enforcement", "observer", "projections", "retrieval", "schemas"} {
		err := filepath.WalkDir(filepath.Join(root, folder), func(path string, entry fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if entry.IsDir() && entry.Name() == "testdata" {
				return filepath.SkipDir
			}
			if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return nil
			}
			raw, err := os.ReadFile(path)
			all.Write(raw)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	sourceText = all.String()
	return sourceText
}
