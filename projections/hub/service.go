package hub

import (
	"cmp"
	"context"
	"crypto/tls"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/bus/rights"
	"github.com/writbus/writ/projections/audit/evidence"
	"github.com/writbus/writ/projections/hubcopies"
	"github.com/writbus/writ/schemas"
)

// silence is after how long a witness that does not cosign what was brought is missed.
const silence = 2 * time.Minute

// Endpoints are the service.
func (m *Member) Endpoints() []bus.Endpoint {
	return []bus.Endpoint{bus.Answer("team", schemas.SvcTeam, m.answer)}
}

func (m *Member) answer(ctx context.Context, r schemas.TeamRequest) (schemas.TeamReply, error) {
	switch r.Act {
	case schemas.TeamJoin:
		return m.join(ctx, r)
	case schemas.TeamLeave:
		return m.leave()
	case schemas.TeamStatus:
		return m.status(ctx)
	case schemas.TeamDoctor:
		reply, err := m.status(ctx)
		reply.Checks = m.examine(ctx, reply)
		return reply, err
	}
	return schemas.TeamReply{}, schemas.Faultf(schemas.CodeBadRequest, "there is no act %q: it is join, leave, status or doctor", r.Act)
}

// join keeps what a person chose. The daemon starts anew as a leaf of the hub, and the
// next epoch begins: nothing has left before.
func (m *Member) join(ctx context.Context, r schemas.TeamRequest) (reply schemas.TeamReply, err error) {
	is := m.membership()
	credential, err := bus.ParseCredential(r.Credential)
	r.Member = cmp.Or(r.Member, NameIn(r.Credential))
	_, wrong := rights.HubURLs(r.URL)
	switch {
	case m.Outside:
		err = schemas.Faultf(schemas.CodeRefused, "the log is on somebody else's NATS already (nats_url)")
	case is.URL != "" && (is.URL != r.URL || is.Member != r.Member):
		err = schemas.Faultf(schemas.CodeConflict, "this machine is the member %s of %s. Leave that first: writ team leave", is.Member, is.URL)
	case r.List != hubcopies.ListDigest():
		err = schemas.Faultf(schemas.CodeConflict, "the list that was shown is not the daemon's: it runs as another version of Writ. Run writ upgrade, and look again")
	case err != nil:
		err = schemas.Faultf(schemas.CodeBadRequest, "the credential: %v", err)
	case r.Member == "":
		err = schemas.Faultf(schemas.CodeBadRequest, "the credential names nobody: say who this machine is at the hub with --as")
	case rights.CheckMember(r.Member) != nil:
		err = schemas.Faultf(schemas.CodeBadRequest, "%v", rights.CheckMember(r.Member))
	case wrong != nil:
		err = schemas.Faultf(schemas.CodeBadRequest, "%v", wrong)
	case r.CA != "" && !filepath.IsAbs(r.CA):
		err = schemas.Faultf(schemas.CodeBadRequest, "a file is named by its absolute path, not %q", r.CA)
	}
	if err == nil && r.Witness != "" {
		_, err = evidence.ParseKey(r.Witness)
	}
	var trust *tls.Config
	if err == nil {
		trust, err = bus.TLS{CA: r.CA}.Config()
	}
	if err != nil {
		return reply, err
	}
	next := Membership{
		URL: r.URL, Member: r.Member, CA: r.CA, Witness: r.Witness, List: r.List,
		Epoch: is.Epoch, Claim: is.Claim, Restores: is.Restores, Next: is.Next, NextClaim: is.NextClaim, Why: "joined",
	}
	if is.List != r.List && is.List != "" {
		next.Claim, next.NextClaim, next.Why = "", "", "another list of what leaves was accepted"
	}
	if err := errors.Join(keepCredential(m.Credentials, r.Credential, credential), m.keep(next)); err != nil {
		return reply, err
	}
	reply = schemas.TeamReply{URL: next.URL, Member: next.Member, Log: m.Key.Name(), Epoch: next.Epoch, Started: m.started}
	if err := errors.Join(knockAt(ctx, r.URL, trust)...); err != nil {
		reply.Problem = err.Error() // which may pass: the hub is joined all the same
	}
	m.Restart()
	return reply, nil
}

// leave forgets the hub. What is there stays there; joining again begins an epoch.
func (m *Member) leave() (reply schemas.TeamReply, err error) {
	is := m.membership()
	if is.URL == "" {
		return reply, schemas.Faultf(schemas.CodeNotFound, "this machine is in no team")
	}
	if err := errors.Join(m.keep(Membership{Epoch: is.Epoch}), removeCredential(m.Credentials)); err != nil {
		return reply, err
	}
	m.Restart()
	return schemas.TeamReply{URL: is.URL, Member: is.Member, Log: m.Key.Name(), Epoch: is.Epoch, Started: m.started}, nil
}

