package settings

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

const program = "/opt/writ/bin/writ"

// underTest are a host with matcher groups and one with plain lists.
var underTest = map[string]Host{
	"nested": {
		Agent: "claude", Nested: true, TimeoutKey: "timeout",
		Handler: func(event, program string) any {
			return map[string]any{"type": "command", "command": program, "args": []string{"hook", "claude", event}, "timeout": 10}
		},
		Hooks: []Wanted{{"PreToolUse", "Bash|Write"}, {"PostToolUse", ""}, {"Stop", ""}, {"SessionStart", ""}, {"SessionEnd", ""}, {"Notification", ""}},
	},
	"flat": {
		Agent: "cursor", TimeoutKey: "timeout", Base: []Key{{"version", 1}},
		Handler: func(event, program string) any {
			return map[string]any{"type": "command", "command": CommandLine(program, "cursor", event), "timeout": 10}
		},
		Hooks: []Wanted{{"PreToolUse", ""}, {"Stop", ""}, {"SessionStart", ""}, {"SessionEnd", ""}},
	},
}

func eachHost(t *testing.T, f func(t *testing.T, h Host)) {
	for name, h := range underTest {
		t.Run(name, func(t *testing.T) { f(t, h) })
	}
}

var settingsFiles = map[string]string{
	"nothing":            "",
	"empty object":       "{}",
	"empty object, line": "{}\n",
	"compact":            `{"model":"opus","hooks":{"Stop":[{"hooks":[{"type":"command","command":"say done"}]}]}}`,
	"one line, spaced":   `{"model": "opus", "hooks": {"Stop": []}}`,
	"two spaces":         "{\n  \"model\": \"opus\",\n  \"permissions\": {\n    \"deny\": [\n      \"Read(.env)\"\n    ]\n  }\n}\n",
	"four spaces":        "{\n    \"model\": \"opus\"\n}\n",
	"tabs":               "{\n\t\"model\": \"opus\",\n\t\"hooks\": {\n\t\t\"PreToolUse\": [\n\t\t\t{\n\t\t\t\t\"matcher\": \"Bash\",\n\t\t\t\t\"hooks\": [\n\t\t\t\t\t{\"type\": \"command\", \"command\": \"./check.sh\"}\n\t\t\t\t]\n\t\t\t}\n\t\t]\n\t}\n}\n",
	"windows line ends":  "{\r\n  \"model\": \"opus\",\r\n  \"hooks\": {}\r\n}\r\n",
	"byte order mark":    "\xef\xbb\xbf{\n  \"model\": \"opus\"\n}",
	"no line end":        "{\n  \"a\": 1\n}",
	"hooks first":        "{\n  \"hooks\": {\n    \"PreToolUse\": [],\n    \"SessionEnd\": [ {\"hooks\": [ {\"type\": \"http\", \"url\": \"http://localhost\"} ]} ]\n  },\n  \"zeta\": [1, 2,\n    3],\n  \"alpha\": null\n}\n",
	"unknown keys":       "{\n  \"$schema\": \"https://json.schemastore.org/claude-code-settings.json\",\n  \"futureThing\": {\"a\": [true, 1e9, \"\\u00e9\\\"\"]},\n  \"hooks\": {\"Brandnew\": [{\"x\": 1}], \"Stop\": [{\"hooks\": \"odd\"}, 7, null]}\n}\n",
	"odd spacing":        "\n\n {  \"a\" :1 ,\n\n\"hooks\":\t{ \"Stop\" :[ {\"matcher\":\"x\" } ] }  }\n\n",
	"another program":    `{"hooks":{"PreToolUse":[{"hooks":[{"type":"command","command":"/x/writer","args":["hook","claude"]},{"type":"command","command":"rewrite hook claude"}]}]}}`,
	"the same key twice": `{"hooks":{},"hooks":{"Stop":[{"hooks":[]}]}}`,
	"escaped keys":       `{"h\u006foks":{"St\u006fp":[]}}`,
	"braces in strings":  "{\n  \"a\": \"}{][\\\\\",\n  \"b\": \"\\\"\"\n}\n",
	"a user's long file": "{\n" + strings.Repeat("  \"k\": {\"v\": [1, 2, 3]},\n", 500) + "  \"end\": true\n}\n",
}

