package runs

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/writbus/writ/observer/agent"
	"github.com/writbus/writ/observer/model"
)

// chatModel asks the configured language model for agents.
type chatModel struct {
	client  *model.Client
	problem error    // why there is none
	blind   sync.Map // models that take no images, by name
}

// Chat implements agent.Model. A model that takes no images is asked with the
// text alone; that it takes none is what it refused before.
func (m *chatModel) Chat(ctx context.Context, p agent.Prompt, heard func(string) error) (agent.Reply, error) {
	if m.client == nil {
		return agent.Reply{}, m.problem
	}
	_, blind := m.blind.Load(p.Model)
	said := false
	reply, err := m.client.Chat(ctx, requestOf(p, !blind), func(piece string) error {
		said = true
		return heard(piece)
	})
	if err != nil && !said && !blind && aboutImages(p, err) && ctx.Err() == nil {
		if reply, err = m.client.Chat(ctx, requestOf(p, false), heard); err == nil {
			m.blind.Store(p.Model, true)
		}
	}
	if err != nil {
		return agent.Reply{}, err
	}
	return agent.Reply{
		Model: reply.Model, Input: reply.Usage.Input, Output: reply.Usage.Output, Stop: reply.Stop, Whole: reply.Stop == model.StopEnd,
	}, nil
}

// noImages stands where an image would be.
const noImages = "[this model takes no images: none is attached]"

func requestOf(p agent.Prompt, images bool) model.Request {
	r := model.Request{Model: p.Model, System: p.System, MaxTokens: p.MaxTokens}
	for _, said := range p.Messages {
		role, text := model.User, said.Text
		if said.Assistant {
			role = model.Assistant
		}
		if len(said.Images) > 0 && !images {
			text += "\n" + noImages
		}
		one := model.Said(role, text)
		for _, image := range said.Images {
			if images {
				one.Parts = append(one.Parts, model.Part{Image: &model.Image{MIME: image.MIME, Data: image.Data}})
			}
		}
		r.Messages = append(r.Messages, one)
	}
	return r
}

// aboutImages reports whether a failure may be that the model takes no images.
// Servers refuse such a request, or fail and say what with.
func aboutImages(p agent.Prompt, err error) bool {
	if !slices.ContainsFunc(p.Messages, func(m agent.Message) bool { return len(m.Images) > 0 }) {
		return false
	}
	text := strings.ToLower(err.Error())
	return errors.Is(err, model.ErrRefused) ||
		errors.Is(err, model.ErrUnavailable) && (strings.Contains(text, "image") || strings.Contains(text, "multimodal") || strings.Contains(text, "vision"))
}
