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

// shown remembers, of the sessions that ended a turn last, what waited for the user's
// approval then, by its fingerprint. In memory only: where it is not known, an answer
// approves what stands there.
type shown struct {
	mu        sync.Mutex
	bySession map[string]string
}

func (m *shown) keep(session, fingerprint string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if fingerprint == "" {
		delete(m.bySession, session)
		return
	}
	if m.bySession == nil || len(m.bySession) >= keptWaiting && m.bySession[session] == "" {
		m.bySession = map[string]string{}
	}
	m.bySession[session] = fingerprint
}

func (m *shown) of(session string) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.bySession[session]
}
