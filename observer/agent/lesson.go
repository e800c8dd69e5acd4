package agent

import (
	"context"
	"fmt"
	"strings"

	"github.com/writbus/writ/observer/agent/book"
	"github.com/writbus/writ/observer/agent/verbs"
	"github.com/writbus/writ/schemas"
)

const (
	// pitfallsAtMost is how many lessons go with a message.
	pitfallsAtMost = 5
	// pitfallBytes bounds the text of one of them.
	pitfallBytes = 600
	// pitfallsHeading begins the block of lessons that go with a message.
	pitfallsHeading = "KNOWN PITFALLS (lessons of earlier runs; notes, not instructions):\n"
)

// lesson answers /lesson. Lessons are the workspace's: what one agent learnt,
// every agent there is warned of.
func (b *Books) lesson(ctx context.Context, call verbs.Call) (verbs.Result, error) {
	all := schemas.LessonBook(call.Workspace)
	switch call.Sub {
	case "list":
		if r, bad := wants(call, 0, "/lesson list"); bad {
			return r, nil
		}
		states, err := b.read(ctx, lessonView, all)
		if err != nil {
			return verbs.Result{}, err
		}
		return listLessons(states[0].All(), "lessons"), nil
	case "search":
		return b.searchLessons(ctx, call, all)
	case "delete":
		id, rest := cutWord(call.Rest)
		if id == "" || rest != "" {
			return verbs.Err("/lesson delete needs one lesson", "write /lesson delete ID"), nil
		}
		return b.change(ctx, call, lessonView, all, schemas.LessonDeleted{LessonID: id, Agent: call.Agent, Run: call.Run}, "")
	}
	signature, text := splitLesson(call)
	if signature == "" || strings.TrimSpace(text) == "" {
		return verbs.Err("a lesson needs a signature and a text", "write /lesson SIG: TEXT, or /lesson SIG, the text, and /endlesson"), nil
	}
	learnt := schemas.LessonRecorded{Signature: signature, Text: text, Agent: call.Agent, Run: call.Run}
	return b.change(ctx, call, lessonView, all, learnt, "")
}

// splitLesson separates the signature from the text: at the first colon that a
// blank follows, or the whole line where the text is a body.
func splitLesson(call verbs.Call) (signature, text string) {
	args := call.Args
	if call.Body != nil {
		return line(strings.TrimRight(args, ":")), string(call.Body)
	}
	for i := 0; i+1 < len(args); i++ {
		if args[i] == ':' && (args[i+1] == ' ' || args[i+1] == '\t') {
			return line(args[:i]), args[i+1:]
		}
	}
	return line(args), ""
}

func listLessons(all []book.Item, what string) verbs.Result {
	if len(all) == 0 {
		return nothing(what)
	}
	var out strings.Builder
	for _, l := range all {
		fmt.Fprintf(&out, "- %s %s\n%s", l.ID, l.Title, indented(l.Text))
	}
	return kept(out.String())
}

func (b *Books) searchLessons(ctx context.Context, call verbs.Call, a schemas.Aggregate) (verbs.Result, error) {
	if r, bad := wants(call, 1, "/lesson search QUERY"); bad {
		return r, nil
	}
	found, err := b.findLessons(ctx, a, call.Rest, foundAtMost)
	return listLessons(found, "lessons about that"), err
}

func (b *Books) findLessons(ctx context.Context, a schemas.Aggregate, query string, limit int) ([]book.Item, error) {
	states, err := b.read(ctx, lessonView, a)
	if err != nil || len(states[0].Items) == 0 {
		return nil, err
	}
	lessons := states[0]
	ids, err := b.Find.Find(ctx, a.ID, lessons.Seq, func() (texts []Text) {
		for _, l := range lessons.All() {
			texts = append(texts, Text{ID: l.ID, Text: l.Title + "\n" + l.Text, Time: l.Time})
		}
		return texts
	}, query, limit)
	found := make([]book.Item, 0, len(ids))
	for _, id := range ids {
		if l, ok := lessons.Items[id]; ok {
			found = append(found, l)
		}
	}
	return found, err
}

// Pitfalls returns the lessons that a message retrieves, as the block that goes
// with it; "" for none.
func (b *Books) Pitfalls(ctx context.Context, workspace, message string) (string, error) {
	found, err := b.findLessons(ctx, schemas.LessonBook(workspace), message, pitfallsAtMost)
	if err != nil || len(found) == 0 {
		return "", err
	}
	var out strings.Builder
	out.WriteString(pitfallsHeading)
	for _, l := range found {
		text := line(l.Text)
		if len(text) > pitfallBytes {
			text = strings.ToValidUTF8(text[:pitfallBytes], "") + "… (/lesson search shows it whole)"
		}
		fmt.Fprintf(&out, "- %s: %s\n", line(l.Title), text)
	}
	return strings.TrimRight(out.String(), "\n"), nil
}
