package hub_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/bus/embedded/hubtest"
	"github.com/writbus/writ/bus/rights"
	"github.com/writbus/writ/schemas"
)

// act is one that nobody may succeed with: a message that must change nothing, and be
// answered by nobody but with a refusal.
type act struct {
	subject, reply, body string
	header               nats.Header
}

func (a act) String() string {
	return fmt.Sprintf("%s → %s %v %.40s", a.subject, a.reply, a.header, a.body)
}

// tryAll sends acts, and calls told with each answer to one.
func tryAll(t *testing.T, nc *nats.Conn, acts []act, told func(a act, answer string)) {
	t.Helper()
	inbox := nc.NewInbox()
	answers, err := nc.SubscribeSync(inbox + ".*")
	if err != nil {
		t.Fatal(err)
	}
	for i, a := range acts {
		if a.reply == "" {
			a.reply = fmt.Sprintf("%s.%d", inbox, i)
		}
		if err := nc.PublishMsg(&nats.Msg{Subject: a.subject, Reply: a.reply, Header: a.header, Data: []byte(a.body)}); err != nil {
			t.Fatal(err)
		}
	}
	if err := nc.Flush(); err != nil {
		t.Fatal(err)
	}
	for {
		m, err := answers.NextMsg(500 * time.Millisecond)
		if err != nil {
			return
		}
		i, err := strconv.Atoi(m.Subject[strings.LastIndexByte(m.Subject, '.')+1:])
		if err != nil || m.Header.Get("Status") == "503" {
			continue // nobody is there to answer
		}
		told(acts[i], string(m.Data)+m.Header.Get("Description"))
	}
}

