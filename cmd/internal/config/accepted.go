package config

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/writbus/writ/enforcement/confine"
	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/schemas/digest"
)

// Accepted is what persons accepted of projects' settings, by the folder of the
// project and by its place in its repository, so that branches and work trees
// share it.
type Accepted struct{ by map[string]acceptance }

type acceptance struct {
	digests map[string]bool
	latest  Project
}

// EvolveAccepted folds an acceptance in.
func EvolveAccepted(s Accepted, e schemas.Event) Accepted {
	p, ok := e.Data.(schemas.SettingsAccepted)
	if !ok {
		return s
	}
	settings := meant(p.Settings)
	next := maps.Clone(s.by)
	if next == nil {
		next = map[string]acceptance{}
	}
	for _, key := range []string{p.Project, p.Repository} {
		if key == "" {
			continue
		}
		digests := maps.Clone(next[key].digests)
		if digests == nil {
			digests = map[string]bool{}
		}
		digests[p.Digest] = true
		next[key] = acceptance{digests, settings}
	}
	return Accepted{next}
}

// Ruling is what rules a project.
type Ruling struct {
	Project
	// Waits are the differences of the file that loosen what was accepted, "key:
	// was → is": they wait for a person.
	Waits []string
	// Entry is the acceptance of the file as it stands.
	Entry schemas.SettingsAccepted
	// First says that nothing was accepted of the project or around it, so that
	// what stands there is taken as accepted.
	First bool
}

// Rule says what rules the project of a root whose file says this. Where the file
// cannot be understood, fault, what was accepted goes on ruling.
func (s Accepted) Rule(root string, file Project, fault error) Ruling {
	place := SettingsRoot(root)
	if real, err := filepath.EvalSymlinks(place); err == nil {
		place = real
	}
	r := Ruling{Project: file, Entry: schemas.SettingsAccepted{Project: place, Repository: inRepository(place), Settings: meaning(file)}}
	r.Entry.Digest = digest.Hex(encoded(r.Entry.Settings))
	was, known := s.by[place]
	if shared, too := s.by[r.Entry.Repository]; too {
		if !known {
			was = shared
		}
		if known = true; fault == nil && shared.digests[r.Entry.Digest] {
			return r
		}
	}
	for dir := place; !known && dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		// Settings in a folder of a project may be its agent's.
		if was, known = s.by[filepath.Dir(dir)]; known {
			was.digests = nil
		}
	}
	switch {
	case !known:
		r.First = fault == nil && hasProjectFile(place)
	case fault != nil:
		r.Project = was.latest
	case !was.digests[r.Entry.Digest]:
		r.Project, r.Waits = tightened(was.latest, file)
	}
	return r
}

// inRepository names a folder by its place in its repository, "" where it is in
// none.
func inRepository(place string) string {
	tree, found := findAbove(func(dir string) bool {
		_, err := os.Lstat(filepath.Join(dir, ".git"))
		return err == nil
	})(place)
	if !found {
		return ""
	}
	common := filepath.Join(tree, ".git")
	if folders := confine.GitFolders(tree); len(folders) > 0 {
		common = folders[len(folders)-1]
	}
	below, err := filepath.Rel(tree, place)
	if err != nil {
		return ""
	}
	return common + "//" + filepath.ToSlash(below)
}

// meaning are the settings that are not the defaults, by the names of their
// fields, sorted. The form and the names are persisted; never change.
func meaning(p Project) map[string]string {
	said := map[string]string{}
	is, def := reflect.ValueOf(p), reflect.ValueOf(DefaultProject())
	for i := range is.NumField() {
		value := is.Field(i).Interface()
		if list, ok := value.([]string); ok {
			value = slices.Compact(slices.Sorted(slices.Values(list)))
		}
		if !same(value, def.Field(i).Interface()) {
			said[is.Type().Field(i).Name] = string(encoded(value))
		}
	}
	return said
}

