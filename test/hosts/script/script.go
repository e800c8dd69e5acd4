// Package script is a model server on loopback that answers coding agents as a
// script says, over the APIs they speak: Anthropic's messages, OpenAI's chat
// completions and responses, Gemini's generateContent.
//
// It keeps every request, so that a test sees what an agent's model would have
// seen. It judges nothing and knows no agent.
package script

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"
)

// Call is a tool call of the model's.
type Call struct {
	Tool string
	// Input is the tool's input: an object, or the text of a tool that takes one.
	Input any
}

// Reply is one answer of the model: words, then calls.
type Reply struct {
	Text  string
	Calls []Call
}

// Request is what an agent sent to its model.
type Request struct {
	API   string // anthropic, chat, responses, gemini
	Path  string
	Tools []string
	Turns []Turn
	Body  string // as it came
}

// Turn is one message of a conversation.
type Turn struct {
	Role string // system, user, model, tool
	Text string
}

// Server answers requests. A conversation follows the script of its latest
// prompt by one step for each answer since; a request without tools is a chore
// of the agent's own and gets a few words.
type Server struct {
	// Scripts are steps by the prompt that they answer, or a phrase of it. What
	// an agent says beside the prompt must not hold one.
	Scripts map[string][]Reply

	mu    sync.Mutex
	asked []Request
}

// Asked returns the requests so far.
func (s *Server) Asked() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.asked...)
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	raw, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	var body map[string]any
	_ = json.Unmarshal(raw, &body)
	wire := wireOf(r.URL.Path)
	if wire == nil || r.Method != http.MethodPost {
		w.Header().Set("Content-Type", "application/json")
		if strings.HasSuffix(r.URL.Path, "/count_tokens") || strings.HasSuffix(r.URL.Path, ":countTokens") {
			_, _ = io.WriteString(w, `{"input_tokens":100,"totalTokens":100}`)
			return
		}
		w.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(w, `{"error":{"message":"nothing here"}}`)
		return
	}
	req := wire.read(body)
	req.API, req.Path, req.Body = wire.name, r.URL.Path, string(raw)
	s.mu.Lock()
	s.asked = append(s.asked, req)
	s.mu.Unlock()
	stream, _ := body["stream"].(bool)
	wire.write(w, stream || strings.HasSuffix(r.URL.Path, ":streamGenerateContent"), s.reply(req))
}

// reply finds the step of a script.
func (s *Server) reply(req Request) Reply {
	chore := Reply{Text: "Understood."}
	if len(req.Tools) == 0 {
		return chore
	}
	var steps []Reply
	step, answering, prompted := 0, false, false
	for _, turn := range req.Turns {
		if turn.Role == "model" {
			if !answering {
				step++
			}
			answering, prompted = true, false
			continue
		}
		answering = false
		if found := s.script(turn); found != nil && !prompted {
			steps, step, prompted = found, 0, true
		}
	}
	if len(steps) == 0 {
		return chore
	}
	return steps[min(step, len(steps)-1)]
}

// script is the one that a turn asks for, nil for none.
func (s *Server) script(turn Turn) []Reply {
	if turn.Role != "user" {
		return nil
	}
	for phrase, steps := range s.Scripts {
		if strings.Contains(turn.Text, phrase) {
			return steps
		}
	}
	return nil
}

// wire is an API: how its requests are read and its answers written.
type wire struct {
	name  string
	read  func(body map[string]any) Request
	write func(w http.ResponseWriter, stream bool, reply Reply)
}

func wireOf(path string) *wire {
	switch {
	case strings.HasSuffix(path, "/messages"):
		return &wire{"anthropic", readAnthropic, writeAnthropic}
	case strings.HasSuffix(path, "/chat/completions"):
		return &wire{"chat", readChat, writeChat}
	case strings.HasSuffix(path, "/responses"):
		return &wire{"responses", readResponses, writeResponses}
	case strings.HasSuffix(path, "enerateContent"): // generateContent, streamGenerateContent
		return &wire{"gemini", readGemini, writeGemini}
	}
	return nil
}