// forbidden are what a compromised member bob tries against alice and the hub.
func forbidden() (all []act) {
	const victim = "writ.at.alice.1.WRIT_SESSIONS"
	for _, subject := range []string{
		victim, "writ.at.alice.begin", "writ.at.alice.2.WRIT_SESSIONS", "writ.at.alice", "writ.at.x", "writ.at.>", "writ.at.*.begin", "writ.at.alice.>",
		"writ.mem.alice.card", "writ.mem.alice.team.epoch.1", "writ.mem.x", "writ.mem.>",
		"writ.seen.alice", "writ.seen.bob", "writ.seen.>", "writ.svc.status", "writ.svc.gate.check", "writ.session.s1.tool.finished",
		rights.LastOf("writ.at.alice.begin"), rights.LastOf(victim), rights.LastOf("writ.at.>"), rights.LastOf("writ.at.*.begin"), rights.LastOf(">"),
		rights.LastSeen("writ.seen.alice"), rights.LastSeen("writ.seen.>"), "writ.last.at", "writ.last.>",
		bus.InboxPrefix(rights.MemberUser("alice")) + ".x", "_INBOX.witness.x", "_INBOX.x", "$SRV.PING", "$SRV.INFO", "$SYS.REQ.SERVER.PING", "$SYS.REQ.ACCOUNT.PING.CONNZ",
		"$JS.API.INFO", "$JS.API.STREAM.LIST", "$JS.API.STREAM.NAMES", "$JS.API.META.LEADER.STEPDOWN", "$JS.API.ACCOUNT.PURGE.WRIT_HUB", "$JS.API.SERVER.REMOVE",
	} {
		all = append(all, act{subject: subject, body: "{}"})
	}
	for _, stream := range []string{rights.Copies, rights.Seen, rights.Memory} {
		for subject, body := range map[string]string{
			"STREAM.INFO.%s": "", "STREAM.DELETE.%s": "", "STREAM.PURGE.%s": "", "STREAM.CREATE.%s": `{"name":"%s"}`, "STREAM.UPDATE.%s": `{"name":"%s","max_msgs":1}`,
			"STREAM.MSG.GET.%s": `{"seq":1}`, "STREAM.MSG.DELETE.%s": `{"seq":1}`, "STREAM.SNAPSHOT.%s": `{"deliver_subject":"_INBOX.member-bob.s"}`,
			"STREAM.RESTORE.%s": "{}", "STREAM.LEADER.STEPDOWN.%s": "", "STREAM.PEER.REMOVE.%s": `{"peer":"hub0"}`, "DIRECT.GET.%s": `{"seq":1}`,
			"DIRECT.GET.%s.writ.at.alice.begin": "", "CONSUMER.CREATE.%s": `{"stream_name":"%s","config":{"deliver_subject":"_INBOX.member-bob.c","ack_policy":"none"}}`,
			"CONSUMER.CREATE.%s.c": `{"stream_name":"%s","config":{"name":"c","ack_policy":"none"}}`, "CONSUMER.LIST.%s": "", "CONSUMER.NAMES.%s": "",
			"CONSUMER.MSG.NEXT.%s.c": "1", "CONSUMER.DELETE.%s.c": "", "CONSUMER.PAUSE.%s.c": "{}",
		} {
			one := act{subject: "$JS.API." + fmt.Sprintf(subject, stream), body: body}
			if strings.Contains(body, "%s") {
				one.body = fmt.Sprintf(body, stream)
			}
			all = append(all, one)
		}
	}
	all = append(all, act{subject: "$JS.API.STREAM.CREATE.MINE", body: `{"name":"MINE","subjects":["writ.at.bob.>"]}`}, act{subject: "$JS.API.STREAM.CREATE.ALL", body: `{"name":"ALL","subjects":[">"]}`})
	// What it may ask, with the answer sent to where it may not publish.
	for _, reply := range []string{victim, "writ.at.alice.begin", "writ.mem.alice.card", "writ.seen.bob", "writ.seen.alice", bus.InboxPrefix(rights.MemberUser("alice")) + ".x", rights.LastOf("writ.at.alice.begin"), "$JS.API.STREAM.PURGE." + rights.Copies, "_INBOX.witness.x"} {
		all = append(all, act{subject: rights.LastOf("writ.at.bob.9.WRIT_SESSIONS"), reply: reply}, act{subject: "writ.at.bob.9.WRIT_SESSIONS", reply: reply, body: "x"}, act{subject: rights.LastSeen("writ.seen.bob"), reply: reply}, act{subject: rights.NextMemory, reply: reply, body: `{"seq":1}`}, act{subject: "writ.mem.bob.x", reply: reply, body: "x"})
	}
	// What its own subjects may bear, and what must do nothing to others.
	for _, header := range []nats.Header{
		{"Nats-Rollup": {"all"}},
		{"Nats-Rollup": {"sub"}},
		{"Nats-TTL": {"1s"}},
		{"Nats-Schedule": {"@at 2020-01-01T00:00:00Z"}, "Nats-Schedule-Target": {victim}},
		{"Nats-Incr": {"+1"}},
		{"Nats-Batch-Id": {"b"}, "Nats-Batch-Sequence": {"1"}, "Nats-Batch-Commit": {"1"}},
		{"Nats-Marker-Reason": {"Purge"}},
	} {
		all = append(all, act{subject: "writ.at.bob.9.WRIT_SESSIONS", header: header, body: "x"})
	}
	return all
}