func TestMergeThenRemoveGivesTheSameBytes(t *testing.T) {
	eachHost(t, func(t *testing.T, h Host) {
		for name, settings := range settingsFiles {
			t.Run(name, func(t *testing.T) { h.checkRoundTrip(t, []byte(settings)) })
		}
	})
}

func TestHooksForOtherToolsAreOutdated(t *testing.T) {
	h := underTest["nested"]
	for settings, want := range map[string]string{
		`{}`: "",
		`{"hooks":{"PreToolUse":[{"matcher":"Bash|Write","hooks":[HOOK]}]}}`:                                         "",
		`{"hooks":{"PreToolUse":[{"matcher":"Bash","hooks":[HOOK]}],"Stop":[{"hooks":[HOOK]}]}}`:                     "PreToolUse",
		`{"hooks":{"PreToolUse":[{"matcher":"Bash","hooks":[HOOK]},{"matcher":"Bash|Write","hooks":[HOOK]}]}}`:       "",
		`{"hooks":{"PreToolUse":[{"hooks":[HOOK]}],"PostToolUse":[{"matcher":"Write","hooks":[HOOK]}]}}`:             "PreToolUse PostToolUse",
		`{"hooks":{"PreToolUse":[{"matcher":"Bash","hooks":[{"type":"command","command":"/x/writer","args":[]}]}]}}`: "",
	} {
		settings = strings.ReplaceAll(settings, "HOOK", `{"type":"command","command":"writ","args":["hook","claude","E"]}`)
		outdated, err := h.Outdated([]byte(settings))
		if got := strings.Join(outdated, " "); err != nil || got != want {
			t.Errorf("%s: %q, %v, want %q", settings, got, err, want)
		}
	}
	if _, err := h.Outdated([]byte(`{"hooks":7}`)); err == nil {
		t.Error("hooks that are none were read")
	}
}

// fataler is what *testing.T and *rapid.T share.
type fataler interface {
	Fatalf(format string, args ...any)
	Helper()
}

// checkRoundTrip holds for all settings Merge accepts and whose empty lists
// and objects hold no white space.
func (h Host) checkRoundTrip(t fataler, settings []byte) {
	t.Helper()
	merged, err := h.Merge(settings, program)
	if err != nil {
		t.Fatalf("merge: %v", err)
	}
	h.checkMerged(t, settings, merged)
	removed, err := h.Remove(merged, settings)
	if err != nil {
		t.Fatalf("remove: %v", err)
	}
	if len(bytes.TrimSpace(settings)) == 0 {
		if !Empty(removed) {
			t.Fatalf("left over: %s", removed)
		}
		return
	}
	if !bytes.Equal(removed, settings) {
		t.Fatalf("not the same bytes:\n%q\n%q\nmerged:\n%s", settings, removed, merged)
	}
}

func (h Host) checkMerged(t fataler, settings, merged []byte) {
	t.Helper()
	again, err := h.Merge(merged, program)
	if err != nil || !bytes.Equal(again, merged) {
		t.Fatalf("a second merge changes something (%v):\n%s\n%s", err, merged, again)
	}
	hooks, err := h.Installed(merged)
	if err != nil {
		t.Fatalf("installed: %v", err)
	}
	for _, w := range h.Hooks {
		want := Hook{w.Event, w.Matcher, CommandLine(program, h.Agent, w.Event), nil}
		if h.Nested {
			want.Command, want.Args = program, []string{"hook", h.Agent, w.Event}
		}
		if n := count(hooks, want); n != 1 {
			t.Fatalf("%s is there %d times: %+v", w.Event, n, hooks)
		}
	}
	if len(hooks) != len(h.Hooks) {
		t.Fatalf("%d hooks, want %d", len(hooks), len(h.Hooks))
	}
	if windows := bytes.Count(settings, []byte("\r\n")); windows > 0 && windows == bytes.Count(settings, []byte("\n")) && bytes.Count(merged, []byte("\n")) != bytes.Count(merged, []byte("\r\n")) {
		t.Fatalf("line ends are mixed: %q", merged)
	}
	if len(bytes.TrimSpace(settings)) > 0 && !isSubsequence(compactText(settings), compactText(merged)) {
		t.Fatalf("something of the user's is gone:\n%s\n%s", settings, merged)
	}
}

