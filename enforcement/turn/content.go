package turn

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/writbus/writ/enforcement"
	"github.com/writbus/writ/enforcement/check"
	"github.com/writbus/writ/enforcement/confine"
	"github.com/writbus/writ/enforcement/confine/worktree"
	"github.com/writbus/writ/enforcement/host"
	"github.com/writbus/writ/enforcement/project"
	"github.com/writbus/writ/enforcement/redact"
	"github.com/writbus/writ/schemas"
)

// contents holds what tools write against the rules' checks.
type contents struct {
	sessions Sessions
	rules    Rules
	gitTime  time.Duration
	before   contentsBefore
	prompted contentsBefore // of files of code at the prompt, in small mode
}

// keptBefore bounds the contents that are kept between a tool's two hooks, and
// keptBytes what they hold together: a refused write has no second hook.
const (
	keptBefore = 128
	keptBytes  = 16 << 20
)

// contentsBefore are files as they stood before tools changed them. They are
// kept in memory only: without one, more lines count as changed than did.
type contentsBefore struct {
	mu    sync.Mutex
	byKey map[string][]byte
	order []string
	bytes int
}

func (c *contentsBefore) keep(key string, content []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.byKey == nil {
		c.byKey = map[string][]byte{}
	}
	if _, had := c.byKey[key]; !had {
		c.order = append(c.order, key)
	}
	c.bytes += len(content) - len(c.byKey[key])
	c.byKey[key] = content
	for len(c.order) > keptBefore || c.bytes > keptBytes && len(c.order) > 1 {
		c.bytes -= len(c.byKey[c.order[0]])
		delete(c.byKey, c.order[0])
		c.order = c.order[1:]
	}
}

// take returns a content once.
func (c *contentsBefore) take(key string) ([]byte, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	content, found := c.byKey[key]
	if found {
		c.bytes -= len(content)
		delete(c.byKey, key)
		c.order = slices.DeleteFunc(c.order, func(k string) bool { return k == key })
	}
	return content, found
}

// held is a content that stays.
func (c *contentsBefore) held(key string) ([]byte, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	content, found := c.byKey[key]
	return content, found
}

func (t turn) contentKey(path string) string {
	return t.Session + "\x00" + t.ToolUseID + "\x00" + path
}

// secrets finds the credentials that a call's writes would add to files, and
// keeps what the files hold now for the check after the tool.
func (c *contents) secrets(t turn, targets []schemas.Target) []enforcement.Secret {
	var all []enforcement.Secret
	for i, w := range t.Writes {
		target := targets[i]
		before, err := project.ReadFile(target.Path)
		readable := err == nil || errors.Is(err, fs.ErrNotExist)
		if readable && t.ToolUseID != "" {
			c.before.keep(t.contentKey(target.Path), before)
		}
		name := cmp.Or(target.Rel, target.Path)
		for _, s := range added(name, w, before, readable, err == nil) {
			kind := strings.ReplaceAll(s.Kind, "-", " ")
			all = append(all, enforcement.Secret{Path: name, Line: s.Line, What: article(kind) + " " + kind + " (" + s.Preview + ")"})
		}
	}
	return all
}

// added finds the credentials in what a write adds to a file. Where the file cannot
// be read, or it cannot be told what the write leaves of it, that is all it brings.
func added(name string, w host.Write, before []byte, readable, exists bool) (all []check.Secret) {
	if after, known := contentAfter(w, before, exists); readable && known {
		return check.Secrets(name, after, check.Changed(before, after))
	}
	if w.Content != nil {
		return check.Secrets(name, []byte(*w.Content), nil)
	}
	for _, e := range w.Edits {
		all = append(all, check.Secrets(name, []byte(e.New), nil)...)
	}
	return all
}

func article(word string) string {
	if word != "" && strings.ContainsRune("aeiouAEIOU", rune(word[0])) {
		return "an"
	}
	return "a"
}

// contentAfter is what a write would leave, if that can be told.
func contentAfter(w host.Write, before []byte, exists bool) ([]byte, bool) {
	switch {
	case w.Opaque:
		return nil, false
	case w.Content != nil:
		return []byte(*w.Content), true
	}
	text := string(before)
	for _, e := range w.Edits {
		switch {
		case e.Old == "" && !exists:
			text, exists = e.New, true
		case e.Old == "" || !strings.Contains(text, e.Old):
			return nil, false
		case e.All:
			text = strings.ReplaceAll(text, e.Old, e.New)
		default:
			text = strings.Replace(text, e.Old, e.New, 1)
		}
	}
	return []byte(text), true
}

