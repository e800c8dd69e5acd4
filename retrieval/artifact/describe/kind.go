package describe

import (
	"bytes"
	"path"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/writbus/writ/retrieval/artifact"
)

// typeNames are what front matter calls the types.
var typeNames = map[string]artifact.Type{
	"requirement": artifact.Requirement, "requirements": artifact.Requirement, "use-case": artifact.Requirement, "use case": artifact.Requirement,
	"user-story": artifact.Requirement, "user story": artifact.Requirement, "story": artifact.Requirement, "nfr": artifact.Requirement,
	"spec": artifact.Requirement, "prd": artifact.Requirement, "vision": artifact.Requirement, "epic": artifact.Requirement,
	"architecture": artifact.Architecture, "adr": artifact.Architecture, "design": artifact.Architecture, "decision": artifact.Architecture,
	"sad": artifact.Architecture, "rfc": artifact.Architecture,
	"test": artifact.Test, "tests": artifact.Test, "test-plan": artifact.Test, "test plan": artifact.Test, "test-case": artifact.Test,
	"code": artifact.Code, "source": artifact.Code,
	"documentation": artifact.Documentation, "docs": artifact.Documentation, "doc": artifact.Documentation, "guide": artifact.Documentation,
	"reference": artifact.Documentation, "tutorial": artifact.Documentation,
	"research": artifact.Research, "spike": artifact.Research, "paper": artifact.Research, "study": artifact.Research,
}

// typeFolders are the folders whose prose is of a type.
var typeFolders = map[string]artifact.Type{
	"requirements": artifact.Requirement, "requirement": artifact.Requirement, "use-cases": artifact.Requirement, "usecases": artifact.Requirement,
	"user-stories": artifact.Requirement, "stories": artifact.Requirement, "specs": artifact.Requirement, "prd": artifact.Requirement, "intake": artifact.Requirement,
	"architecture": artifact.Architecture, "adr": artifact.Architecture, "adrs": artifact.Architecture, "decisions": artifact.Architecture,
	"design": artifact.Architecture, "designs": artifact.Architecture, "rfcs": artifact.Architecture, "rfc": artifact.Architecture,
	"research": artifact.Research, "spikes": artifact.Research, "papers": artifact.Research, "experiments": artifact.Research,
	"testing": artifact.Test, "test-plans": artifact.Test, "test-cases": artifact.Test,
}

// testFolders hold tests and what they need.
var testFolders = map[string]bool{
	"test": true, "tests": true, "__tests__": true, "testdata": true, "spec": true, "e2e": true, "fixtures": true, "__mocks__": true,
	"testing": false, "androidtest": true, "unittests": true,
}

var (
	testNames = regexp.MustCompile(`(?i)(_test\.\w+|_spec\.\w+|\.(test|spec|e2e|cy)\.\w+|tests?\.(java|kt|cs|swift|scala|php))$|(^|/)(test_[^/]*\.py|conftest\.py|[^/]*\.feature)$`)
	docNames  = []struct {
		name *regexp.Regexp
		kind artifact.Type
	}{
		{regexp.MustCompile(`(?i)(^|[-_./])(adr|rfc)[-_]?\d`), artifact.Architecture},
		{regexp.MustCompile(`(?i)(^|/)(architecture|design|system[-_]design|tech(nical)?[-_]design|software[-_]architecture[-_]document|sad)\.`), artifact.Architecture},
		{regexp.MustCompile(`(?i)(^|[-_./])(uc|us|req|nfr|fr)-?\d`), artifact.Requirement},
		{regexp.MustCompile(`(?i)(^|/)(requirements|prd|srs|vision|use[-_]cases?|user[-_]stor(y|ies))[^/]*\.(md|markdown|rst|adoc)$`), artifact.Requirement},
		{regexp.MustCompile(`(?i)(^|/)test[-_](plan|strategy|cases?)[^/]*\.`), artifact.Test},
	}
	docContents = []struct {
		says *regexp.Regexp
		kind artifact.Type
	}{
		{regexp.MustCompile(`(?i)^(adr|rfc)[- :]*\d|architecture decision|^(software |system )?architecture\b`), artifact.Architecture},
		{regexp.MustCompile(`(?i)^(use case|user story|requirement|(functional|non-functional|product) requirements?)\b|requirements (specification|document)`), artifact.Requirement},
		{regexp.MustCompile(`(?i)^test (plan|strategy|cases?)\b`), artifact.Test},
		{regexp.MustCompile(`(?i)^(research|spike|literature review)\b`), artifact.Research},
	}
	userStory = regexp.MustCompile(`(?i)\bas an? [^.\n]{2,60}, ?i (want|need|can|would like)\b`)
	decision  = regexp.MustCompile(`(?im)^#+\s*(decision|context and problem statement|decision outcome)\s*$`)
)

