package daemon

import (
	"os"

	"github.com/writbus/writ/cmd/writd/config"
	"github.com/writbus/writ/observer/model"
	"github.com/writbus/writ/schemas"
)

// openModel makes the client of the configured language model, nil if none is.
// What is wrong with its settings is told by status; nothing is asked yet.
func (d *Daemon) openModel() *model.Client {
	s := d.settings.Model
	if s.API == "" {
		return nil
	}
	c, err := model.New(model.Config{API: s.API, BaseURL: s.URL, Model: s.Name, Key: os.Getenv(config.ModelKey), Timeout: s.Timeout})
	if err != nil {
		d.warn("no model is asked: " + err.Error())
		return nil
	}
	return c
}

// modelStatus says how the model fares, nil if there is none.
func (d *Daemon) modelStatus() *schemas.ModelStatus {
	if d.model == nil {
		return nil
	}
	state := d.model.State()
	return &schemas.ModelStatus{API: d.settings.Model.API, Name: d.model.Model(), Breaker: state.Breaker, Failures: state.Failures, Last: state.Last}
}
