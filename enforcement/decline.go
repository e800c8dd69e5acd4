package enforcement

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/writbus/writ/schemas"
)

// maxWish bounds the user's words that are repeated to the agent, in bytes.
const maxWish = 2000

// decide records what the user wants changed. It opens nothing and closes
// nothing: a gate that waits goes on waiting.
func (c DeclineGate) decide(s State) Decision {
	gate := c.Gate
	if gate == "" {
		gate = s.Waiting(c.Workspace)
	}
	refused := func(why string) Decision {
		return Decision{Gate: gate, Problems: []string{why}, Reason: "Nothing was declined: " + why + "."}
	}
	o := s.Offer(gate, c.Workspace)
	switch {
	case c.Channel != ChannelTerminal && c.Channel != ChannelDashboard:
		return refused(fmt.Sprintf("%q is not a way to decline; the terminal and the dashboard are", c.Channel))
	case s.Parent != "":
		return refused("a sub-agent's session has no gates of its own; decline in its parent's")
	case gate == "":
		return refused("no gate waits for an approval")
	case gate != s.Waiting(c.Workspace):
		return refused("the " + gate + " does not wait for an approval")
	case o.Empty:
		return refused(sentence(o.Problems))
	case s.Acts[c.ActID] != "":
		return refused("this act was used before")
	case c.Fingerprint != o.Fingerprint:
		return refused("the files changed since they were shown; look again")
	}
	reason := strings.ToValidUTF8(strings.TrimSpace(c.Reason), "\uFFFD")
	if len(reason) > maxWish {
		return refused(fmt.Sprintf("the reason has %d bytes, at most %d are passed on", len(reason), maxWish))
	}
	return Decision{
		Verdict: Allow, Gate: gate,
		Record: []schemas.Payload{schemas.GateDeclined{Gate: gate, Fingerprint: o.Fingerprint, Reason: reason, Channel: c.Channel, ActID: c.ActID}},
		Notice: fmt.Sprintf("Declined: %s (%s). The agent is told with its next request.", gate, shortHash(o.Fingerprint)),
	}
}

func (s State) declined(p schemas.GateDeclined) State {
	s = s.used(p.ActID, "declined")
	s.Work.Declined = cloned(s.Work.Declined)
	s.Work.Declined[p.Gate] = p.Reason
	s.Work.DeclinedAs = cloned(s.Work.DeclinedAs)
	s.Work.DeclinedAs[p.Gate] = p.Fingerprint
	return s
}

// SentBack says that the user declined exactly this: it waits for the agent.
func (w Work) SentBack(gate, fingerprint string) bool {
	return fingerprint != "" && w.DeclinedAs[gate] == fingerprint
}

// heard forgets what the user wanted changed about a gate.
func (w Work) heard(gate string) Work {
	if _, wanted := w.Declined[gate]; !wanted {
		return w
	}
	w.Declined = cloned(w.Declined)
	delete(w.Declined, gate)
	w.DeclinedAs = cloned(w.DeclinedAs)
	delete(w.DeclinedAs, gate)
	if len(w.Declined) == 0 {
		w.Declined, w.DeclinedAs = nil, nil
	}
	return w
}

// wishes says what the user wants changed before they approve, "" for nothing.
func (s State) wishes() string {
	var out strings.Builder
	for _, gate := range slices.Sorted(maps.Keys(s.Work.Declined)) {
		fmt.Fprintf(&out, " The user declined the %s: %q. Change it, show it and wait for the user.", gate, s.Work.Declined[gate])
	}
	return out.String()
}
