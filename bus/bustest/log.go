// Package bustest holds an in-memory log for tests of what is built on the
// bus, and the suite of promises that it and the real one both keep.
//
// The fake keeps order, expectations, retries and readers like a server. It
// has no durability, no roles, and remembers event ids for ever.
package bustest

import (
	"context"
	"fmt"
	"iter"
	"strconv"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/schemas"
)

// Log is the part of bus.Conn that the suite covers, with the append that is
// below Decide and Record.
type Log interface {
	EnsureStreams(ctx context.Context, r bus.Retention) error
	Append(ctx context.Context, main schemas.Event, also []schemas.Payload, e bus.Expect) (schemas.Position, error)
	Tail(ctx context.Context, a schemas.Aggregate, after uint64) iter.Seq2[schemas.Record, error]
	LastOf(ctx context.Context, a schemas.Aggregate) (schemas.Record, error)
	Get(ctx context.Context, s schemas.Stream, seq uint64) (schemas.Record, error)
	State(ctx context.Context, s schemas.Stream) (bus.StreamState, error)
	Follow(ctx context.Context, s schemas.Stream, after uint64, o bus.FollowOptions, fn func([]schemas.Record) error) error
}

var _ Log = (*Memory)(nil)

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
