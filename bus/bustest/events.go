// Package bustest makes events for tests of what is built on the bus.
package bustest

import (
	"fmt"
	"strconv"
	"time"

	"github.com/writbus/writ/schemas"
)

// Event returns a valid event of a session.
func Event(session, id, prompt string) schemas.Event {
	return schemas.Event{
		ID: id, Time: time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC), Source: "/bustest", Actor: schemas.ParseActor("user"),
		Aggregate: schemas.Session(session), Data: schemas.PromptSubmitted{Prompt: prompt},
	}
}

// Work is the nth event of a session at work: its start, turns of a prompt, calls of tools.
func Work(n int, project string) schemas.Payload {
	call := strconv.Itoa(n / 2)
	switch {
	case n == 0:
		return schemas.SessionStarted{Host: "claude", Source: "startup", Project: project, Dir: project, Model: "a model", Mode: "work"}
	case n%20 == 1:
		return schemas.PromptSubmitted{Prompt: "look users up by their address, and do not join strings into the query " + call, PromptID: "p" + call, Origin: "user"}
	case n%2 == 1:
		return schemas.ToolDecided{
			Tool: "Edit", ToolUseID: "t" + call, Verdict: "allow", Mode: "work", Phase: "planning", Digest: fmt.Sprintf("%064d", n), Bytes: 900,
			Targets: []schemas.Target{{Path: project + "/store/users.go", Rel: "store/users.go", Class: "code", Lines: 12}},
		}
	}
	return schemas.ToolFinished{
		Tool: "Edit", ToolUseID: "t" + call, Millis: 31,
		Files: []schemas.FileState{{Path: "store/users.go", SHA256: fmt.Sprintf("%064d", n), Bytes: 9000}},
	}
}
