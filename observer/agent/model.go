package agent

import (
	"context"

	"github.com/writbus/writ/observer/agent/verbs"
)

// Model answers conversations. It is safe for concurrent use.
type Model interface {
	// Chat asks and returns what there is to say about the whole answer. heard
	// gets the text in pieces as it arrives, from the calling goroutine; its
	// error ends the call and is returned. Pieces that were handed on before an
	// error stay said.
	Chat(ctx context.Context, p Prompt, heard func(piece string) error) (Reply, error)
}

// Prompt is one question to a model.
type Prompt struct {
	Model     string // "" is the configured one
	System    string
	Messages  []Message // the last is the user's
	MaxTokens int       // of the answer; 0 is the configured bound
}

// Message is what one side said.
type Message struct {
	Assistant bool
	Text      string
	Images    []verbs.Image // of the user's side
}

// Reply describes a whole answer; its text was handed on in pieces.
type Reply struct {
	Model  string // as the server names it
	Input  int    // tokens
	Output int
	// Whole says that the model had finished; an answer that a bound or a filter
	// ended may lack the end of its last line.
	Whole bool
	Stop  string // the server's word for why it ended
}
