package architecture

import (
	"slices"
	"strings"
	"testing"
)

// floor is a storey of the house. Arrows point down; what a floor may import is
// in mayImport.
type floor int

const (
	ground  floor = iota + 1 // payloads, subjects, leaves
	logs                     // the bus, then the views above it
	core                     // pure: values in, values out
	adapter                  // one technology each
	service                  // one use case each, from request to reply
	wiring                   // the programs
)

// floors maps a folder to its floor. The longest folder that holds a package
// counts; a package that none holds fails the test.
var floors = map[string]floor{
	"schemas": ground,

	"bus":                      logs,
	"projections":              logs,
	"projections/neo4jmirror":  adapter,
	"projections/audit/ledger": service,

	"enforcement":                     core,
	"enforcement/check/files":         adapter,
	"enforcement/confine":             adapter,
	"enforcement/confine/worktree":    adapter,
	"enforcement/testrun":             adapter,
	"enforcement/testrun/outcome":     core,
	"enforcement/processtree":         adapter,
	"enforcement/project":             adapter,
	"enforcement/host/install":        adapter,
	"enforcement/passkey/passkeytest": adapter,
	"enforcement/httphook":            service,
	"enforcement/keyring":             service,
	"enforcement/session":             service,
	"enforcement/turn":                service,
	"enforcement/whatif":              service,

	"retrieval":               core,
	"retrieval/corpus":        core,
	"retrieval/corpus/folder": adapter,
	"retrieval/embed":         adapter,
	"retrieval/fulltext":      adapter,
	"retrieval/mapped":        adapter,
	"retrieval/files":         service,
	"retrieval/rulebook":      service,
	"retrieval/rulerelease":   adapter,

	"observer":                  core,
	"observer/model":            adapter,
	"observer/metrics":          adapter,
	"observer/heap":             adapter,
	"observer/agent":            service,
	"observer/agent/egress":     core,
	"observer/agent/book":       core,
	"observer/agent/schedule":   core,
	"observer/agent/scanner":    core,
	"observer/agent/vocabulary": core,
	"observer/mcp":              service,
	"observer/memory":           service,
	"observer/sharedmemory":     service,
	"observer/eventlog":         service,
	"observer/dashboard":        service,
	"observer/top":              service,

	"cmd": wiring,
}

// folderOf is the entry of floors that holds a package, "" for none.
func folderOf(pkg string) string {
	pkg = strings.TrimSuffix(pkg, " [test]")
	for folder := pkg; ; folder = folder[:strings.LastIndexByte(folder, '/')] {
		if _, known := floors[folder]; known {
			return folder
		}
		if !strings.Contains(folder, "/") {
			return ""
		}
	}
}

// reaches says whether a package may import another one, and if not, why not.
func reaches(from, to string) (why string) {
	here, there := folderOf(from), folderOf(to)
	a, b := floors[here], floors[there]
	switch {
	case b < a && b != core && b != adapter:
		return "" // the ground, the log and the views are everybody's
	case a == wiring:
		for _, program := range []string{"cmd/writ", "cmd/writd"} {
			if within(from, program) != within(to, program) && within(to, program) && (within(from, "cmd/writ") || within(from, "cmd/writd") || within(from, "cmd/internal")) {
				return "the programs never import each other, and what they share imports neither"
			}
		}
		return ""
	case b > a:
		return "arrows point down"
	case a == service && b == service:
		if here == there || within(to, here) || within(from, there) {
			return ""
		}
		return "a service never imports another one: what it needs of it is an interface that it declares"
	case a == service:
		return ""
	case a == logs:
		if room(from) == "bus" && room(to) == "projections" {
			return "the views lie above the bus"
		}
		return ""
	case room(from) != room(to):
		return "a core and an adapter use the cores of their own room"
	}
	return ""
}

// crossings are imports that break the rule, each with its reason. The list only
// shrinks.
var crossings = map[[2]string]string{
	{"observer/agent/vocabulary", "enforcement/dialect"}: "the help of the command language is written from its grammar",
	{"cmd/internal/topics", "cmd/writ/help"}:             "the client's own topic lies beside it",
}

func TestFloors(t *testing.T) {
	used := map[[2]string]bool{}
	for pkg, imports := range sources(t) {
		if strings.HasSuffix(pkg, "[test]") || room(pkg) == "test" {
			continue
		}
		if folderOf(pkg) == "" {
			t.Errorf("%s: no floor is named for it in floors_test.go, and no other top-level folder holds code", pkg)
			continue
		}
		for _, imported := range imports {
			inside, ours := strings.CutPrefix(imported, module+"/")
			if !ours {
				continue
			}
			if why := reaches(pkg, inside); why != "" {
				if crossings[[2]string{pkg, inside}] != "" {
					used[[2]string{pkg, inside}] = true
					continue
				}
				t.Errorf("%s imports %s: %s", pkg, inside, why)
			}
		}
	}
	for pair := range crossings {
		if !used[pair] {
			t.Errorf("%s does not import %s any more: take it off the list", pair[0], pair[1])
		}
	}
}

// TestTestsReachWhatTheirCodeReaches lets a test import what its package could,
// the worked cases, and stand-ins.
func TestTestsReachWhatTheirCodeReaches(t *testing.T) {
	for pkg, imports := range sources(t) {
		if !strings.HasSuffix(pkg, "[test]") || room(pkg) == "test" || floors[folderOf(pkg)] == wiring {
			continue
		}
		for _, imported := range imports {
			inside, ours := strings.CutPrefix(imported, module+"/")
			if ours && !slices.Contains(shared, inside) && floors[folderOf(inside)] == wiring {
				t.Errorf("%s imports %s: arrows point down", pkg, inside)
			}
		}
	}
}
