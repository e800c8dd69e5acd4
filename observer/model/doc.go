// Package model asks a language model: one Client for the OpenAI-compatible
// chat API and the Anthropic messages API, over their official SDKs.
//
//	c, err := model.New(model.Config{API: model.OpenAI, BaseURL: "http://127.0.0.1:11434/v1", Model: "m"})
//	reply, err := c.Chat(ctx, model.Request{System: "…", Messages: []model.Message{model.Said(model.User, "…")}}, nil)
//
// An answer is streamed; a listener gets its text as it arrives. Each test
// named here runs against a server that does what is promised to be survived.
//
// Guaranteed:
//
//   - An answer is whole or an error: a stream that ends before the model said
//     that it has finished is ErrCut, whatever length the server had promised.
//     TestChatFails.
//   - No call outlives Config.Timeout, no silence within a stream
//     Config.Stall, and no answer Config.MaxBytes. TestChatFails.
//   - A listener hears each piece once: a call is tried again only while
//     nothing of it was heard. TestRetries.
//   - After Config.BreakAfter failures in a row calls fail at once with
//     ErrOpen, for Config.BreakFor; then one is let through. Refused requests
//     and callers that gave up are no failures. TestBreaker.
//   - The key is in no error, and goes to no other address: redirections are
//     not followed. TestKeyStaysSecret.
//
// Not here: settings and where keys come from (they arrive in Config; nothing
// reads the environment), prompts, and what an answer means.
package model
