package model

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"
)

// anthropic speaks the messages API.
func (c *Client) anthropic() func(context.Context, *watch, Request, func(string) error) (Reply, string, error) {
	// The service alone: anthropic.NewClient would read the environment.
	options := []option.RequestOption{option.WithBaseURL(c.config.BaseURL), option.WithHTTPClient(c.http), option.WithMaxRetries(0)}
	if c.config.Key != "" {
		options = append(options, option.WithAPIKey(c.config.Key))
	}
	service := anthropic.NewMessageService(options...)
	return func(ctx context.Context, w *watch, r Request, heard func(string) error) (reply Reply, said string, err error) {
		stream := service.NewStreaming(ctx, anthropicRequest(r), option.WithMiddleware(w.middleware))
		defer func() { _ = stream.Close() }()
		stop := ""
		for stream.Next() {
			event := stream.Current()
			switch event.Type {
			case "message_start":
				reply.Model = string(event.Message.Model)
				reply.Usage.Input = int(event.Message.Usage.InputTokens)
			case "content_block_delta":
				if event.Delta.Text == "" {
					continue
				}
				if err := heard(event.Delta.Text); err != nil {
					return reply, "", err
				}
			case "message_delta":
				stop = stopped(string(event.Delta.StopReason))
				reply.Usage.Output = int(event.Usage.OutputTokens)
			case "message_stop":
				reply.Stop = cmp.Or(stop, StopEnd)
			}
		}
		err = stream.Err()
		if refused, ok := errors.AsType[*anthropic.Error](err); ok {
			said = anthropicSaid(refused.RawJSON())
		}
		return reply, said, err
	}
}

// anthropicSaid is the type and message of an error's body, or the body.
func anthropicSaid(raw string) string {
	var body struct {
		Error struct {
			Type    string `json:"type"`
			Message string `json:"message"`
		} `json:"error"`
	}
	if json.Unmarshal([]byte(raw), &body) != nil || body.Error.Type == "" {
		return raw
	}
	return body.Error.Type + ": " + body.Error.Message
}

// anthropicRequest is the request in the API's words.
func anthropicRequest(r Request) anthropic.MessageNewParams {
	p := anthropic.MessageNewParams{Model: anthropic.Model(r.Model), MaxTokens: int64(r.MaxTokens), StopSequences: r.Stop}
	if r.System != "" {
		p.System = []anthropic.TextBlockParam{{Text: r.System}}
	}
	if r.Temperature != nil {
		p.Temperature = anthropic.Float(*r.Temperature)
	}
	for _, m := range r.Messages {
		var blocks []anthropic.ContentBlockParamUnion
		for _, part := range m.Parts {
			if part.Image == nil {
				blocks = append(blocks, anthropic.NewTextBlock(part.Text))
				continue
			}
			blocks = append(blocks, anthropic.NewImageBlockBase64(part.Image.MIME, base64.StdEncoding.EncodeToString(part.Image.Data)))
		}
		if m.Role == Assistant {
			p.Messages = append(p.Messages, anthropic.NewAssistantMessage(blocks...))
		} else {
			p.Messages = append(p.Messages, anthropic.NewUserMessage(blocks...))
		}
	}
	return p
}
