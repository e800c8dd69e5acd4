package turn

import (
	"strings"
	"sync"
)

// waiting remembers which sessions were told what settings wait for a person.
type waiting struct {
	mu   sync.Mutex
	told map[string]string // by session
}

// keptWaiting bounds the sessions that are remembered.
const keptWaiting = 256

// ask is the question about settings that wait, once for a session and what waits;
// "" for none.
func (w *waiting) ask(t turn) string {
	text := strings.Join(t.project.Settings.Waits, "\n- ")
	w.mu.Lock()
	defer w.mu.Unlock()
	if text == "" || w.told[t.Session] == text {
		return ""
	}
	if w.told == nil || len(w.told) >= keptWaiting {
		w.told = map[string]string{}
	}
	w.told[t.Session] = text
	return "writ: " + settingsFile + " asks less of agents than what you accepted, which goes on ruling:\n- " + text +
		"\nTo accept it as it stands: writ approve settings, in a terminal of your own."
}
