package cli

import (
	"context"
	"strings"

	"github.com/writbus/writ/schemas"
)

const (
	// shortID is the least of a session's id that may stand for it, and wholeID
	// the length from which an id is not taken for a beginning: that of a UUID.
	shortID = 4
	wholeID = 36
	// recentSessions are how many of the latest sessions are looked through.
	recentSessions = 1000
)

// wholeSession is the id of a session of which the beginning is given, with or
// without the dots of one that was cut. What begins no id, or is one, stays.
func (a *app) wholeSession(ctx context.Context, what, given string) (string, error) {
	begun := strings.TrimSuffix(strings.TrimSuffix(given, "…"), "...")
	if len(begun) < shortID || len(begun) >= wholeID {
		return given, nil
	}
	list, err := ask[schemas.SessionList](ctx, a, roleHook, what, schemas.SvcSessions, schemas.SessionQuery{Limit: recentSessions})
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
	return "", refused(what, "several sessions begin with "+begun+": "+strings.Join(found[:min(3, len(found))], ", "), "Give more of the id; `writ session list` shows them.")
}