// check runs the rules' checks over what a tool changed, records what
// they find and what of earlier findings is gone, and counts both as outcomes
// of the rules. It returns what the agent is told.
func (c *contents) check(ctx context.Context, t turn, session string, changes []enforcement.TreeChange) (told []string, err error) {
	set := c.rules.Checks()
	for _, f := range c.changedFiles(ctx, t, changes) {
		target, changed, after := f.target, f.lines, f.content
		if set.Len() == 0 {
			continue
		}
		content := enforcement.CheckContent{Path: target.Rel, ToolUseID: t.ToolUseID}
		for _, f := range set.Run(target.Rel, after, changed) {
			content.Found = append(content.Found, violationOf(f))
		}
		for _, f := range set.Run(target.Rel, after, nil) {
			content.Present = append(content.Present, violationOf(f).Key())
		}
		content.Ran = set.Rules(target.Rel, after, changed)
		decision, state, err := c.sessions.Act(ctx, session, schemas.Writ("checks"), t.PromptID, func(s enforcement.State) (enforcement.Decision, error) {
			return enforcement.Decide(s, content)
		})
		if err != nil {
			return told, err
		}
		if decision.Context != "" {
			told = append(told, decision.Context)
		}
		gap, err := c.planningGap(ctx, t, session, target, decision.Record)
		if err != nil {
			return told, err
		}
		told = append(told, gap)
		if err := c.outcomes(ctx, session, state, decision.Record, content.Ran, content.Found); err != nil {
			return told, err
		}
	}
	return told, nil
}

// changedFile is a file of the project that a tool changed.
type changedFile struct {
	target  schemas.Target
	content []byte
	lines   []check.Range // nil for all
}

// maxChecked bounds the files of one command that are checked.
const maxChecked = 16

// changedFiles are the files that a tool changed of which it is known which
// lines: those its call names, those that a command made, and those that a
// command changed without naming them and of which git has what they held. In a
// file that had changes before, what a command changed without naming it is not
// told from what stood there.
func (c *contents) changedFiles(ctx context.Context, t turn, changes []enforcement.TreeChange) []changedFile {
	var files []changedFile
	add := func(target schemas.Target, lines func([]byte) []check.Range) {
		after, err := project.ReadFile(target.Path)
		if target.Rel == "" || len(files) >= maxChecked || err != nil && !errors.Is(err, fs.ErrNotExist) {
			return
		}
		files = append(files, changedFile{target, after, lines(after)})
	}
	for _, w := range t.Writes {
		target := t.project.Target(w.Path, t.Dir)
		add(target, func(after []byte) []check.Range { return t.changedLines(&c.before, w, target.Path, after) })
	}
	if t.Shell == nil {
		return files
	}
	for _, target := range t.touched(nil) {
		if before, known := c.before.take(t.contentKey(target.Path)); known {
			add(target, func(after []byte) []check.Range { return check.Changed(before, after) })
		}
	}
	c.addReplaced(ctx, t, changes, func(target schemas.Target, before []byte) {
		if !slices.ContainsFunc(files, func(f changedFile) bool { return f.target.Path == target.Path }) {
			add(target, func(after []byte) []check.Range { return check.Changed(before, after) })
		}
	})
	for _, change := range changes {
		made := change.Change == confine.Created && !slices.ContainsFunc(files, func(f changedFile) bool { return f.target.Path == change.Target.Path })
		if made && (change.Target.Class == enforcement.ClassCode || change.Target.Class == enforcement.ClassTest) {
			add(change.Target, func([]byte) []check.Range { return nil })
		}
	}
	return files
}

// addReplaced gives the files that a command changed with what they held before.
func (c *contents) addReplaced(ctx context.Context, t turn, changes []enforcement.TreeChange, add func(schemas.Target, []byte)) {
	var targets []schemas.Target
	var names []string
	for _, change := range changes {
		name, known := t.was[change.Target.Rel]
		if known && len(names) < maxChecked && (change.Target.Class == enforcement.ClassCode || change.Target.Class == enforcement.ClassTest) {
			targets, names = append(targets, change.Target), append(names, name)
		}
	}
	ctx, cancel := context.WithTimeout(ctx, c.gitTime)
	defer cancel()
	held := worktree.Blobs(ctx, t.project.Root, names)
	for i, target := range targets {
		if before, found := held[names[i]]; found {
			add(target, before)
		}
	}
}

