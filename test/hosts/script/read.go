package script

import (
	"encoding/json"
	"strings"
)

// list, object and text look at decoded JSON; what is of another shape is empty.
func list(v any) []any {
	all, _ := v.([]any)
	return all
}

func object(v any) map[string]any {
	one, _ := v.(map[string]any)
	return one
}

func text(v any) string {
	s, _ := v.(string)
	return s
}

// words is the text in a message's content: a string, or parts with text, or
// anything that holds such parts.
func words(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case []any:
		var all []string
		for _, part := range v {
			if said := words(part); said != "" {
				all = append(all, said)
			}
		}
		return strings.Join(all, "\n")
	case map[string]any:
		for _, key := range []string{"text", "content", "parts", "output"} {
			if inner, there := v[key]; there {
				return words(inner)
			}
		}
		if raw, err := json.Marshal(v); err == nil {
			return string(raw)
		}
	}
	return ""
}

func names(tools []any) []string {
	var all []string
	for _, tool := range tools {
		one := object(tool)
		for _, declared := range list(one["functionDeclarations"]) {
			all = append(all, text(object(declared)["name"]))
		}
		if function := object(one["function"]); function != nil {
			one = function
		}
		if name := text(one["name"]); name != "" {
			all = append(all, name)
		} else if kind := text(one["type"]); kind != "" {
			all = append(all, kind)
		}
	}
	return all
}

func readAnthropic(body map[string]any) Request {
	req := Request{Tools: names(list(body["tools"])), Turns: []Turn{{"system", words(body["system"])}}}
	for _, m := range list(body["messages"]) {
		message := object(m)
		if text(message["role"]) == "assistant" {
			req.Turns = append(req.Turns, Turn{"model", words(message["content"])})
			continue
		}
		if said := text(message["content"]); said != "" {
			req.Turns = append(req.Turns, Turn{"user", said})
		}
		for _, part := range list(message["content"]) {
			role := "user"
			if text(object(part)["type"]) == "tool_result" {
				role = "tool"
			}
			req.Turns = append(req.Turns, Turn{role, words(part)})
		}
	}
	return req
}

func readChat(body map[string]any) Request {
	req := Request{Tools: names(list(body["tools"]))}
	roles := map[string]string{"assistant": "model", "developer": "system"}
	for _, m := range list(body["messages"]) {
		message := object(m)
		role := text(message["role"])
		if known := roles[role]; known != "" {
			role = known
		}
		req.Turns = append(req.Turns, Turn{role, words(message["content"])})
	}
	return req
}

func readResponses(body map[string]any) Request {
	req := Request{Tools: names(list(body["tools"])), Turns: []Turn{{"system", text(body["instructions"])}}}
	if said := text(body["input"]); said != "" {
		req.Turns = append(req.Turns, Turn{"user", said})
	}
	for _, i := range list(body["input"]) {
		item := object(i)
		turn := Turn{"model", words(item["content"])}
		switch kind := text(item["type"]); {
		case kind == "additional_tools":
			req.Tools = append(req.Tools, names(list(item["tools"]))...)
			continue
		case strings.HasSuffix(kind, "_output"):
			turn = Turn{"tool", words(item["output"])}
		case text(item["role"]) == "user":
			turn.Role = "user"
		case text(item["role"]) == "developer" || text(item["role"]) == "system":
			turn.Role = "system"
		case kind == "reasoning":
			continue
		}
		req.Turns = append(req.Turns, turn)
	}
	return req
}

func readGemini(body map[string]any) Request {
	req := Request{Tools: names(list(body["tools"])), Turns: []Turn{{"system", words(body["systemInstruction"])}}}
	for _, c := range list(body["contents"]) {
		content := object(c)
		if text(content["role"]) == "model" {
			req.Turns = append(req.Turns, Turn{"model", words(content["parts"])})
			continue
		}
		for _, part := range list(content["parts"]) {
			turn := Turn{"user", words(part)}
			if answer := object(object(part)["functionResponse"]); answer != nil {
				turn = Turn{"tool", words(answer["response"])}
			}
			req.Turns = append(req.Turns, turn)
		}
	}
	return req
}
