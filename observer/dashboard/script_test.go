package dashboard

import (
	"errors"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"
)

func TestScriptsAreJoinedInOrder(t *testing.T) {
	files := func(of map[string]string) fstest.MapFS {
		all := fstest.MapFS{}
		for name, text := range of {
			all["js/"+name+".js"] = &fstest.MapFile{Data: []byte(text)}
		}
		return all
	}
	got, err := joined(files(map[string]string{
		"main": "import { a, b } from './one.js';\nimport { c } from './two.js';\na(b, c);\n",
		"one":  "import { c } from './two.js';\nexport function a() { return c; }\nexport const b = 1;\nfunction hidden() {}\n",
		"two":  "export async function c() {}\n",
	}), "main")
	want := "const from_two = (() => {\nasync function c() {}\nreturn { c };\n})();\n" +
		"const from_one = (() => {\nconst { c } = from_two;\nfunction a() { return c; }\nconst b = 1;\nfunction hidden() {}\nreturn { a, b };\n})();\n" +
		"const from_main = (() => {\nconst { a, b } = from_one;\nconst { c } = from_two;\na(b, c);\nreturn {  };\n})();\n"
	if err != nil || string(got) != want {
		t.Errorf("%v\n%s", err, got)
	}
	for name, of := range map[string]map[string]string{
		"a circle":     {"main": "import { a } from './one.js';\n", "one": "import { b } from './main.js';\n"},
		"no file":      {"main": "import { a } from './one.js';\n"},
		"all of it":    {"main": "import * as one from './one.js';\n", "one": ""},
		"a default":    {"main": "export default 1;\n"},
		"a list":       {"main": "const a = 1;\nexport { a };\n"},
		"a changeable": {"main": "export let a = 1;\n"},
	} {
		if _, err := joined(files(of), "main"); !errors.Is(err, errScript) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestThePageComesWhole looks at the page itself: its style and its script are
// within, and allowed by their hashes and nothing else.
func TestThePageComesWhole(t *testing.T) {
	x := open(t).enter()
	_, html, header := x.send(http.MethodGet, "/", "", nil)
	csp := header.Get("Content-Security-Policy")
	for _, element := range []string{"style", "script"} {
		if strings.Count(html, "<"+element) != 1 || !strings.Contains(csp, hashOf([]byte(html), element)) {
			t.Errorf("%d elements %s, allowed: %s", strings.Count(html, "<"+element), element, csp)
		}
	}
	if strings.Contains(html, "style.css") || !strings.Contains(html, "ol.log") {
		t.Error("the style is not within the page")
	}
	_, script, header := x.send(http.MethodGet, "/js/all.js", "", nil)
	if !strings.HasPrefix(header.Get("Content-Type"), "text/javascript") || regexp.MustCompile(`(?m)^(import|export)\b`).MatchString(script) || !strings.Contains(script, "const from_main = ") {
		t.Errorf("the scripts are %s, %d bytes", header.Get("Content-Type"), len(script))
	}
}
