package sharedmemory

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/observer/observation/scope"
	"github.com/writbus/writ/schemas"
)

// Memory is what shared observations come from, and go to.
type Memory interface {
	// Accepted is an observation of this machine that may be shared.
	Accepted(ctx context.Context, id, in string) (schemas.MemoryItem, error)
	// Clean takes secrets out of a text.
	Clean(text string) string
	// Take records what somebody shared, once.
	Take(ctx context.Context, o schemas.MemoryItem) error
	Forget(ctx context.Context, o schemas.ObservationKey, reason string) error
	// Forgotten are those of some that were forgotten; Changes grows with every change.
	Forgotten(ctx context.Context, of []schemas.ObservationKey) ([]schemas.ObservationKey, error)
	Changes() uint64
}

// Options are what the service needs.
type Options struct {
	Folder string
	Memory Memory
	Log    *bus.Writer
	// Hub is how to connect to the account that the hub is connected to, nil for none,
	// Reached says whether it is, and Member who this machine is there.
	Hub     *bus.Options
	Reached func() error
	Member  string
	// Persons are the public keys that the releases followed here name, if they name any.
	Persons func(context.Context) []string
	Now     func() time.Time
	Logger  *slog.Logger
	// Restores are how many restores of the log there were.
	Restores func(context.Context) ([]schemas.LogRestored, error)
}

// Service is shared memory on this machine.
type Service struct {
	Options
	hub      *bus.Conn // nil without
	wake     chan struct{}
	restores int // of the log

	mu      sync.Mutex // guards what follows
	kept    kept
	cards   map[string]json.RawMessage // of persons, by public key, as the hub has them
	changes uint64                     // of the memory, when it was looked at last
	problem string                     // why nothing is exchanged with the hub
	at      uint64                     // the last message at the hub that was read
	again   bool                       // all at the hub is read once more
	there   map[string]string          // digests of what the hub has under this member's name, by subject
	looked  int                        // looks at what the hub has
}

// Begin opens shared memory, and exchanges it with the hub, if one is joined, until stop.
func Begin(ctx context.Context, o Options) (s *Service, stop func(), err error) {
	s = &Service{Options: o, wake: make(chan struct{}, 1), cards: map[string]json.RawMessage{}, there: map[string]string{}}
	if s.kept, err = load(o.Folder); err != nil {
		return nil, nil, err
	}
	restores, err := o.Restores(ctx)
	if err != nil {
		return nil, nil, err
	}
	s.restores = len(restores)
	if o.Hub != nil {
		if s.hub, err = bus.Connect(ctx, *o.Hub); err != nil {
			return nil, nil, err
		}
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.run(ctx)
	}()
	return s, func() {
		cancel()
		<-done
		if s.hub != nil {
			s.hub.Close()
		}
	}, nil
}

// Endpoints are the service.
func (s *Service) Endpoints() []bus.Endpoint {
	return []bus.Endpoint{bus.Answer("memory_scope", schemas.SvcMemoryScope, s.answer)}
}

func (s *Service) answer(ctx context.Context, r schemas.ScopeRequest) (reply schemas.ScopeReply, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.Name != "" || !slices.Contains([]string{schemas.ScopeList, schemas.ScopeCard, schemas.ScopeTake}, r.Act) {
		if err := scope.CheckName(r.Name); err != nil {
			return reply, err
		}
	}
	if _, err := s.known(r.Name); err != nil && r.Act == schemas.ScopeList && r.Name != "" {
		return reply, err
	}
	switch r.Act {
	case schemas.ScopeList:
	case schemas.ScopeCard:
		reply, err = s.certify(&r)
	case schemas.ScopeNew, schemas.ScopeAdd, schemas.ScopeRemove, schemas.ScopeOwner:
		reply, err = s.change(ctx, r)
	case schemas.ScopeJoin, schemas.ScopeLeave:
		reply, err = s.join(r)
	case schemas.ScopeShare:
		reply, err = s.share(ctx, r)
	case schemas.ScopeOut:
		reply, err = s.writeOut(r)
	case schemas.ScopeTake:
		reply, err = s.readIn(ctx, r)
	default:
		err = schemas.Faultf(schemas.CodeBadRequest, "there is no act %.40q on shared memory", r.Act)
	}
	if errors.Is(err, scope.ErrRefused) {
		err = schemas.Faultf(schemas.CodeRefused, "%v", err)
	}
	if err != nil || len(reply.Sign) > 0 {
		return reply, err
	}
	s.wakeUp()
	reply.Scopes, reply.Card = s.list(ctx, r.Name), string(s.kept.Card)
	switch r.Act {
	case schemas.ScopeCard:
		reply.Message = reply.Card
	case schemas.ScopeList:
		reply.Message = told(reply.Scopes)
	}
	return reply, nil
}

// told are scopes as people read them.
func told(all []schemas.MemoryScope) string {
	var b strings.Builder
	for _, s := range all {
		fmt.Fprintf(&b, "%s, epoch %d, %d shared from here, %d from others, owned by %s\n", s.Name, s.Epoch, s.Mine, s.Theirs, s.Owner)
		if !s.Inside {
			b.WriteString("  this machine is not in it\n")
		}
		for _, m := range s.Members {
			b.WriteString("  " + m + "\n")
		}
		for _, f := range s.Findings {
			b.WriteString("! " + f + "\n")
		}
	}
	return cmp.Or(strings.TrimSuffix(b.String(), "\n"), "Nothing is shared: writ memory scope NAME --new begins a scope, --join believes another's")
}

func (s *Service) wakeUp() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// known is a scope of this machine.
func (s *Service) known(name string) (*known, error) {
	if k := s.kept.Scopes[name]; k != nil {
		return k, nil
	}
	return nil, schemas.Faultf(schemas.CodeNotFound, "this machine knows no scope %s: its owner adds you and tells you their key, and writ memory scope %s --join KEY believes it", name, name)
}

// list says how this machine stands with its scopes, or one of them.
func (s *Service) list(ctx context.Context, name string) (all []schemas.MemoryScope) {
	for _, n := range sortedNames(s.kept.Scopes) {
		if name != "" && n != name {
			continue
		}
		k := s.kept.Scopes[n]
		newest := k.is.Newest()
		me := s.kept.recipient()
		_, inside := newest.Member(me)
		one := schemas.MemoryScope{Name: n, Owner: append(slices.Clone(newest.Owners), k.Owner)[0], Epoch: newest.Epoch, Inside: inside, Findings: slices.Clone(k.findings)}
		for _, c := range newest.Cards {
			one.Members = append(one.Members, c.Name())
			if why := s.stranger(ctx, c); why != "" {
				one.Findings = append(one.Findings, why+": its owner removes them (writ memory scope "+n+" --remove)")
			}
		}
		for author, seen := range k.is.Seen {
			for _, r := range seen {
				switch {
				case r.Gone:
				case author == me:
					one.Mine++
				default:
					one.Theirs++
				}
			}
		}
		for who, n := range k.is.Missing() {
			one.Findings = append(one.Findings, plural(n, "observation")+" of "+who+" did not come, though later ones did: what carries them withholds them")
		}
		if s.problem != "" {
			one.Findings = append(one.Findings, "nothing is exchanged with the hub: "+s.problem)
		}
		all = append(all, one)
	}
	return all
}

// stranger says why a card is not of a person whom the releases name; "" where they name
// nobody, or this one.
func (s *Service) stranger(ctx context.Context, c scope.Card) string {
	persons := s.Persons(ctx)
	if len(persons) == 0 || slices.Contains(persons, c.Person) {
		return ""
	}
	return c.Name() + " is none of the persons of the releases that are followed here"
}
