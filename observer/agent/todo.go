package agent

import (
	"context"
	"fmt"
	"strings"

	"github.com/writbus/writ/observer/agent/verbs"
	"github.com/writbus/writ/projections"
	"github.com/writbus/writ/schemas"
)

var todoView projections.AgentTodos

// todo answers /todo. Each agent has a list of its own in each workspace.
func (b *Books) todo(ctx context.Context, call verbs.Call) (verbs.Result, error) {
	book := schemas.TodoBook(call.Workspace, call.Agent)
	id, text := cutWord(call.Rest)
	changed := schemas.TodoChanged{TodoID: id, Agent: call.Agent, Run: call.Run}
	switch call.Sub {
	case "add":
		return b.addTodo(ctx, call, book)
	case "list":
		return b.listTodos(ctx, call, book)
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
		return b.changeTodo(ctx, call, book, id, schemas.TodoDeleted{TodoID: id, Agent: call.Agent, Run: call.Run})
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
	if r, bad := tooLong("description", changed.Description, maxKept); bad {
		return r, nil
	}
	if r, bad := tooLong("subject", changed.Subject, maxTitle); bad {
		return r, nil
	}
	return b.changeTodo(ctx, call, book, id, changed)
}

func (b *Books) addTodo(ctx context.Context, call verbs.Call, book schemas.Aggregate) (verbs.Result, error) {
	subject := line(call.Rest)
	if subject == "" {
		return verbs.Err("a task needs a subject", "write /todo add TEXT"), nil
	}
	if r, bad := tooLong("subject", subject, maxTitle); bad {
		return r, nil
	}
	if r, bad := tooLong("description", string(call.Body), maxKept); bad {
		return r, nil
	}
	id := ""
	err := b.change(ctx, projections.ViewAgentTodos, book, call, func(_ projections.Reader, head projections.BookHead) (schemas.Payload, error) {
		id = numbered("t", head)
		return schemas.TodoAdded{TodoID: id, Subject: subject, Description: string(call.Body), Agent: call.Agent, Run: call.Run}, nil
	})
	return answered(err, verbs.OK("task %s added", id).With("todo", id))
}

func (b *Books) changeTodo(ctx context.Context, call verbs.Call, book schemas.Aggregate, id string, payload schemas.Payload) (verbs.Result, error) {
	err := b.change(ctx, projections.ViewAgentTodos, book, call, func(r projections.Reader, _ projections.BookHead) (schemas.Payload, error) {
		_, found, err := todoView.Todo(r, book, id)
		if err == nil && !found {
			err = refuse("there is no task "+id, "/todo list shows them")
		}
		return payload, err
	})
	return answered(err, verbs.OK("%s %s", id, map[string]string{
		"start": "is started", "done": "is done", "cancel": "is cancelled", "delete": "is taken out", "describe": "has a new description", "subject": "has a new subject",
	}[call.Sub]))
}

// marks are the states of tasks in a list.
var marks = map[string]string{"": "[ ]", "started": "[~]", "done": "[x]", "cancelled": "[-]"}

func (b *Books) listTodos(ctx context.Context, call verbs.Call, book schemas.Aggregate) (verbs.Result, error) {
	if r, bad := wants(call, 0, "/todo list"); bad {
		return r, nil
	}
	var all []projections.Todo
	err := b.Views.Read(ctx, projections.ViewAgentTodos, func(r projections.Reader) (err error) {
		all, err = todoView.Todos(r, book)
		return err
	})
	if err != nil {
		return verbs.Result{}, err
	}
	if len(all) == 0 {
		return nothing("tasks"), nil
	}
	var out strings.Builder
	for _, t := range all {
		fmt.Fprintf(&out, "%s %s %s\n%s", marks[t.Status], t.ID, t.Subject, indented(t.Description))
	}
	return kept(out.String()), nil
}