func count(hooks []Hook, want Hook) int {
	n := 0
	for _, hook := range hooks {
		if reflect.DeepEqual(hook, want) {
			n++
		}
	}
	return n
}

func compactText(text []byte) []byte {
	return bytes.Join(bytes.Fields(bytes.TrimPrefix(text, byteOrderMark)), nil)
}

// isSubsequence says whether all of part is in whole, in its order.
func isSubsequence(part, whole []byte) bool {
	for _, c := range whole {
		if len(part) > 0 && part[0] == c {
			part = part[1:]
		}
	}
	return len(part) == 0
}

// genValue makes any JSON value.
func genValue(depth int) *rapid.Generator[any] {
	leaves := []*rapid.Generator[any]{
		rapid.Just[any](nil), rapid.Bool().AsAny(), rapid.Int32().AsAny(), rapid.StringMatching(`[a-z{}\[\]", \\:é]{0,8}`).AsAny(),
	}
	if depth > 0 {
		leaves = append(leaves,
			rapid.SliceOfN(genValue(depth-1), 0, 3).AsAny(),
			rapid.MapOfN(rapid.StringMatching(`[a-z."]{1,5}`), genValue(depth-1), 0, 3).AsAny())
	}
	return rapid.OneOf(leaves...)
}

// genSettings makes settings with hooks of somebody else's, laid out in some
// way.
func genSettings() *rapid.Generator[[]byte] {
	return rapid.Custom(func(t *rapid.T) []byte {
		settings := rapid.MapOfN(rapid.StringMatching(`[a-g]{1,6}`), genValue(3), 0, 4).Draw(t, "keys")
		if rapid.Bool().Draw(t, "hooks") {
			events := map[string]any{}
			for _, event := range rapid.SliceOfN(rapid.SampledFrom([]string{"PreToolUse", "Stop", "SessionEnd", "Notification", "FileChanged"}), 0, 4).Draw(t, "events") {
				events[event] = rapid.SliceOfN(genValue(3), 0, 3).Draw(t, event)
			}
			settings["hooks"] = events
		}
		indent := rapid.SampledFrom([]string{"", "  ", "    ", "\t", " "}).Draw(t, "indent")
		raw, err := json.Marshal(settings)
		if indent != "" {
			raw, err = json.MarshalIndent(settings, "", indent)
		}
		if err != nil {
			t.Fatal(err)
		}
		if rapid.Bool().Draw(t, "windows") {
			raw = bytes.ReplaceAll(raw, []byte("\n"), []byte("\r\n"))
		}
		if rapid.Bool().Draw(t, "mark") {
			raw = append(slices.Clone(byteOrderMark), raw...)
		}
		return append(raw, rapid.SampledFrom([]string{"", "\n", "\n\n", "  "}).Draw(t, "end")...)
	})
}

func TestMergeOfRandomSettings(t *testing.T) {
	eachHost(t, func(t *testing.T, h Host) {
		rapid.Check(t, func(t *rapid.T) { h.checkRoundTrip(t, genSettings().Draw(t, "settings")) })
	})
}

// What the user adds after an installation stays when it is taken out.
func TestRemoveKeepsWhatCameAfter(t *testing.T) {
	h := underTest["nested"]
	const mine = `{"type":"command","command":"mine"}`
	for name, settings := range settingsFiles {
		if len(strings.TrimSpace(settings)) == 0 {
			continue
		}
		t.Run(name, func(t *testing.T) {
			merged, err := h.Merge([]byte(settings), program)
			if err != nil {
				t.Fatal(err)
			}
			// A handler in Writ's own group, and a group before it.
			d, _ := Host{}.parse(merged)
			o := h.ownIn(d, "PreToolUse")[0]
			list := d.root.member("hooks").member("PreToolUse")
			edited := d.add(list.children[o.entry].member("hooks"), "", json.RawMessage(mine))
			edited = edited.add(edited.root.member("hooks").member("SessionStart"), "", json.RawMessage(`{"hooks":[`+mine+`]}`))
			rest, err := h.Remove(edited.text, []byte(settings))
			if err != nil {
				t.Fatal(err)
			}
			if hooks, err := h.Installed(rest); err != nil || len(hooks) > 0 {
				t.Fatalf("left over: %v %v\n%s", hooks, err, rest)
			}
			if n := strings.Count(string(rest), `"mine"`); n != 2 {
				t.Fatalf("the user's hooks are there %d times:\n%s", n, rest)
			}
		})
	}
}

