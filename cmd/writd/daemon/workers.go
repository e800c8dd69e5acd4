package daemon

import (
	"context"

	"github.com/writbus/writ/enforcement"
	"github.com/writbus/writ/projections"
)

// searchedSessions bounds how many of the latest sessions are looked through
// for the workers of an orchestrator that began before this daemon.
const searchedSessions = 1000

// link remembers a sub-agent's own session.
func (s *sessions) link(parent, child string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.workers[parent] == nil {
		s.workers[parent] = map[string]bool{}
	}
	s.workers[parent][child] = true
}

func (s *sessions) linked(parent string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var children []string
	for child := range s.workers[parent] {
		children = append(children, child)
	}
	return children
}

// workers gathers what the linked sessions of an orchestrator left: the
// contents of the test files they wrote, and the files' names. An ordinary
// session's sub-agents act in its own log and leave nothing apart.
func (d *Daemon) workers(ctx context.Context, id string, s enforcement.State) (left map[string][]string, tests []string) {
	if !s.Orchestrator && s.Subagents != enforcement.SubagentsExempt {
		return nil, nil
	}
	if !d.sessions.searched(id) {
		d.findWorkers(id)
	}
	left = map[string][]string{}
	for _, child := range d.sessions.linked(id) {
		state, err := d.sessions.peek(ctx, child)
		if err != nil {
			continue
		}
		for file, sums := range state.LeftFiles() {
			left[file] = append(left[file], sums...)
		}
		tests = append(tests, state.TestFiles()...)
	}
	return left, tests
}

// searched reports whether the list of sessions was looked through for this
// one's workers, and notes that it is now.
func (s *sessions) searched(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	was := s.scanned[id]
	s.scanned[id] = true
	return was
}

// findWorkers looks for workers that began before this daemon did. What cannot
// be read now is missing, which closes a gate rather than opening one.
func (d *Daemon) findWorkers(id string) {
	err := d.runtime.Read(viewSessions, func(reader projections.Reader) error {
		seen := 0
		for s, err := range d.views.sessions.List(reader) {
			if err != nil {
				return err
			}
			if s.Parent == id {
				d.sessions.link(id, s.ID)
			}
			if seen++; seen >= searchedSessions {
				break
			}
		}
		return nil
	})
	if err != nil {
		d.logger.Warn("find the workers of a session", "session", id, "error", err)
	}
}