// TestACompromisedMemberReachesNothing has bob's credential, over a connection of its own
// and through a leaf, try what it may not, while alice's copies are there.
func TestACompromisedMemberReachesNothing(t *testing.T) {
	t.Parallel()
	h := hubtest.Start(t, 1, "alice", "bob")
	alice, bob := newMachine(t, h, "alice", h.URLs()), newMachine(t, h, "bob", h.URLs())
	alice.happen(20, 2)
	bob.happen(1, 1)
	compare(t, h, alice)
	compare(t, h, bob)
	// A consumer that the acts might read or delete.
	copies, err := h.Stream(rights.Copies).CreateConsumer(t.Context(), jetstream.ConsumerConfig{Durable: "c", AckPolicy: jetstream.AckNonePolicy})
	if err != nil {
		t.Fatal(err)
	}
	others := func() (all []string) {
		for _, name := range []string{rights.Copies, rights.Seen, rights.Memory} {
			for _, m := range h.Messages(name) {
				if !strings.HasPrefix(m.Subject, "writ.at.bob.") && !strings.HasPrefix(m.Subject, "writ.mem.bob.") {
					all = append(all, m.Subject+string(m.Data))
				}
			}
		}
		return all
	}
	own, _ := bob.server.Hub()
	through, err := nats.Connect("", nats.InProcessServer(inProcess(own.Dial)), nats.UserInfo(own.User, own.Password), nats.CustomInboxPrefix(bus.InboxPrefix(own.User)))
	if err != nil {
		t.Fatal(err)
	}
	defer through.Close()
	direct := h.As("bob", nats.CustomInboxPrefix(bus.InboxPrefix(rights.MemberUser("bob"))))
	listening := map[string]*nats.Subscription{}
	for name, nc := range map[string]*nats.Conn{"direct": direct, "leaf": through} {
		for _, subject := range []string{">", "writ.>", "writ.at.>", "writ.at.alice.>", "_INBOX.>", bus.InboxPrefix(rights.MemberUser("alice")) + ".>", "_INBOX.witness.>", "$JS.>", "$SYS.>", "_R_.>", "writ.last.>", "$JS.EVENT.>", "writ.svc.>"} {
			sub, err := nc.SubscribeSync(subject)
			if err != nil {
				t.Fatal(err)
			}
			listening[name+" "+subject] = sub
		}
	}
	alice.happen(20, 2)
	compare(t, h, alice)
	before := others()
	for name, sub := range listening {
		for {
			m, err := sub.NextMsg(10 * time.Millisecond)
			if err != nil {
				break
			}
			if strings.HasPrefix(m.Subject, "writ.at.bob.") || strings.HasPrefix(m.Subject, "$JS.EVENT") || strings.HasPrefix(m.Subject, bus.InboxPrefix(rights.MemberUser("bob"))) || strings.Contains(m.Subject, "writ.at.bob") || strings.HasSuffix(m.Subject, "writ.seen.bob") {
				continue // its own
			}
			t.Errorf("%s heard %s: %.60s", name, m.Subject, m.Data)
		}
		_ = sub.Unsubscribe()
	}
	acts := forbidden()
	if len(acts) < 60 {
		t.Fatalf("only %d acts", len(acts))
	}
	for name, nc := range map[string]*nats.Conn{"direct": direct, "leaf": through} {
		tryAll(t, nc, acts, func(a act, answer string) {
			if !strings.Contains(answer, `"error"`) && !strings.Contains(answer, `"name":"writ-bob-`) && !strings.HasPrefix(a.subject, "writ.at.bob.") {
				t.Errorf("%s: %s was answered %.80s", name, a, answer)
			}
		})
	}
	alice.happen(1, 1)
	compare(t, h, alice)
	after := others()
	for _, more := range after[min(len(before), len(after)):] { // checkpoints too: compare counts the copies
		if !strings.HasPrefix(more, "writ.at.alice.1.") {
			t.Errorf("there is %.80s", more)
		}
	}
	if len(after) <= len(before) {
		t.Errorf("there were %d messages of others and one more came, and there are %d", len(before), len(after))
	}
	for i, was := range before {
		if after[i] != was {
			t.Errorf("message %d was %.80s and is %.80s", i, was, after[i])
		}
	}
	if info, err := copies.Info(t.Context()); err != nil || info.NumPending == 0 {
		t.Errorf("the consumer: %+v, %v", info, err)
	}
	t.Logf("%d acts in two ways", len(acts))
}

type inProcess func() (net.Conn, error)

func (d inProcess) InProcessConn() (net.Conn, error) { return d() }

