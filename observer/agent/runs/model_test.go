package runs

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/writbus/writ/observer/agent"
	"github.com/writbus/writ/observer/agent/verbs"
	"github.com/writbus/writ/observer/model"
)

// TestAModelWithoutVision gets the text alone.
func TestAModelWithoutVision(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		status int
		says   string
		answer bool
		asked  string // of two prompts, in order: with an image or without
	}{
		{"refuses", http.StatusBadRequest, "image_url is not supported", true, "image text text"},
		{"fails", http.StatusInternalServerError, "image input is not supported", true, "image image image text text"},
		{"another reason", http.StatusUnauthorized, "who are you?", false, "image image"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var asked []string
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				raw, _ := io.ReadAll(r.Body)
				if strings.Contains(string(raw), "image_url") {
					asked = append(asked, "image")
					w.Header().Set("Content-Type", "application/json")
					w.WriteHeader(c.status)
					fmt.Fprintf(w, `{"error":{"message":%q}}`, c.says)
					return
				}
				if !strings.Contains(string(raw), noImages) {
					t.Errorf("nobody says that there is no image: %s", raw)
				}
				asked = append(asked, "text")
				w.Header().Set("Content-Type", "text/event-stream")
				_, _ = io.WriteString(w, "data: {\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a text\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
			}))
			defer server.Close()
			client, err := model.New(model.Config{API: model.OpenAI, BaseURL: server.URL, Model: "m", RetryWait: time.Millisecond})
			if err != nil {
				t.Fatal(err)
			}
			m := &chatModel{client: client}
			p := agent.Prompt{Messages: []agent.Message{{Text: "look", Images: []verbs.Image{{MIME: "image/png", Data: []byte("png")}}}}}
			for range 2 {
				said := ""
				_, err := m.Chat(t.Context(), p, func(piece string) error { said += piece; return nil })
				if (err == nil) != c.answer || c.answer && said != "a text" {
					t.Errorf("%q, %v", said, err)
				}
			}
			if got := strings.Join(asked, " "); got != c.asked {
				t.Errorf("asked %s, want %s", got, c.asked)
			}
		})
	}
}