// typeOf says what a file is for.
func typeOf(file, language string, front matter, title, body string) artifact.Type {
	if kind := typeNames[strings.ReplaceAll(front.kind, "_", "-")]; kind != "" {
		return kind
	}
	folders := strings.Split(strings.ToLower(path.Dir(file)), "/")
	if !prosaic(file, language, body) {
		return codeType(file, folders)
	}
	for i := len(folders) - 1; i >= 0; i-- {
		if kind := typeFolders[folders[i]]; kind != "" {
			return kind
		}
		if testFolders[folders[i]] {
			return artifact.Test
		}
	}
	for _, one := range docNames {
		if one.name.MatchString(file) {
			return one.kind
		}
	}
	for _, one := range docContents {
		if one.says.MatchString(title) {
			return one.kind
		}
	}
	head := body[:min(len(body), 4096)]
	switch {
	case decision.MatchString(head):
		return artifact.Architecture
	case userStory.MatchString(head):
		return artifact.Requirement
	}
	return artifact.Documentation
}

// proseEndings are the endings of texts in no language that is known. Others are
// more likely those of a language that is not known than prose.
var proseEndings = map[string]bool{
	"": true, ".txt": true, ".text": true, ".me": true, ".org": true, ".tex": true, ".log": true, ".man": true,
	".1": true, ".2": true, ".3": true, ".4": true, ".5": true, ".6": true, ".7": true, ".8": true,
}

// prosaic says whether people read a file rather than machines.
func prosaic(file, language, body string) bool {
	if language != text {
		return prose[language]
	}
	return proseEndings[strings.ToLower(path.Ext(file))] && !strings.HasPrefix(body, "#!")
}

func codeType(file string, folders []string) artifact.Type {
	if mayBeTest(file) && testNames.MatchString(file) {
		return artifact.Test
	}
	for _, folder := range folders {
		if testFolders[folder] || holdsTests(folder) {
			return artifact.Test
		}
	}
	return artifact.Code
}

// holdsTests says whether a folder's name says of what it holds tests or which, as in
// cache.test, test.integr and unit_tests.
func holdsTests(folder string) bool {
	last := folder[strings.LastIndexAny(folder, ".-_")+1:]
	first, _, cut := strings.Cut(folder, ".")
	return last == "test" || last == "tests" || cut && (first == "test" || first == "tests")
}

// mayBeTest says whether a name holds anything that [testNames] asks for: most
// do not, and a regular expression takes its time to say so.
func mayBeTest(file string) bool {
	var buffer [256]byte
	lower, plain := asciiLower(file, buffer[:0])
	if !plain {
		return true
	}
	for _, part := range [][]byte{[]byte("test"), []byte("spec."), []byte("e2e."), []byte("cy."), []byte(".feature")} {
		if bytes.Contains(lower, part) {
			return true
		}
	}
	return false
}

// asciiLower appends a name in lower case. It says no to one that holds other
// characters than those of ASCII, of which some are the capitals of others.
func asciiLower(name string, to []byte) (lower []byte, plain bool) {
	for i := range len(name) {
		c := name[i]
		if c >= utf8.RuneSelf {
			return nil, false
		}
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		to = append(to, c)
	}
	return to, true
}

// phaseFolders are the folders whose prose belongs to a phase.
var phaseFolders = map[string]string{
	"intake": artifact.Inception, "vision": artifact.Inception, "business": artifact.Inception,
	"requirements": artifact.Elaboration, "requirement": artifact.Elaboration, "use-cases": artifact.Elaboration, "user-stories": artifact.Elaboration,
	"architecture": artifact.Elaboration, "adr": artifact.Elaboration, "adrs": artifact.Elaboration, "design": artifact.Elaboration,
	"research": artifact.Elaboration, "risks": artifact.Elaboration,
	"testing": artifact.Construction, "test-plans": artifact.Construction, "implementation": artifact.Construction,
	"deployment": artifact.Transition, "release": artifact.Transition, "releases": artifact.Transition, "operations": artifact.Transition, "handoff": artifact.Transition,
}

// phaseOf maps front matter and folders to a phase. Code belongs to none unless
// its path names one.
func phaseOf(file string, kind artifact.Type, front matter) string {
	if front.phase != "" {
		return front.phase
	}
	folders := strings.Split(strings.ToLower(path.Dir(file)), "/")
	for i := len(folders) - 1; i >= 0; i-- {
		switch folder := folders[i]; folder {
		case artifact.Inception, artifact.Elaboration, artifact.Construction, artifact.Transition:
			return folder
		}
	}
	if kind == artifact.Code {
		return ""
	}
	for i := len(folders) - 1; i >= 0; i-- {
		if phase := phaseFolders[folders[i]]; phase != "" && !(kind == artifact.Test && !prose[Language(file)]) {
			return phase
		}
	}
	return ""
}