// TestAHubReachesNothing has somebody with all rights at the hub try to reach a member's
// log, its services and those who ask them.
func TestAHubReachesNothing(t *testing.T) {
	t.Parallel()
	h := hubtest.Start(t, 1, "alice")
	alice := newMachine(t, h, "alice", h.URLs())
	alice.happen(5, 1)
	compare(t, h, alice)
	answered := make(chan string, 16)
	stop, err := alice.log.Serve(t.Context(), bus.Service{Name: "writ", Version: "1.0.0", Endpoints: []bus.Endpoint{{
		Name: "all", Subject: "writ.svc.>", Handle: func(_ context.Context, r bus.Request) ([]byte, error) {
			answered <- r.Subject
			return []byte("{}"), nil
		},
	}}})
	alice.must(err)
	defer func() { alice.must(stop(t.Context())) }()
	root := h.As(hubtest.Root)
	heard, err := root.SubscribeSync(">")
	alice.must(err)
	var states []bus.StreamState
	read := func() (all []bus.StreamState) {
		for _, s := range schemas.Streams() {
			state, err := alice.log.State(t.Context(), s)
			alice.must(err)
			all = append(all, state)
		}
		return all
	}
	states = read()
	var acts []act
	for _, s := range schemas.Streams() {
		for _, subject := range []string{
			strings.Replace(s.Subjects(), ">", "x.tool.finished", 1), "$JS.API.STREAM.INFO." + string(s), "$JS.API.STREAM.DELETE." + string(s), "$JS.API.STREAM.PURGE." + string(s),
			"$JS.API.STREAM.MSG.GET." + string(s), "$JS.API.DIRECT.GET." + string(s), "$JS.API.STREAM.MSG.DELETE." + string(s), "$JS.API.CONSUMER.CREATE." + string(s), "$JS.API.STREAM.UPDATE." + string(s),
		} {
			acts = append(acts, act{subject: subject, body: `{"seq":1}`})
		}
	}
	for _, subject := range []string{"writ.svc.status", "writ.svc.gate.check", "writ.svc.stop", "writ.svc.team", "$SRV.PING", "$SRV.INFO.writ", "$JS.API.INFO", "$JS.API.STREAM.NAMES", "_INBOX.daemon.x", "_INBOX.hook.x", "writ.deliver.dashboard.x", "$SYS.REQ.SERVER.PING", "$KV.x.y", "$O.x"} {
		acts = append(acts, act{subject: subject, body: "{}"})
	}
	tryAll(t, root, acts, func(a act, answer string) {
		if !strings.Contains(answer, `"error"`) {
			t.Errorf("%s was answered %.80s", a, answer)
		}
	})
	// The hub's own server answers these; the member's must not.
	inbox := root.NewInbox()
	answers, err := root.SubscribeSync(inbox)
	alice.must(err)
	for _, subject := range []string{"$SYS.REQ.ACCOUNT.PING.CONNZ", "$SYS.REQ.ACCOUNT.PING.STATZ", "$SYS.REQ.ACCOUNT.PING.SUBSZ", "$SYS.REQ.ACCOUNT.PING.JSZ", "$SYS.REQ.ACCOUNT.PING.INFO", "$SYS.REQ.USER.INFO"} {
		alice.must(root.PublishRequest(subject, inbox, nil))
	}
	for {
		m, err := answers.NextMsg(300 * time.Millisecond)
		if err != nil {
			break
		}
		if strings.Contains(string(m.Data), `"server":{"name":"writ-alice-`) || strings.Contains(string(m.Data), `"TEAM"`) {
			t.Errorf("the member's server answered %.300s", m.Data)
		}
	}
	for i, state := range read() {
		if state != states[i] {
			t.Errorf("%s is %+v and was %+v", schemas.Streams()[i], state, states[i])
		}
	}
	select {
	case subject := <-answered:
		t.Errorf("the machine answered %s", subject)
	default:
	}
	alice.happen(5, 1) // what the log's own clients do is not heard there
	if _, err := alice.log.Request(t.Context(), bus.Request{Subject: "writ.svc.status", Body: []byte("{}")}); err != nil {
		t.Error(err)
	}
	<-answered
	compare(t, h, alice)
	for {
		m, err := heard.NextMsg(50 * time.Millisecond)
		if err != nil {
			break
		}
		known := false
		for _, prefix := range []string{"writ.at.alice.", "writ.last.", bus.InboxPrefix(rights.MemberUser("alice")) + ".", "$JS.EVENT.", "_INBOX."} {
			known = known || strings.HasPrefix(m.Subject, prefix)
		}
		if !known && m.Header.Get("x") == "" && !tried(m.Subject) {
			t.Errorf("the hub heard %s: %.80s", m.Subject, m.Data)
		}
	}
	if len(acts) < 60 {
		t.Errorf("only %d acts", len(acts))
	}
}