func encoded(value any) []byte {
	raw, err := json.Marshal(value)
	if err != nil {
		panic("config: settings are no JSON: " + err.Error()) // of strings and numbers alone
	}
	return raw
}

// same takes what is empty for what is not there.
func same(a, b any) bool {
	empty := func(v reflect.Value) bool {
		return (v.Kind() == reflect.Slice || v.Kind() == reflect.Map) && v.Len() == 0
	}
	return reflect.DeepEqual(a, b) || empty(reflect.ValueOf(a)) && empty(reflect.ValueOf(b))
}

// meant reads what meaning wrote. What this program cannot read rules nothing.
func meant(said map[string]string) Project {
	p := DefaultProject()
	for name, value := range said {
		if field := reflect.ValueOf(&p).Elem().FieldByName(name); field.IsValid() {
			was := reflect.New(field.Type())
			if json.Unmarshal([]byte(value), was.Interface()) == nil {
				field.Set(was.Elem())
			}
		}
	}
	return p
}

// tightens says, by the key of a setting, whether another value asks no less of an
// agent. What is not named here is taken for asking less.
var tightens = map[string]func(was, is Project) bool{
	"mode":              func(_, is Project) bool { return is.Mode == "work" },
	"fail":              func(_, is Project) bool { return is.Fail == "closed" },
	"deny_to_ask":       func(_, is Project) bool { return !is.DenyToAsk },
	"subagents":         func(_, is Project) bool { return is.Subagents == "inherit" },
	"unsourced_prompts": func(_, is Project) bool { return is.UnsourcedPrompts == "refuse" },
	"approval": func(was, is Project) bool {
		return slices.Index(Approvals, is.Approval) > slices.Index(Approvals, was.Approval)
	},
	"mcp_writers":      func(was, is Project) bool { return contains(is.MCPWriters, was.MCPWriters) },
	"budget_tokens":    func(was, is Project) bool { return is.BudgetTokens > was.BudgetTokens },
	"tests":            func(_, is Project) bool { return is.Tests == "on" },
	"test_timeout":     func(was, is Project) bool { return is.TestTimeout > was.TestTimeout },
	"test_wait":        func(was, is Project) bool { return is.TestWait > was.TestWait },
	"advance_on_green": func(_, is Project) bool { return !is.AdvanceOnGreen },
	"small_lines":      func(was, is Project) bool { return is.SmallLines < was.SmallLines },
	"require_work":     func(_, is Project) bool { return is.RequireWork },
	"approval_phrases": func(was, is Project) bool { return contains(was.ApprovalPhrases, is.ApprovalPhrases) },
	// These change what an agent is told, and open nothing.
	"memory":                 func(_, _ Project) bool { return true },
	"auto_retrieve_on_start": func(_, _ Project) bool { return true },
	"strategies":             func(_, _ Project) bool { return true },
	"agent_strategies":       func(_, _ Project) bool { return true },
}

func contains(all, some []string) bool {
	return !slices.ContainsFunc(some, func(one string) bool { return !slices.Contains(all, one) })
}

// tightened is what a file says, with what loosens as it was.
func tightened(was, is Project) (ruling Project, waits []string) {
	ruling = is
	to, from, file := reflect.ValueOf(&ruling).Elem(), reflect.ValueOf(was), reflect.ValueOf(is)
	for i := range to.NumField() {
		key := to.Type().Field(i).Tag.Get("yaml")
		if same(from.Field(i).Interface(), file.Field(i).Interface()) || tightens[key] != nil && tightens[key](was, is) {
			continue
		}
		to.Field(i).Set(from.Field(i))
		waits = append(waits, key+": "+shownValue(from.Field(i))+" → "+shownValue(file.Field(i)))
	}
	return ruling, waits
}

func shownValue(v reflect.Value) string {
	if text := strings.TrimSpace(fmt.Sprint(v.Interface())); text != "" {
		return text
	}
	return "(none)"
}