// keepBefore remembers the files that a command names as its targets, as they
// stand before it.
func (c *contents) keepBefore(t turn, targets []schemas.Target) {
	if t.ToolUseID == "" {
		return
	}
	for _, target := range targets[:min(len(targets), maxChecked)] {
		if target.Rel == "" || target.Class != enforcement.ClassCode && target.Class != enforcement.ClassTest {
			continue
		}
		before, err := project.ReadFile(target.Path)
		if err == nil || errors.Is(err, fs.ErrNotExist) {
			c.before.keep(t.contentKey(target.Path), before)
		}
	}
}

// changedLines are the lines of the file that the call changed.
func (t turn) changedLines(held *contentsBefore, w host.Write, path string, after []byte) []check.Range {
	if before, known := held.take(t.contentKey(path)); known {
		return check.Changed(before, after)
	}
	if len(w.Edits) == 0 {
		return nil // all of it
	}
	lines := []check.Range{}
	for _, e := range w.Edits {
		if at := bytes.Index(after, []byte(e.New)); at >= 0 && e.New != "" {
			first := 1 + bytes.Count(after[:at], []byte("\n"))
			lines = append(lines, check.Range{First: first, Last: first + strings.Count(e.New, "\n")})
		}
	}
	return check.Normalise(lines)
}

// violationOf has the line as the log has it: a violation is told by it.
func violationOf(f check.Finding) schemas.Violation {
	return schemas.Violation{Rule: f.Rule, Path: f.Path, Line: f.Line, Excerpt: redact.Text(f.Excerpt), Message: f.Message}
}

// outcomes records what a check says of its rule: broken, fixed, or
// followed where the session had been shown the rule and the check found
// nothing. Each counts five times a session at most, and more is not recorded.
func (c *contents) outcomes(ctx context.Context, session string, state enforcement.State, record []schemas.Payload, ran []string, found []schemas.Violation) error {
	outcomes := map[string]schemas.OutcomeRecorded{}
	for _, id := range ran {
		_, shown := slices.BinarySearch(state.Shown, id)
		if shown && !slices.ContainsFunc(found, func(v schemas.Violation) bool { return v.Rule == id }) {
			outcomes[id] = schemas.OutcomeRecorded{Positive: true, Evidence: "check_passed"}
		}
	}
	for _, p := range record {
		switch p := p.(type) {
		case schemas.RuleViolated:
			for _, v := range p.Violations {
				outcomes[v.Rule] = schemas.OutcomeRecorded{Evidence: "check_failed", Detail: v.Path}
			}
		case schemas.ViolationFixed:
			for _, v := range p.Violations {
				outcomes[v.Rule] = schemas.OutcomeRecorded{Positive: true, Evidence: "fixed", Detail: v.Path}
			}
		}
	}
	return c.record(ctx, session, outcomes)
}

// record notes what came of rules in a session.
func (c *contents) record(ctx context.Context, session string, outcomes map[string]schemas.OutcomeRecorded) error {
	for id, o := range outcomes {
		o.Session = session
		if err := c.rules.Outcome(ctx, id, o); err != nil {
			return err
		}
	}
	return nil
}

// gone lists the pending violations of files that are gone, or that were mended
// by other means than a tool that Writ sees.
func (c *contents) gone(t turn, s enforcement.State) []schemas.Violation {
	set := c.rules.Checks()
	present := map[string]map[string]bool{}
	var gone []schemas.Violation
	for _, v := range s.Violations {
		if present[v.Path] == nil {
			present[v.Path] = map[string]bool{}
			content, err := project.ReadFile(filepath.Join(t.project.Root, filepath.FromSlash(v.Path)))
			if err == nil {
				for _, f := range set.Run(v.Path, content, nil) {
					present[v.Path][violationOf(f).Key()] = true
				}
			}
		}
		if !present[v.Path][v.Key()] {
			gone = append(gone, v)
		}
	}
	return gone
}

// onSessionEnd closes a session; what it leaves broken counts against the
// rules' following.
func (v *Service) onSessionEnd(ctx context.Context, t turn) (host.Answer, error) {
	decision, state, err := v.Sessions.Act(ctx, t.Session, t.agent(), t.PromptID, func(s enforcement.State) (enforcement.Decision, error) {
		return enforcement.Decide(s, enforcement.EndSession{Reason: t.Reason})
	})
	if err != nil {
		return host.Answer{}, err
	}
	left := map[string]schemas.OutcomeRecorded{}
	for _, v := range state.Violations {
		left[v.Rule] = schemas.OutcomeRecorded{Evidence: "left", Detail: v.Path}
	}
	return host.Answer{Context: decision.Context, Notice: decision.Notice}, v.contents.record(ctx, t.Session, left)
}
