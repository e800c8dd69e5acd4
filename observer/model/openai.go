package model

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"net/url"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
)

// openAI speaks the chat completions API.
func (c *Client) openAI() func(context.Context, *watch, Request, func(string) error) (Reply, string, error) {
	// The service alone: openai.NewClient would read the environment.
	options := []option.RequestOption{option.WithBaseURL(c.config.BaseURL), option.WithHTTPClient(c.http), option.WithMaxRetries(0)}
	if c.config.Key != "" {
		options = append(options, option.WithAPIKey(c.config.Key))
	}
	service := openai.NewChatCompletionService(options...)
	u, err := url.Parse(c.config.BaseURL)
	own := err == nil && u.Hostname() == "api.openai.com"
	return func(ctx context.Context, w *watch, r Request, heard func(string) error) (reply Reply, said string, err error) {
		stream := service.NewStreaming(ctx, openAIRequest(r, own), option.WithMiddleware(w.middleware))
		defer func() { _ = stream.Close() }()
		for stream.Next() {
			chunk := stream.Current()
			if chunk.Model != "" {
				reply.Model = chunk.Model
			}
			if chunk.Usage.PromptTokens > 0 || chunk.Usage.CompletionTokens > 0 {
				reply.Usage = Usage{Input: int(chunk.Usage.PromptTokens), Output: int(chunk.Usage.CompletionTokens)}
			}
			for _, choice := range chunk.Choices {
				if choice.Index != 0 {
					continue
				}
				if choice.Delta.Content != "" {
					if err := heard(choice.Delta.Content); err != nil {
						return reply, "", err
					}
				}
				if choice.FinishReason != "" {
					reply.Stop = stopped(choice.FinishReason)
				}
			}
		}
		err = stream.Err()
		if refused, ok := errors.AsType[*openai.Error](err); ok {
			said = cmp.Or(refused.Message, refused.Code, refused.RawJSON())
		}
		return reply, said, err
	}
}

// openAIRequest is the request in the API's words. OpenAI's own newer models
// take the bound under a new name only, other servers know the old one only.
func openAIRequest(r Request, own bool) openai.ChatCompletionNewParams {
	p := openai.ChatCompletionNewParams{
		Model:         r.Model,
		StreamOptions: openai.ChatCompletionStreamOptionsParam{IncludeUsage: openai.Bool(true)},
	}
	if own {
		p.MaxCompletionTokens = openai.Int(int64(r.MaxTokens))
	} else {
		p.MaxTokens = openai.Int(int64(r.MaxTokens))
	}
	if r.Temperature != nil {
		p.Temperature = openai.Float(*r.Temperature)
	}
	if len(r.Stop) > 0 {
		p.Stop = openai.ChatCompletionNewParamsStopUnion{OfStringArray: r.Stop}
	}
	if r.System != "" {
		p.Messages = append(p.Messages, openai.SystemMessage(r.System))
	}
	for _, m := range r.Messages {
		if m.Role == Assistant {
			p.Messages = append(p.Messages, openai.AssistantMessage(joined(m.Parts)))
			continue
		}
		if len(m.Parts) == 1 && m.Parts[0].Image == nil {
			p.Messages = append(p.Messages, openai.UserMessage(m.Parts[0].Text)) // what every server understands
			continue
		}
		var parts []openai.ChatCompletionContentPartUnionParam
		for _, part := range m.Parts {
			if part.Image == nil {
				parts = append(parts, openai.TextContentPart(part.Text))
				continue
			}
			parts = append(parts, openai.ImageContentPart(openai.ChatCompletionContentPartImageImageURLParam{
				URL: "data:" + part.Image.MIME + ";base64," + base64.StdEncoding.EncodeToString(part.Image.Data),
			}))
		}
		p.Messages = append(p.Messages, openai.UserMessage(parts))
	}
	return p
}

// stopped is the reason in this package's words.
func stopped(reason string) string {
	switch reason {
	case "stop", "end_turn", "stop_sequence":
		return StopEnd
	case "length", "max_tokens", "model_context_window_exceeded":
		return StopLength
	case "content_filter", "refusal":
		return StopFilter
	}
	return reason
}

func joined(parts []Part) (text string) {
	for _, p := range parts {
		text += p.Text
	}
	return text
}
