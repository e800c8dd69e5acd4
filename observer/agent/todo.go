package agent

import (
	"context"
	"fmt"
	"strings"

	"github.com/writbus/writ/observer/agent/verbs"
	"github.com/writbus/writ/schemas"
)

// todo answers /todo. Each agent has a list of its own in each workspace.
func (b *Books) todo(ctx context.Context, call verbs.Call) (verbs.Result, error) {
	own := schemas.TodoBook(call.Workspace, call.Agent)
	id, text := cutWord(call.Rest)
	changed := schemas.TodoChanged{TodoID: id, Agent: call.Agent, Run: call.Run}
	switch call.Sub {
	case "add":
		return b.addTodo(ctx, call, own)
	case "list":
		return b.listTodos(ctx, call, own)
	case "start":
		changed.Status = "started"
	case "done":
		changed.Status = "done"
	case "cancel":
		changed.Status = "cancelled"
	case "describe":
		changed.Description = text
	case "subject":
		changed.Subject = line(text)
	case "delete":
		if id == "" || text != "" {
			return verbs.Err("/todo delete needs one task", "write /todo delete ID"), nil
		}
		return b.change(ctx, call, todoView, own, schemas.TodoDeleted{TodoID: id, Agent: call.Agent, Run: call.Run}, "")
	default:
		return verbs.Err("/todo "+call.Args+" names no sub-verb", "/help todo shows them"), nil
	}
	needsText := call.Sub == "describe" || call.Sub == "subject"
	if id == "" || needsText == (text == "") {
		usage := "/todo " + call.Sub + " ID"
		if needsText {
			usage += " TEXT"
		}
		return verbs.Err("/todo "+call.Args+" is not understood", "write "+usage), nil
	}
	return b.change(ctx, call, todoView, own, changed, "")
}

func (b *Books) addTodo(ctx context.Context, call verbs.Call, own schemas.Aggregate) (verbs.Result, error) {
	subject := line(call.Rest)
	if subject == "" {
		return verbs.Err("a task needs a subject", "write /todo add TEXT"), nil
	}
	added := schemas.TodoAdded{Subject: subject, Description: string(call.Body), Agent: call.Agent, Run: call.Run}
	return b.change(ctx, call, todoView, own, added, "")
}

// marks are the states of tasks in a list.
var marks = map[string]string{"": "[ ]", "started": "[~]", "done": "[x]", "cancelled": "[-]"}

func (b *Books) listTodos(ctx context.Context, call verbs.Call, own schemas.Aggregate) (verbs.Result, error) {
	if r, bad := wants(call, 0, "/todo list"); bad {
		return r, nil
	}
	states, err := b.read(ctx, todoView, own)
	if err != nil {
		return verbs.Result{}, err
	}
	var out strings.Builder
	for _, t := range states[0].All() {
		fmt.Fprintf(&out, "%s %s %s\n%s", marks[t.Status], t.ID, t.Title, indented(t.Text))
	}
	if out.Len() == 0 {
		return nothing("tasks"), nil
	}
	return kept(out.String()), nil
}
