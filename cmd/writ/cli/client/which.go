package client

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/writbus/writ/cmd/internal/config"
	"github.com/writbus/writ/schemas"
)

// FindProject looks above a folder as it is named, and as its links resolve,
// for settings or a project that was registered when it had them.
func (a *Client) FindProject(dir string) (root string, found bool) {
	if !filepath.IsAbs(dir) {
		return "", false
	}
	dir = filepath.Clean(dir)
	find := config.FindProject
	if dataDir, err := a.Env.DataDir(); err == nil {
		find = func(dir string) (string, bool) { return config.FindGuarded(dataDir, dir) }
	}
	if root, found := find(dir); found {
		return root, true
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil && real != dir {
		return find(real)
	}
	return "", false
}

// ResolveSession is the session a command acts on: the flag, the one whose
// agent runs the command, or the latest live one of the project around the
// working folder.
func (a *Client) ResolveSession(ctx context.Context, what, flag string) (string, error) {
	if flag != "" {
		return a.wholeSession(ctx, what, flag)
	}
	if session := a.SessionOr(""); session != "" {
		return session, nil
	}
	root, found := config.FindProject(a.Env.Dir)
	if !found {
		return "", Usage(what+": no session is named",
			"Name one (`writ session list` shows them), or run this in a project that uses Writ.")
	}
	list, err := Ask[schemas.SessionList](ctx, a, RoleHook, what, schemas.SvcSessions, schemas.SessionQuery{Project: root})
	if err != nil {
		return "", err
	}
	for _, s := range list.Sessions {
		if !s.Ended && s.Parent == "" {
			return s.Session, nil
		}
	}
	return "", Refused(what, "no session is open in "+root, "`writ session list` shows those of the past; name one.")
}

const (
	// shortID is the least of a session's id that may stand for it, and wholeID
	// the length from which an id is not taken for a beginning: that of a UUID.
	shortID = 4
	wholeID = 36
	// shownID is how much people are shown: of a UUID that counts time, its moment to
	// the millisecond.
	shownID = 13
	// recentSessions are how many of the latest sessions are looked through.
	recentSessions = 1000
)

// ShortSession is a beginning of a session's id that tells it from others, for people
// and for --session.
func ShortSession(id string) string { return id[:min(len(id), shownID)] }

// wholeSession is the id of a session of which the beginning is given, with or
// without the dots of one that was cut. What begins no id, or is one, stays.
func (a *Client) wholeSession(ctx context.Context, what, given string) (string, error) {
	begun := strings.TrimSuffix(strings.TrimSuffix(given, "…"), "...")
	if len(begun) < shortID || len(begun) >= wholeID {
		return given, nil
	}
	list, err := Ask[schemas.SessionList](ctx, a, RoleHook, what, schemas.SvcSessions, schemas.SessionQuery{Limit: recentSessions})
	if err != nil {
		return given, nil //nolint:nilerr // what is asked next fails for the same reason, and says so
	}
	var found []string
	for _, s := range list.Sessions {
		switch {
		case s.Session == given:
			return given, nil
		case strings.HasPrefix(s.Session, begun):
			found = append(found, s.Session)
		}
	}
	switch len(found) {
	case 0:
		return given, nil
	case 1:
		return found[0], nil
	}
	return "", Refused(what, "several sessions begin with "+begun+": "+strings.Join(found[:min(3, len(found))], ", "), "Give more of the id; `writ session list` shows them.")
}
