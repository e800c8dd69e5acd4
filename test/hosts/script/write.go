package script

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"sync/atomic"
)

// serial makes ids that no two calls share.
var serial atomic.Int64

func id(prefix string) string { return prefix + strconv.FormatInt(serial.Add(1), 10) }

type fields = map[string]any

// encoded is a value as JSON. Replies hold nothing that does not marshal.
func encoded(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(raw)
}

func whole(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = fmt.Fprintln(w, encoded(v))
}

// event writes one server-sent event; without a name it is only data.
func event(w http.ResponseWriter, name string, v any) {
	w.Header().Set("Content-Type", "text/event-stream")
	if name != "" {
		_, _ = fmt.Fprintf(w, "event: %s\n", name)
	}
	_, _ = fmt.Fprintf(w, "data: %s\n\n", encoded(v))
}

func writeAnthropic(w http.ResponseWriter, stream bool, reply Reply) {
	var blocks []fields
	if reply.Text != "" {
		blocks = append(blocks, fields{"type": "text", "text": reply.Text})
	}
	end := "end_turn"
	for _, c := range reply.Calls {
		blocks = append(blocks, fields{"type": "tool_use", "id": id("toolu_"), "name": c.Tool, "input": c.Input})
		end = "tool_use"
	}
	message := fields{
		"id": id("msg_"), "type": "message", "role": "assistant", "model": "scripted", "content": blocks,
		"stop_reason": end, "stop_sequence": nil, "usage": fields{"input_tokens": 10, "output_tokens": 5},
	}
	if !stream {
		whole(w, message)
		return
	}
	message["content"], message["stop_reason"] = []any{}, nil
	event(w, "message_start", fields{"type": "message_start", "message": message})
	for i, block := range blocks {
		begun, delta := fields{"type": "text", "text": ""}, fields{"type": "text_delta", "text": block["text"]}
		if block["type"] == "tool_use" {
			begun = fields{"type": "tool_use", "id": block["id"], "name": block["name"], "input": fields{}}
			delta = fields{"type": "input_json_delta", "partial_json": encoded(block["input"])}
		}
		event(w, "content_block_start", fields{"type": "content_block_start", "index": i, "content_block": begun})
		event(w, "content_block_delta", fields{"type": "content_block_delta", "index": i, "delta": delta})
		event(w, "content_block_stop", fields{"type": "content_block_stop", "index": i})
	}
	event(w, "message_delta", fields{
		"type": "message_delta", "delta": fields{"stop_reason": end, "stop_sequence": nil}, "usage": fields{"output_tokens": 5},
	})
	event(w, "message_stop", fields{"type": "message_stop"})
}

func writeChat(w http.ResponseWriter, stream bool, reply Reply) {
	message, end := fields{"role": "assistant", "content": reply.Text}, "stop"
	var calls []fields
	for i, c := range reply.Calls {
		calls = append(calls, fields{
			"index": i, "id": id("call_"), "type": "function",
			"function": fields{"name": c.Tool, "arguments": encoded(c.Input)},
		})
	}
	if calls != nil {
		message["tool_calls"], end = calls, "tool_calls"
	}
	usage := fields{"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
	if !stream {
		whole(w, fields{
			"id": id("chat_"), "object": "chat.completion", "model": "scripted", "usage": usage,
			"choices": []any{fields{"index": 0, "message": message, "finish_reason": end}},
		})
		return
	}
	chunk := func(choices []any, extra fields) {
		all := fields{"id": "chat", "object": "chat.completion.chunk", "created": 1, "model": "scripted", "choices": choices}
		for key, v := range extra {
			all[key] = v
		}
		event(w, "", all)
	}
	chunk([]any{fields{"index": 0, "delta": message, "finish_reason": nil}}, nil)
	chunk([]any{fields{"index": 0, "delta": fields{}, "finish_reason": end}}, nil)
	chunk([]any{}, fields{"usage": usage})
	_, _ = fmt.Fprint(w, "data: [DONE]\n\n")
}

func writeResponses(w http.ResponseWriter, stream bool, reply Reply) {
	var items []any
	if reply.Text != "" {
		items = append(items, fields{
			"type": "message", "id": id("msg_"), "role": "assistant", "status": "completed",
			"content": []any{fields{"type": "output_text", "text": reply.Text, "annotations": []any{}}},
		})
	}
	for _, c := range reply.Calls {
		item := fields{"type": "function_call", "id": id("fc_"), "call_id": id("call_"), "name": c.Tool, "status": "completed"}
		if free, ok := c.Input.(string); ok {
			item["type"], item["input"] = "custom_tool_call", free
		} else {
			item["arguments"] = encoded(c.Input)
		}
		items = append(items, item)
	}
	response := fields{
		"id": id("resp_"), "object": "response", "created_at": 1, "status": "completed", "model": "scripted", "output": items,
		"usage": fields{
			"input_tokens": 10, "input_tokens_details": fields{"cached_tokens": 0},
			"output_tokens": 5, "output_tokens_details": fields{"reasoning_tokens": 0}, "total_tokens": 15,
		},
	}
	if !stream {
		whole(w, response)
		return
	}
	event(w, "response.created", fields{"type": "response.created", "response": fields{"id": response["id"]}})
	for i, item := range items {
		event(w, "response.output_item.added", fields{"type": "response.output_item.added", "output_index": i, "item": item})
		event(w, "response.output_item.done", fields{"type": "response.output_item.done", "output_index": i, "item": item})
	}
	event(w, "response.completed", fields{"type": "response.completed", "response": response})
}

func writeGemini(w http.ResponseWriter, stream bool, reply Reply) {
	var parts []any
	if reply.Text != "" {
		parts = append(parts, fields{"text": reply.Text})
	}
	for _, c := range reply.Calls {
		parts = append(parts, fields{"functionCall": fields{"id": id("call_"), "name": c.Tool, "args": c.Input}})
	}
	answer := fields{
		"candidates":    []any{fields{"index": 0, "finishReason": "STOP", "content": fields{"role": "model", "parts": parts}}},
		"usageMetadata": fields{"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15},
		"modelVersion":  "scripted",
	}
	if !stream {
		whole(w, answer)
		return
	}
	event(w, "", answer)
}
