package daemon

import (
	"context"
	"errors"
	"os"

	"github.com/writbus/writ/cmd/internal/config"
	"github.com/writbus/writ/enforcement/redact"
	"github.com/writbus/writ/observer/model"
	"github.com/writbus/writ/schemas"
)

// errNoModel says that no language model is set up.
var errNoModel = errors.New("no language model is set up: set model.api and model.name in config.yaml of the data directory, or WRIT_MODEL_API and WRIT_MODEL_NAME, and start the daemon again")

// openModel makes the client of the configured language model, or says why there
// is none. All that ask the model share it, so that one breaker knows how the
// endpoint fares. What is wrong with its settings is told by status, too; nothing
// is asked yet.
func (d *Daemon) openModel() (*model.Client, error) {
	s := d.settings.Model
	if s.API == "" {
		return nil, errNoModel
	}
	c, err := model.New(model.Config{API: s.API, BaseURL: s.URL, Model: s.Name, Key: os.Getenv(config.ModelKey), Timeout: s.Timeout})
	if err != nil {
		d.warn("no model is asked: " + err.Error())
		return nil, err
	}
	return c, nil
}

// asker asks the model one question, nil where none is set up. What it is asked goes
// to whom the person configured, without secrets.
func asker(m *model.Client) func(ctx context.Context, system, question string) (string, error) {
	if m == nil {
		return nil
	}
	return func(ctx context.Context, system, question string) (string, error) {
		reply, err := m.Chat(ctx, model.Request{System: system, Messages: []model.Message{model.Said(model.User, redact.Text(question))}}, nil)
		return reply.Text, err
	}
}

// modelStatus says how the model fares, nil if there is none.
func (d *Daemon) modelStatus() *schemas.ModelStatus {
	if d.model == nil {
		return nil
	}
	state := d.model.State()
	return &schemas.ModelStatus{API: d.settings.Model.API, Name: d.model.Model(), Breaker: state.Breaker, Failures: state.Failures, Last: state.Last}
}