// NameIn is the member whom a credential names, "" where it names none: a user, or the
// name in a JWT.
func NameIn(credential string) string {
	if c, err := bus.ParseCredential(credential); err == nil && c.User != "" {
		return c.User
	}
	for line := range strings.SplitSeq(credential, "\n") {
		parts := strings.Split(strings.TrimSpace(line), ".")
		if len(parts) != 3 {
			continue
		}
		var claims struct {
			Name string `json:"name"`
		}
		raw, err := base64.RawURLEncoding.DecodeString(parts[1])
		if err == nil && json.Unmarshal(raw, &claims) == nil {
			return claims.Name
		}
	}
	return ""
}

// status says what of the log is at the hub, by what the hub itself says last.
func (m *Member) status(ctx context.Context) (schemas.TeamReply, error) {
	m.mu.Lock()
	is, chains := m.is, m.chains
	reply := schemas.TeamReply{
		URL: is.URL, Member: is.Member, Log: m.Key.Name(), Epoch: is.Epoch, Started: m.started, Problem: m.problem, Witness: is.Witness,
	}
	m.mu.Unlock()
	if is.URL == "" {
		return reply, nil
	}
	var seen Seen
	if err := m.Reached(); err != nil {
		reply.Problem = cmp.Or(reply.Problem, err.Error())
	} else {
		reply.Connected, seen = true, m.seen(ctx, &reply)
	}
	for _, s := range schemas.Streams() {
		state, err := m.Log.State(ctx, s)
		if err != nil {
			return reply, err
		}
		one := schemas.TeamStream{Stream: s, Last: state.Last}
		if c := chains[s]; c != nil {
			c.mu.Lock()
			one.Through, one.Copies = c.through, c.tree.Size()
			c.mu.Unlock()
		}
		if !slices.Contains(hubcopies.Streams(), s) {
			one.Through = one.Last // nothing of it leaves
		}
		if at, known := seen.Streams[s]; known && seen.Epoch == is.Epoch {
			m.cosigned(&one, at, reply.Witness)
		}
		reply.Streams = append(reply.Streams, one)
	}
	if silent := m.silent(reply); silent != nil {
		reply.Findings = append(reply.Findings, Finding{What: silent.Error()})
	}
	return reply, nil
}

// silent says that the witness does not look at what is brought any more.
func (m *Member) silent(r schemas.TeamReply) error {
	if r.Seen.IsZero() || m.Now().Sub(r.Seen) < silence {
		return nil
	}
	for _, s := range r.Streams {
		if s.Copies > s.Cosigned {
			return fmt.Errorf("the witness said nothing since %s, and %d copies of %s were brought that it did not cosign: the hub's administrator looks whether writ team witness runs", r.Seen.Format(time.RFC3339), s.Copies-s.Cosigned, s.Stream)
		}
	}
	return nil
}

// seen is what the witness said last of this member.
func (m *Member) seen(ctx context.Context, reply *schemas.TeamReply) (s Seen) {
	record, err := bus.LastOn(ctx, m.hub, rights.LastSeen(rights.SeenSubject(reply.Member)))
	if errors.Is(err, bus.ErrNotFound) {
		reply.Findings = append(reply.Findings, Finding{What: "no witness has said anything yet: the hub's administrator runs writ team witness"})
	}
	if err != nil {
		return s
	}
	s, err = openSeen(record.Message.Body, reply.Witness)
	if err != nil {
		reply.Findings = append(reply.Findings, Finding{What: err.Error()})
		return Seen{}
	}
	if reply.Witness == "" {
		is := m.membership()
		is.Witness, reply.Witness = s.Key, s.Key
		_ = m.keep(is) // or it is pinned the next time
	}
	reply.Seen = s.Time
	reply.Findings = append(reply.Findings, s.Findings...)
	return s
}

// cosigned sets what of a stream the witness cosigned.
func (m *Member) cosigned(one *schemas.TeamStream, at SeenStream, public string) {
	witness, err := evidence.ParseKey(public)
	if err != nil {
		return
	}
	if h, err := openHead(at.Head, m.verify); err == nil {
		if _, err := evidence.Cosigned([]byte(at.Head), witness, public); err == nil {
			one.Cosigned = h.Size
		}
	}
	if c, err := evidence.Open([]byte(at.Checkpoint), m.verify); err == nil {
		if _, err := evidence.Cosigned([]byte(at.Checkpoint), witness, public); err == nil {
			one.Sealed, one.Checkpoint = c.Size, at.Checkpoint
		}
	}
}

// Problems are what status and doctor of the daemon tell.
func (m *Member) Problems() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.is.URL == "" || m.problem == "" {
		return nil
	}
	return []string{fmt.Sprintf("nothing is brought to the hub %s: %s. `writ team doctor` looks further", m.is.URL, m.problem)}
}
