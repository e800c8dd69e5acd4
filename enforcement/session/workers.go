package session

import (
	"context"
	"maps"
	"slices"

	"github.com/writbus/writ/enforcement"
	"github.com/writbus/writ/projections"
)

// searchedSessions bounds how many of the latest sessions are looked through
// for the workers of an orchestrator that began before this daemon.
const searchedSessions = 1000

// Link remembers a sub-agent's own session.
func (s *Sessions) Link(parent, child string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.workers[parent] == nil {
		s.workers[parent] = map[string]bool{}
	}
	s.workers[parent][child] = true
}

// Linked returns the own sessions of a session's sub-agents.
func (s *Sessions) Linked(parent string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Keys(s.workers[parent]))
}

// leftByWorkers gathers what the linked sessions of an orchestrator left: the
// contents of the test files they wrote, and the files' names. An ordinary
// session's sub-agents act in its own log and leave nothing apart.
func (s *Sessions) leftByWorkers(ctx context.Context, id string, state enforcement.State) (left map[string][]string, tests []string) {
	if !state.Orchestrator && state.Subagents != enforcement.SubagentsExempt {
		return nil, nil
	}
	s.findWorkers(id)
	left = map[string][]string{}
	for _, child := range s.Linked(id) {
		worker, err := s.Peek(ctx, child)
		if err != nil {
			continue
		}
		for file, sums := range worker.LeftFiles() {
			left[file] = append(left[file], sums...)
		}
		tests = append(tests, worker.TestFiles()...)
	}
	return left, tests
}

// findWorkers looks for workers that began before this daemon did, until it could
// look once. What cannot be read now is missing, which closes a gate rather than
// opening one.
func (s *Sessions) findWorkers(id string) {
	s.mu.Lock()
	found := s.scanned[id]
	s.mu.Unlock()
	if found {
		return
	}
	err := s.Runtime.Read(s.List.Name(), func(reader projections.Reader) error {
		seen := 0
		for one, err := range s.List.List(reader) {
			if err != nil {
				return err
			}
			if one.Parent == id {
				s.Link(id, one.ID)
			}
			if seen++; seen >= searchedSessions {
				break
			}
		}
		return nil
	})
	if err != nil {
		s.Logger.Warn("find the workers of a session", "session", id, "error", err)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.scanned[id] = true
}
