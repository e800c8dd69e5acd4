package daemon

import (
	"context"

	"github.com/writbus/writ/cmd/writd/agents"
	"github.com/writbus/writ/observer/model"
)

// agentModel asks the configured language model for agents.
type agentModel struct {
	client  *model.Client
	problem error // why there is none
}

// Chat implements agents.Model.
func (m agentModel) Chat(ctx context.Context, p agents.Prompt, heard func(string) error) (agents.Reply, error) {
	if m.client == nil {
		return agents.Reply{}, m.problem
	}
	r := model.Request{Model: p.Model, System: p.System, MaxTokens: p.MaxTokens}
	for _, said := range p.Messages {
		role := model.User
		if said.Assistant {
			role = model.Assistant
		}
		one := model.Said(role, said.Text)
		for _, image := range said.Images {
			one.Parts = append(one.Parts, model.Part{Image: &model.Image{MIME: image.MIME, Data: image.Data}})
		}
		r.Messages = append(r.Messages, one)
	}
	reply, err := m.client.Chat(ctx, r, heard)
	if err != nil {
		return agents.Reply{}, err
	}
	return agents.Reply{
		Model: reply.Model, Input: reply.Usage.Input, Output: reply.Usage.Output, Stop: reply.Stop, Whole: reply.Stop == model.StopEnd,
	}, nil
}
