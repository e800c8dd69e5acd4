package daemon

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"testing"

	"github.com/writbus/writ/cmd/internal/config"
	"github.com/writbus/writ/enforcement/httphook"
)

// TestHooksOverHTTPAreTheSameHooks: the gate answers at the configured address,
// to whoever has the token.
func TestHooksOverHTTPAreTheSameHooks(t *testing.T) {
	host := "127.0.0.1"
	if runtime.GOOS == "linux" { // an address at which nobody else is given the port
		host = "127.8.9.1"
	}
	l, err := net.Listen("tcp", net.JoinHostPort(host, "0"))
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	data := t.TempDir()
	w := startWith(t, data, newProject(t, "mode: work\n"), func(s *config.Settings) { s.HTTPHooks = address })
	token, err := httphook.Token(config.Layout{Root: data}.Credentials())
	if err != nil {
		t.Fatal(err)
	}
	post := func(bearer string) (int, string) {
		payload := fmt.Sprintf(`{"session_id":"s1","cwd":%q,"hook_event_name":"PreToolUse","tool_name":"Write","tool_input":{"file_path":%q,"content":"x"}}`, w.project, w.project+"/a.go")
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+address+"/hook/claude/PreToolUse", strings.NewReader(payload))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Authorization", "Bearer "+bearer)
		reply, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = reply.Body.Close() }()
		body, err := io.ReadAll(reply.Body)
		if err != nil {
			t.Fatal(err)
		}
		return reply.StatusCode, string(body)
	}
	if code, body := post(token); code != http.StatusOK || !strings.Contains(body, `"deny"`) || !strings.Contains(body, "ENF-GATE-PLAN") {
		t.Errorf("%d %s", code, body)
	}
	if code, body := post("guess"); code == http.StatusOK && !strings.Contains(body, `"deny"`) {
		t.Errorf("a stranger is answered %d %s", code, body)
	}
}
