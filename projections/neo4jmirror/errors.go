package neo4jmirror

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/neo4j/neo4j-go-driver/v5/neo4j"

	"github.com/writbus/writ/schemas/excerpt"
)

// The kinds of trouble. Every error of this package is an *Error that wraps
// one of them, or an error of the Source or of the context.
var (
	// ErrBadTarget means an address that no driver could use.
	ErrBadTarget = errors.New("neo4jmirror: bad address")
	// ErrUnreachable means that nothing answers, or that the connection was
	// lost. What was committed stays, and a push goes on from there.
	ErrUnreachable = errors.New("neo4jmirror: server cannot be reached")
	// ErrAuth means a wrong user or password.
	ErrAuth = errors.New("neo4jmirror: user or password refused")
	// ErrForbidden means that the user may not do what the mirror does, or
	// that this member of a cluster takes no writes.
	ErrForbidden = errors.New("neo4jmirror: not permitted")
	// ErrUnsupported means a server that is no Neo4j, or one older than 5.
	ErrUnsupported = errors.New("neo4jmirror: server is not supported")
	// ErrTLS means that one side speaks TLS and the other does not, or that
	// the certificate is not trusted.
	ErrTLS = errors.New("neo4jmirror: TLS does not fit")
	// ErrNoDatabase means that the server has no database of that name.
	ErrNoDatabase = errors.New("neo4jmirror: no such database")
	// ErrForeign means that the database mirrors another log.
	ErrForeign = errors.New("neo4jmirror: database mirrors another graph")
	// ErrBusy means that another push wrote at the same time.
	ErrBusy = errors.New("neo4jmirror: another push is at work")
	// ErrServer means anything else the server refused.
	ErrServer = errors.New("neo4jmirror: server refused")
)

// Error says what went wrong where. Kind is one of the sentinels above.
type Error struct {
	Kind   error
	Where  string // the server's address without user and password, and the database where it matters
	Detail string // for people
	Err    error  // what the layer below said, or nil
}

// Error is one line.
func (e *Error) Error() string { return fmt.Sprintf("%v: %s: %s", e.Kind, e.Where, e.Detail) }

// Unwrap gives the kind and the cause.
func (e *Error) Unwrap() []error {
	if e.Err == nil {
		return []error{e.Kind}
	}
	return []error{e.Kind, e.Err}
}

func (m *Mirror) fail(kind error, err error, format string, args ...any) error {
	return &Error{Kind: kind, Where: m.where(), Detail: fmt.Sprintf(format, args...), Err: err}
}

// explain gives an error of the driver its kind.
func (m *Mirror) explain(ctx context.Context, err error) error {
	var own *Error
	var refused *neo4j.Neo4jError
	switch {
	case err == nil, errors.As(err, &own):
		return err
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.As(err, &refused):
		return m.refusal(refused)
	}
	if limit, ok := errors.AsType[*neo4j.TransactionExecutionLimit](err); ok && len(limit.Errors) > 0 {
		last := limit.Errors[len(limit.Errors)-1]
		if errors.As(last, &refused) {
			return m.refusal(refused)
		}
		err = last
	}
	return m.fail(ErrUnreachable, err, "the connection was lost (%s)", shortCause(err))
}

// refusal gives an answer of the server its kind. Codes are those of the Neo4j
// status code manual.
func (m *Mirror) refusal(err *neo4j.Neo4jError) error {
	switch {
	case err.Code == "Neo.ClientError.Security.AuthenticationRateLimit":
		return m.fail(ErrAuth, err, "too many wrong passwords for user %q; the server takes none for a while", m.target.User)
	case err.Code == "Neo.ClientError.Security.CredentialsExpired":
		return m.fail(ErrAuth, err, "the password of user %q has to be changed first", m.target.User)
	case err.Code == "Neo.ClientError.Security.Unauthorized", strings.HasPrefix(err.Code, "Neo.ClientError.Security.Token"):
		if m.target.Password == "" {
			return m.fail(ErrAuth, err, "user %q was refused, and no password was given", m.target.User)
		}
		return m.fail(ErrAuth, err, "user %q and this password were refused", m.target.User)
	case err.Code == "Neo.ClientError.Database.DatabaseNotFound":
		return m.fail(ErrNoDatabase, err, "there is no database %q", m.target.Database)
	case err.Code == "Neo.TransientError.General.DatabaseUnavailable", err.Code == "Neo.ClientError.General.DatabaseUnavailable":
		return m.fail(ErrUnreachable, err, "the database is stopped or starting")
	case strings.HasPrefix(err.Code, "Neo.ClientError.Security."):
		return m.fail(ErrForbidden, err, "user %q: %s", m.target.User, err.Msg)
	case err.Code == "Neo.ClientError.Cluster.NotALeader", strings.HasSuffix(err.Code, "ForbiddenOnReadOnlyDatabase"):
		return m.fail(ErrForbidden, err, "this member of the cluster takes no writes; an address that begins with neo4j:// finds the one that does")
	}
	return m.fail(ErrServer, err, "%s (%s)", err.Msg, err.Code)
}

// shortCause is the first line of an error.
func shortCause(err error) string { return excerpt.First(err.Error()) }