// tried says whether a subject is one that the hub itself published to.
func tried(subject string) bool {
	for _, prefix := range []string{"$JS.API.", "$SRV.", "$SYS.", "$KV.", "$O.", "writ.svc.", "writ.deliver.", "writ."} {
		if strings.HasPrefix(subject, prefix) {
			return true
		}
	}
	return false
}

// TestACompromisedMemberSilencesNobody: what a member's messages bear in their headers is
// not taken for the words of a server, which say where a message lies, and that there is
// none. What others brought behind them is read by the witness and by members.
func TestACompromisedMemberSilencesNobody(t *testing.T) {
	t.Parallel()
	h := hubtest.Start(t, 1, "alice", "bob")
	alice := newMachine(t, h, "alice", h.URLs())
	bob := h.As("bob", nats.CustomInboxPrefix(bus.InboxPrefix(rights.MemberUser("bob"))))
	var want []string
	bring := func(nc *nats.Conn, subject string, header nats.Header) {
		if _, err := nc.RequestMsg(&nats.Msg{Subject: subject, Header: header}, time.Minute); err != nil {
			t.Fatalf("%s %v: %v", subject, header, err)
		}
		if strings.HasPrefix(subject, "writ.mem.") {
			want = append(want, subject)
		}
	}
	for i, header := range []nats.Header{
		{"Nats-Subject": {"writ.mem.alice.card"}},
		{"Nats-Sequence": {"9000000000"}},
		{"Status": {"404"}},
		{"Status": {"503"}},
		{"Status": {"100"}},
		{"Status": {"409"}, "Description": {"Consumer Deleted"}},
		{"Status": {"400"}},
		{"Nats-Num-Pending": {"0"}, "Status": {"204"}},
	} {
		bring(bob, fmt.Sprintf("writ.mem.bob.x%d", i), header)
		bring(bob, "writ.at.bob.9.WRIT_SESSIONS", header)
	}
	bring(h.As("alice", nats.CustomInboxPrefix(bus.InboxPrefix(rights.MemberUser("alice")))), "writ.mem.alice.card", nil)
	alice.happen(5, 1)
	h.Eventually("all is brought", func() error {
		for _, s := range alice.status().Streams {
			if s.Through < s.Last || s.Stream == schemas.StreamSessions && s.Last == 0 {
				return fmt.Errorf("%+v", s)
			}
		}
		return nil
	})
	own, _ := alice.server.Hub()
	conn, err := bus.Connect(t.Context(), *own)
	alice.must(err)
	defer conn.Close()
	var read []string
	for from := uint64(0); ; {
		r, err := bus.NextOn(t.Context(), conn, rights.NextMemory, from, rights.MemorySubject(">"))
		if errors.Is(err, bus.ErrNotFound) {
			break
		}
		if err != nil || r.Seq != from+1 {
			t.Fatalf("behind %d: %d, %v", from, r.Seq, err)
		}
		read, from = append(read, r.Message.Subject), r.Seq
	}
	if !slices.Equal(read, want) {
		t.Errorf("read %v, want %v", read, want)
	}
	if seen := watch(t, h, t.TempDir()); seen.Streams[sessions].Copies != 5 {
		t.Errorf("the witness saw %+v", seen)
	}
}