func TestMergeReplacesAnotherVersionOfItself(t *testing.T) {
	h := underTest["nested"]
	old, err := h.Merge([]byte(settingsFiles["tabs"]), "/old/place/writ")
	if err != nil {
		t.Fatal(err)
	}
	// An event that this version does not answer, and a shell's command line.
	old = bytes.Replace(old, []byte(`"hooks": {`), []byte(`"hooks": {"FileChanged": [{"hooks": [{"type":"command","command":"\"/old/writ\" hook claude FileChanged"}]}],`), 1)
	merged, err := h.Merge(old, program)
	if err != nil {
		t.Fatal(err)
	}
	h.checkMerged(t, []byte(settingsFiles["tabs"]), merged)
	if bytes.Contains(merged, []byte("/old/")) || bytes.Contains(merged, []byte("FileChanged")) {
		t.Errorf("the old hooks are still there:\n%s", merged)
	}
}

func TestALongerTimeoutIsTheUsersChoice(t *testing.T) {
	h := underTest["nested"]
	merged, _ := h.Merge(nil, program)
	longer := bytes.ReplaceAll(merged, []byte(`"timeout": 10`), []byte(`"timeout": 60`))
	if again, err := h.Merge(longer, program); err != nil || !bytes.Equal(again, longer) {
		t.Errorf("it was changed: %v\n%s", err, again)
	}
	shorter := bytes.ReplaceAll(merged, []byte(`"timeout": 10`), []byte(`"timeout": 1`))
	if again, err := h.Merge(shorter, program); err != nil || !bytes.Equal(again, merged) {
		t.Errorf("a timeout that would let writes pass stays: %v\n%s", err, again)
	}
}

