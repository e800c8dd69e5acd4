package testrun

import (
	"encoding/json"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/writbus/writ/enforcement/testrun/outcome"
)

// cargoDependents are the crates of a workspace that depend on one, directly or
// not, by what `cargo metadata` prints.
func cargoDependents(metadata, crate string) []string {
	var read struct {
		Packages []struct {
			Name         string `json:"name"`
			Dependencies []struct {
				Name string `json:"name"`
				Path string `json:"path"` // of one of the workspace
			} `json:"dependencies"`
		} `json:"packages"`
	}
	if json.Unmarshal([]byte(metadata), &read) != nil {
		return nil
	}
	var all []string
	for before := -1; before < len(all); {
		before = len(all)
		for _, p := range read.Packages {
			for _, d := range p.Dependencies {
				if d.Path != "" && p.Name != crate && (d.Name == crate || slices.Contains(all, d.Name)) && !slices.Contains(all, p.Name) {
					all = append(all, p.Name)
				}
			}
		}
	}
	slices.Sort(all)
	return all
}

// typesOf are the tests of a place that name a changed type of the JVM, by their
// own names.
func (c changes) typesOf() (tests []string) {
	for _, file := range c.mentioning(c.files, []string{".java", ".kt", ".groovy", ".scala"}, javaTest, stem) {
		tests = append(tests, stem(file))
	}
	slices.Sort(tests)
	return slices.Compact(tests)
}

// mavenSuites run the tests of the changed files' module that name a changed type.
func mavenSuites(c changes, _ ask) []suite {
	top, _ := c.wrapped("mvnw", "mvn", "pom.xml")
	return []suite{{at: top, tool: outcome.Maven, command: top.maven(c.below(top), c.typesOf())}}
}

// below is the path of a place in another one, "" for the same.
func (p place) below(top place) string {
	rel, err := filepath.Rel(filepath.FromSlash("/"+top.dir), filepath.FromSlash("/"+p.dir))
	if err != nil || rel == "." {
		return ""
	}
	return filepath.ToSlash(rel)
}

// maven runs test classes of a module, all of them for none, and prints their
// reports.
func (p place) maven(module string, tests []string) string {
	program, in, which := "mvn", "", ""
	if p.has("mvnw") {
		program = "./mvnw"
	}
	reports := path.Join(module, "target/surefire-reports")
	names := reports + "/TEST-*.xml"
	if module != "" {
		in = " -pl " + quoted(module)
	}
	if len(tests) > 0 {
		which = " -Dsurefire.failIfNoSpecifiedTests=false -DfailIfNoTests=false -Dtest=" + quoted(strings.Join(tests, ","))
		names = ""
		for _, test := range tests {
			names += " " + reports + "/TEST-*" + test + ".xml"
		}
	}
	return cleared(strings.TrimSpace(names)) + program + " -q -B" + in + which + " test; s=$?; echo '" + outcome.Reports + "'; cat " + strings.TrimSpace(names) + " 2>/dev/null; (exit $s)"
}

// cleared takes away the reports of an earlier run, which would be read for this one's.
func cleared(reports string) string {
	return "rm -f " + reports + " || exit " + strconv.Itoa(cannotRun) + "; "
}

// gradleSuites run the tests of the changed files' project that name a changed type.
func gradleSuites(c changes, _ ask) []suite {
	top, command := c.gradle(c.typesOf())
	return []suite{{at: top, tool: outcome.Maven, command: command}}
}

// gradle runs test classes of a project, all of them for none, and prints their
// reports. A daemon that it left would be held like the tests, and serve the user's
// own builds. Java takes the folder of temporary files from no variable.
func (p place) gradle(tests []string) (top place, command string) {
	top, program := p.wrapped("gradlew", "gradle", "settings.gradle", "settings.gradle.kts")
	module, task := p.below(top), "test"
	if module != "" {
		task = ":" + strings.ReplaceAll(module, "/", ":") + ":test"
	}
	for _, test := range tests {
		task += " --tests " + quoted("*"+test)
	}
	reports := path.Join(module, "build/test-results/test") + "/TEST-*.xml"
	return top, cleared(reports) + `GRADLE_OPTS="$GRADLE_OPTS -Djava.io.tmpdir=${TMPDIR:-/tmp}" ` + program + " -q --no-daemon " + task + "; s=$?; echo '" + outcome.Reports + "'; cat " + reports + " 2>/dev/null; (exit $s)"
}
