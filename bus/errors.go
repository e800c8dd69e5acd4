package bus

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

var (
	// ErrConflict is returned by Append when the aggregate's last event is not
	// the expected one: somebody else appended first. Nothing was stored.
	// Reload the aggregate, decide again, append again.
	ErrConflict = errors.New("bus: the aggregate has moved on")
	// ErrUnavailable is returned when no answer came: nobody listens, nobody
	// serves the subject, the connection is down, or the time is up. After an
	// Append it leaves open whether the event was stored; repeat the append
	// with the same event to find out.
	ErrUnavailable = errors.New("bus: unavailable")
	// ErrDenied is returned when the server refuses the connection's role to
	// publish or subscribe where the call needs it.
	ErrDenied = errors.New("bus: not permitted for this role")
	// ErrBadCredentials is returned by Connect for a wrong user or password.
	ErrBadCredentials = errors.New("bus: wrong credentials")
	// ErrBusy is returned by Connect where as many of an account are connected as may be
	// at once.
	ErrBusy = errors.New("bus: as many are connected as may be at once")
	// ErrTooLarge is returned for a message over the server's maximum payload.
	ErrTooLarge = errors.New("bus: message is too large")
	// ErrNotFound is returned for a record or stream that does not exist.
	ErrNotFound = errors.New("bus: not found")
	// ErrDiskFull is returned by Append when the stream's or the server's
	// storage limit is reached, or the disk has no space. Nothing was stored.
	ErrDiskFull = errors.New("bus: no space left for the log")
	// ErrStorage is returned by Append when the server could not write, for
	// another reason than space. The event was not acknowledged.
	ErrStorage = errors.New("bus: the log could not be written")
	// ErrBeyondEnd is returned by Follow for a start after the stream's end:
	// the log lost its tail, or the position is of another log. What was built
	// from it must be rebuilt.
	ErrBeyondEnd = errors.New("bus: position is beyond the end of the log")
	// ErrGap is returned by Follow when records between two others are
	// missing, though the stream never deletes and nobody gave them up: the log
	// is damaged.
	ErrGap = errors.New("bus: records are missing from the log")
	// ErrClosed is returned for a call on a connection that was closed.
	ErrClosed = errors.New("bus: connection is closed")
	// ErrMismatch is returned by EnsureStreams when a stream exists with a
	// configuration that cannot be changed to the wanted one.
	ErrMismatch = errors.New("bus: stream exists with another configuration")
)

// Codes of JetStream errors that this package acts on; they are part of the
// server's protocol (nats-server, server/errors.json).
const (
	codeAccountResources    = 10002
	codeInsufficient        = 10023
	codeMemoryExceeded      = 10028
	codeNoMessage           = 10037
	codeStorageExceeded     = 10047
	codeStreamInvalid       = 10052
	codeMessageTooLarge     = 10054
	codeStreamNameExists    = 10058
	codeStreamNotFound      = 10059
	codeSubjectOverlap      = 10065
	codeWrongLastSequence   = 10071
	codeStoreFailed         = 10077
	codeStreamReplicas      = 10074
	codeRestoreNameExists   = 10130
	codeExpectationNotReady = 10163
	codeWrongLastConstant   = 10164
)

// translate maps an error of nats.go to a sentinel of this package, so that
// nobody outside it matches text or codes. Unknown errors pass unchanged.
func translate(err error) error {
	var api *jetstream.APIError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, ErrDenied):
		return err
	case errors.As(err, &api):
		return translateAPI(api)
	case errors.Is(err, nats.ErrMaxPayload):
		return fmt.Errorf("%w: %w", ErrTooLarge, err)
	case errors.Is(err, nats.ErrAuthorization), errors.Is(err, nats.ErrAuthExpired), errors.Is(err, nats.ErrAuthRevoked):
		return fmt.Errorf("%w: %w", ErrBadCredentials, err)
	case errors.Is(err, nats.ErrPermissionViolation):
		return fmt.Errorf("%w: %w", ErrDenied, err)
	case errors.Is(err, nats.ErrConnectionClosed):
		return fmt.Errorf("%w: %w", ErrClosed, err)
	case errors.Is(err, context.Canceled):
		return err
	case stranger(err):
		return fmt.Errorf("%w: what answers there is not the server that was announced: %w", ErrUnavailable, err)
	case unreachable(err):
		return fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	return err
}

// stranger says that a server could not show the certificate that is asked of it.
func stranger(err error) bool {
	var unverified *tls.CertificateVerificationError
	return errors.As(err, &unverified) || errors.Is(err, nats.ErrSecureConnWanted)
}

func unreachable(err error) bool {
	for _, target := range []error{
		nats.ErrNoResponders, nats.ErrNoServers, nats.ErrTimeout, nats.ErrDisconnected,
		nats.ErrReconnectBufExceeded, nats.ErrConnectionDraining, nats.ErrStaleConnection, nats.ErrConnectionReconnecting,
		jetstream.ErrNoStreamResponse, jetstream.ErrNoHeartbeat, jetstream.ErrConsumerDeleted,
		context.DeadlineExceeded, os.ErrDeadlineExceeded, io.EOF, io.ErrUnexpectedEOF, io.ErrClosedPipe,
	} {
		if errors.Is(err, target) {
			return true
		}
	}
	return false
}

func translateAPI(api *jetstream.APIError) error {
	wrap := func(sentinel error) error { return fmt.Errorf("%w: %w", sentinel, api) }
	switch api.ErrorCode {
	case codeWrongLastSequence, codeWrongLastConstant:
		return wrap(ErrConflict)
	case codeStreamNotFound, codeNoMessage:
		return wrap(ErrNotFound)
	case codeMessageTooLarge:
		return wrap(ErrTooLarge)
	case codeAccountResources, codeInsufficient, codeMemoryExceeded, codeStorageExceeded:
		return wrap(ErrDiskFull)
	case codeStoreFailed:
		return wrap(storeFailure(api.Description))
	case codeStreamNameExists, codeRestoreNameExists, codeStreamInvalid, codeSubjectOverlap, codeStreamReplicas:
		return wrap(ErrMismatch)
	case codeExpectationNotReady:
		return wrap(ErrUnavailable)
	default: // what has no code of its own is told by its class
	}
	if api.Code == 404 {
		return wrap(ErrNotFound)
	}
	if api.Code == 503 {
		return wrap(ErrUnavailable)
	}
	return api
}

// storeFailure tells a full disk from other causes. The server has one code
// for all of them and only its text says which.
func storeFailure(description string) error {
	text := strings.ToLower(description)
	for _, full := range []string{"maximum bytes", "maximum messages", "no space left", "resource limits", "insufficient", "disk quota"} {
		if strings.Contains(text, full) {
			return ErrDiskFull
		}
	}
	if strings.Contains(text, "too large") {
		return ErrTooLarge
	}
	return ErrStorage
}

// CodeInternal is the code of a service error whose handler gave none, and of
// a handler that panicked.
const CodeInternal = "internal"

// ServiceError is a service's answer that the request failed. It travels in
// the error headers of NATS micro services.
type ServiceError struct {
	Code string // stable, for programs
	Text string // for people
}

func (e *ServiceError) Error() string {
	if e.Text == "" {
		return "bus: service error " + e.Code
	}
	return e.Text
}
