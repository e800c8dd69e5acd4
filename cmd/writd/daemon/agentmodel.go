package daemon

import (
	"context"
	"errors"
	"os"

	"github.com/writbus/writ/cmd/writd/agents"
	"github.com/writbus/writ/cmd/writd/config"
	"github.com/writbus/writ/observer/model"
)

// errNoModel says that no language model is set up.
var errNoModel = errors.New("no language model is set up: set model.api and model.name in config.yaml of the data directory, or WRIT_MODEL_API and WRIT_MODEL_NAME, and start the daemon again")

// agentModel asks the configured language model for agents.
type agentModel struct {
	client  *model.Client
	problem error
}

// newAgentModel makes the client that the settings ask for. Without one, every
// call says what is missing.
func newAgentModel(s config.Model) agentModel {
	if s.API == "" {
		return agentModel{problem: errNoModel}
	}
	client, err := model.New(model.Config{API: s.API, BaseURL: s.URL, Model: s.Name, Key: os.Getenv(config.ModelKey), Timeout: s.Timeout})
	return agentModel{client, err}
}

// Chat implements agents.Model.
func (m agentModel) Chat(ctx context.Context, p agents.Prompt, heard func(string) error) (agents.Reply, error) {
	if m.problem != nil {
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