func TestSettingsThatCannotBeMerged(t *testing.T) {
	h := underTest["nested"]
	for name, c := range map[string]struct {
		settings string
		is       error
		says     string
	}{
		"cut off":          {"{\n  \"a\": 1,\n", ErrSyntax, "line 2, column 10: unexpected end"},
		"comma at the end": {"{\n  \"a\": 1,\n}\n", ErrSyntax, "line 3, column 1"},
		"line comment":     {"{\n  // mine\n  \"a\": 1\n}", ErrSyntax, "line 2, column 3 begins a comment"},
		"block comment":    {"/* mine */ {}", ErrSyntax, "line 1, column 1 begins a comment"},
		"open comment":     {"{}\n/* mine", ErrSyntax, "line 2, column 1 begins a comment"},
		"all a comment":    {"{\n  /* \"a\": 1\n}\n", ErrSyntax, "line 2, column 3 begins a comment that does not end"},
		"two values":       {"{} {}", ErrSyntax, "line 1, column 4"},
		"a list":           {"[]", ErrShape, "not an object"},
		"a word":           {"null", ErrShape, "not an object"},
		"hooks a list":     {"{\n\"hooks\": []}", ErrShape, `line 2: "hooks" is not an object`},
		"an event a word":  {"{\"hooks\": {\n\"Stop\": true}}", ErrShape, "line 2: the hooks of Stop are not a list"},
	} {
		for _, edit := range []func() ([]byte, error){
			func() ([]byte, error) { return h.Merge([]byte(c.settings), program) },
			func() ([]byte, error) { return h.Remove([]byte(c.settings), nil) },
		} {
			if _, err := edit(); !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

// TestCommentsComeBackByteForByte: what was laid out by hand is so again.
func TestCommentsComeBackByteForByte(t *testing.T) {
	h := underTest["nested"]
	h.Comments = true
	for _, was := range []string{
		"{ // nothing\n}\n",
		"{\n  // nothing yet\n}\n",
		"{\n  \"hooks\": {\n    // none yet\n  }\n}\n",
		"{\r\n\t\"hooks\": {\r\n\t\t\"PreToolUse\": [\r\n\t\t\t// none yet\r\n\t\t]\r\n\t},\r\n\t\"z\": 1 // end\r\n}\r\n",
		"{\n  \"hooks\" /* k */ : /* v */ {} // h\n}\n",
		"{\n  \"a\": \"\\\"// no\", // yes\n  // \"b\": 2,\n  \"c\": 3\n  /* \"d\": 4 */\n}\n// after all\n",
		"{\"a\":1// x\n}",
		"{\n  \"a\": 1\n}\n/* the end\n",
	} {
		merged, err := h.Merge([]byte(was), program)
		is, removed := h.Remove(merged, []byte(was))
		if err := errors.Join(err, removed); err != nil || string(is) != was {
			t.Errorf("%v\nis  %q\nwas %q", err, is, was)
		}
	}
}

// TestCommentsStay: where an agent reads comments, they stand wherever they stood, with
// Writ's hooks and after them.
func TestCommentsStay(t *testing.T) {
	h, tried := underTest["nested"], 0
	h.Comments = true
	for name, text := range settingsFiles {
		for at := 0; at < min(len(text), 200); at += 17 {
			for _, remark := range []string{"/* , \" } */", "// , \" }\n"} {
				settings := []byte(text[:at] + remark + text[at:])
				if d, err := parse(settings); err != nil || d.commented() < 0 {
					continue // a place within a value
				}
				tried++
				merged, err := h.Merge(settings, program)
				missing, missed := h.Missing(merged)
				back, removed := h.Remove(merged, settings)
				if err := errors.Join(err, missed, removed); err != nil || len(missing) > 0 {
					t.Fatalf("%s, at %d: %v, without %q\n%s", name, at, err, missing, merged)
				}
				for _, now := range [][]byte{merged, back} {
					if !bytes.Contains(now, []byte(strings.TrimSpace(remark))) {
						t.Fatalf("%s, at %d: the comment is gone from\n%s", name, at, now)
					}
				}
				if is, was := decoded(t, Plain(back)), decoded(t, Plain(settings)); !reflect.DeepEqual(is, was) {
					t.Fatalf("%s, at %d: %v was %v", name, at, is, was)
				}
			}
		}
	}
	if tried < 40 {
		t.Errorf("only %d places tried", tried)
	}
}

// TestACommentStaysBesideItsValue: what is remarked behind a value is not moved.
func TestACommentStaysBesideItsValue(t *testing.T) {
	h := underTest["flat"]
	h.Comments = true
	text := "{\n  // mine\n  \"ui\": {\"hideTips\": true} // tips\n}\n"
	merged, err := h.Merge([]byte(text), program)
	if err != nil || !bytes.HasPrefix(merged, []byte("{\n  // mine\n  \"ui\": {\"hideTips\": true}, // tips\n  \"version\": 1,\n  \"hooks\": {\n")) {
		t.Errorf("%v\n%s", err, merged)
	}
	if back, err := h.Remove(merged, []byte(text)); err != nil || string(back) != text {
		t.Errorf("%v\n%s", err, back)
	}
}

func decoded(t *testing.T, text []byte) (value any) {
	t.Helper()
	if text = bytes.TrimPrefix(text, byteOrderMark); len(bytes.TrimSpace(text)) > 0 {
		if err := json.Unmarshal(text, &value); err != nil {
			t.Fatalf("%v:\n%s", err, text)
		}
	}
	return value
}

func FuzzMerge(f *testing.F) {
	for _, settings := range settingsFiles {
		if len(settings) < 2000 {
			f.Add([]byte(settings))
		}
	}
	f.Add([]byte(`{"hooks":{"Stop":[ ]}}`))
	f.Add([]byte(`{"hooks":{"PreToolUse":[{"hooks":[{"type":"command","command":"writ hook claude"}]}]}}`))
	f.Fuzz(func(t *testing.T, settings []byte) {
		for _, h := range underTest {
			h.checkAnySettings(t, settings)
		}
	})
}

func (h Host) checkAnySettings(t *testing.T, settings []byte) {
	t.Helper()
	merged, err := h.Merge(settings, program)
	if err != nil {
		return
	}
	again, err := h.Merge(merged, program)
	if err != nil || !bytes.Equal(again, merged) {
		t.Fatalf("a second merge changes something (%v):\n%q\n%q", err, merged, again)
	}
	rest, err := h.Remove(merged, settings)
	if err != nil {
		t.Fatal(err)
	}
	if hooks, err := h.Installed(rest); err != nil || len(hooks) > 0 {
		t.Fatalf("left over: %v %v\n%q", hooks, err, rest)
	}
}
