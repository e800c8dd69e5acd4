package config

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/writbus/writ/observer/agent/verbs/outside"
)

var update = flag.Bool("update", false, "write settings.md")

const head = `# Settings

Every setting with its default and its meaning, made from the program's own source: the daemon's file, a project's file, and the file of what agents' verbs reach.

An unknown key is an error that names file and line. The daemon reads its files when it starts: after a change, ` + "`writ down`" + `, and ` + "`writ up --detach`" + ` or the next hook starts it. A project's file counts from the next hook on, but for what asks less of agents than what you accepted: that waits, however it came there, until you accept it with ` + "`writ approve settings`" + ` at a terminal of your own.

Durations are written as ` + "`500ms`, `90s`, `2m`" + `. This page is written by ` + "`go test ./cmd/internal/config -update`" + `.
`

// comments maps "Type.Field" to what the source says of it.
func comments(t *testing.T, dirs ...string) map[string]string {
	t.Helper()
	said := map[string]string{}
	for _, dir := range dirs {
		files, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			if !strings.HasSuffix(f.Name(), ".go") || strings.HasSuffix(f.Name(), "_test.go") {
				continue
			}
			parsed, err := parser.ParseFile(token.NewFileSet(), dir+"/"+f.Name(), nil, parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(parsed, func(n ast.Node) bool {
				spec, ok := n.(*ast.TypeSpec)
				if !ok {
					return true
				}
				if s, ok := spec.Type.(*ast.StructType); ok {
					for _, field := range s.Fields.List {
						for _, name := range field.Names {
							said[spec.Name.Name+"."+name.Name] = strings.Join(strings.Fields(field.Doc.Text()+field.Comment.Text()), " ")
						}
					}
				}
				return false
			})
		}
	}
	return said
}

// describe lists the settings of a struct, those below it too.
func describe(t *testing.T, out *strings.Builder, said map[string]string, v reflect.Value, prefix string) {
	for i := range v.NumField() {
		field := v.Type().Field(i)
		key, _, _ := strings.Cut(field.Tag.Get("yaml"), ",")
		if key == "" || key == "-" {
			continue
		}
		about := said[v.Type().Name()+"."+field.Name]
		if about == "" {
			t.Errorf("%s.%s has no comment", v.Type().Name(), field.Name)
		}
		fmt.Fprintf(out, "- `%s%s`%s – %s\n", prefix, key, standard(v.Field(i)), sentence(about, field.Name, key))
		below := field.Type
		inner := prefix + key + "."
		if below.Kind() == reflect.Map && below.Elem().Kind() == reflect.Struct {
			describe(t, out, said, reflect.New(below.Elem()).Elem(), inner+"NAME.")
		}
		if below.Kind() == reflect.Struct && below != reflect.TypeFor[time.Time]() {
			describe(t, out, said, v.Field(i), inner)
		}
	}
}

// standard is a setting's default as YAML, in brackets; nothing where there is
// none.
func standard(v reflect.Value) string {
	if d, ok := v.Interface().(time.Duration); ok {
		if d == 0 {
			return ""
		}
		text := d.String()
		for _, zero := range []string{"m0s", "h0m"} {
			if strings.HasSuffix(text, zero) {
				text = strings.TrimSuffix(text, zero[1:])
			}
		}
		return " (`" + text + "`)"
	}
	switch v.Kind() {
	case reflect.String, reflect.Int, reflect.Int64, reflect.Float64:
		if v.IsZero() {
			return ""
		}
		return fmt.Sprintf(" (`%v`)", v)
	case reflect.Bool:
		return fmt.Sprintf(" (`%v`)", v)
	default: // lists, maps and groups have none of their own
	}
	return ""
}

// sentence is a comment as a reader of settings understands it: without the
// field's name, and with a full stop.
func sentence(comment, field, key string) string {
	for _, form := range []string{" is ", " are ", " says ", " say ", " connects ", " bounds ", " bound ", " turns ", " turn ", " overrides ", " lets ", " runs ", " change "} {
		if rest, found := strings.CutPrefix(comment, field+form); found {
			switch form {
			case " is ", " are ":
				comment = rest
			case " says ", " say ":
				comment = strings.TrimPrefix(rest, "that ")
			default:
				comment = strings.TrimSpace(form) + " " + rest
			}
			break
		}
	}
	if comment == "" {
		return ""
	}
	comment = strings.TrimSuffix(comment, ".")
	if second := comment[1:2]; second == strings.ToLower(second) {
		comment = strings.ToLower(comment[:1]) + comment[1:]
	}
	return comment + "."
}

func document(t *testing.T) string {
	var out strings.Builder
	said := comments(t, ".", "../../../retrieval/artifact/strategy", "../../../enforcement/dialect", "../../../observer/observation", "../../../bus",
		"../../../observer/agent/verbs/outside", "../../../observer/agent/verbs/federation")
	out.WriteString(head)
	out.WriteString("\n## config.yaml in the data directory\n\n[`writ help files`](files.md) says where that is.\n\n")
	describe(t, &out, said, reflect.ValueOf(DefaultSettings()), "")
	out.WriteString("\n## .writ/config.yaml in a project\n\nNo agent can write it. [`writ help gates`](../../../../enforcement/help/gates.md) explains what most of it is about.\n\n")
	describe(t, &out, said, reflect.ValueOf(DefaultProject()), "")
	out.WriteString("\n## verbs.yaml in the data directory\n\n[`writ help agents`](../../../../observer/agent/vocabulary/help/agents.md) has an example.\n\n")
	describe(t, &out, said, reflect.ValueOf(outside.Settings{}), "")
	return out.String()
}

func TestSettingsAreThoseOfTheProgram(t *testing.T) {
	want := document(t)
	if *update {
		if err := os.WriteFile("help/settings.md", []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	committed, err := os.ReadFile("help/settings.md")
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.ReplaceAll(string(committed), "\r\n", "\n"); got != want {
		t.Errorf("settings.md does not say what the source says; go test ./cmd/internal/config -update writes it")
	}
	// What is a name of the source alone helps nobody.
	if odd := regexp.MustCompile(`\b(MaxTestTimeout|ErrSettings|DIALECT)\b|<`).FindAllString(want, -1); len(odd) > 0 {
		t.Errorf("a setting's comment names %q", odd)
	}
}
