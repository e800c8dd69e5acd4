package turn

import (
	"context"
	"slices"
	"sync"

	"github.com/writbus/writ/enforcement"
	"github.com/writbus/writ/enforcement/host"
	"github.com/writbus/writ/retrieval"
	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/schemas/excerpt"
)

const (
	// taskBudget and taskRules bound what a sub-agent's task brings with it: it has
	// one thing to do, in a conversation of its own.
	taskBudget = 1200
	taskRules  = 4
	// keptTasks bounds the tasks remembered until their sub-agents start.
	keptTasks = 64
)

// tasks are what sub-agents were asked for and have not started with yet: a
// host's event of the start does not repeat it. They are kept in memory only;
// without its task a sub-agent is given no rules of its own.
type tasks struct {
	mu      sync.Mutex
	waiting []waitingTask
}

type waitingTask struct {
	session string
	task    host.Task
}

// keep remembers the task of a call that passed.
func (k *tasks) keep(t turn) {
	if t.Task == nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.waiting = append(k.waiting, waitingTask{t.Session, *t.Task})
	k.waiting = k.waiting[max(0, len(k.waiting)-keptTasks):]
}

// take returns the oldest task of a session for a type of sub-agent, once.
func (k *tasks) take(session, agentType string) *host.Task {
	k.mu.Lock()
	defer k.mu.Unlock()
	at := slices.IndexFunc(k.waiting, func(w waitingTask) bool { return w.session == session && w.task.Type == agentType })
	if at < 0 {
		return nil
	}
	task := k.waiting[at].task
	k.waiting = slices.Delete(k.waiting, at, at+1)
	return &task
}

// onSubagentStart links a sub-agent's own session to its parent's, and tells it
// its role, where its parent stands, and the rules for its task.
func (v *Service) onSubagentStart(ctx context.Context, t turn) (host.Answer, error) {
	agent := orUnknown(t.Agent)
	task := t.Task
	if task == nil {
		task = v.tasks.take(t.Session, t.AgentType)
	}
	_, state, err := v.Sessions.Act(ctx, t.Session, t.agent(), t.PromptID, func(s enforcement.State) (enforcement.Decision, error) {
		return enforcement.Decide(s, enforcement.StartSubagent{SubagentStarted: schemas.SubagentStarted{AgentID: agent, AgentType: t.AgentType}})
	})
	if err != nil {
		return host.Answer{}, err
	}
	child := t.Session + "/" + agent
	if err := schemas.Session(child).Check(); err != nil {
		return host.Answer{}, err
	}
	v.Sessions.Link(t.Session, child)
	band := v.Rules.Current().Mandatory()
	about, role := prompted{}, ""
	if task != nil {
		about = v.in.forTask(ctx, t, *task)
		role = enforcement.RoleOf(enforcement.Task{Type: task.Type, Title: task.Title, Prompt: task.Prompt})
	} else {
		role = enforcement.RoleOf(enforcement.Task{Type: t.AgentType})
	}
	started := t.started("subagent")
	started.Parent, started.Mode = t.Session, state.Mode
	_, _, err = v.Sessions.Act(ctx, child, t.agent(), t.PromptID, func(s enforcement.State) (enforcement.Decision, error) {
		start, err := enforcement.Decide(s, enforcement.StartSession{SessionStarted: started})
		if err != nil {
			return start, err
		}
		if start, err = v.in.withShown(t, s, start, "session", mandatoryShown(band), band.Tokens); err != nil {
			return start, err
		}
		return v.in.withShown(t, s, start, "task", about.rules, about.tokens)
	})
	return host.Answer{Context: join(state.Position(), enforcement.RolePrompt(role, t.Session), band.Text, about.block)}, err
}

// forTask retrieves for what a sub-agent is to do. It begins with nothing
// shown.
func (in injection) forTask(ctx context.Context, t turn, task host.Task) prompted {
	index := in.rules.Current()
	var p prompted
	languages, subjects := t.uses()
	answer := in.rules.Search(ctx, retrieval.Query{
		Text: excerpt.Runes(task.Title+"\n"+task.Prompt, 4000), Session: t.Session, Domains: t.project.Domains(index.Domains(), languages, task.Title+" "+task.Prompt),
		Languages: languages, Subjects: subjects, Project: true, BudgetTokens: taskBudget, Limit: taskRules,
	})
	p.take(answer)
	return p
}
