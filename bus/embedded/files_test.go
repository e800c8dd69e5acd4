package embedded_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/writbus/writ/bus/blockfile"
	"github.com/writbus/writ/bus/embedded"
	"github.com/writbus/writ/schemas"
)

// TestFilesHoldWhatTheServerGives asks a blockfile.Reader and the server for
// every record, while records are appended, limits drop the oldest, some are
// purged and some deleted. Of a stream that nothing was taken out of, the files
// give everything that is written out.
func TestFilesHoldWhatTheServerGives(t *testing.T) {
	s := newStore(t)
	server, c := s.start()
	nc, err := nats.Connect(server.URL(), nats.UserInfo(s.creds[embedded.RoleDaemon].User, s.creds[embedded.RoleDaemon].Password))
	must(t, err)
	defer nc.Close()
	js, err := jetstream.New(nc)
	must(t, err)
	// The limit makes blocks small: a server's are a quarter of it.
	stream, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: string(schemas.StreamRules), Subjects: []string{"writ.rule.>"}, MaxBytes: 1 << 20, AllowDirect: true})
	must(t, err)
	random := rand.New(rand.NewPCG(1, 2))
	appendSome := func(n int) {
		for i := range n {
			m := &nats.Msg{Subject: "writ.rule.r.rule.proposed", Data: []byte(strings.Repeat(fmt.Sprint(i, " "), random.IntN(600)))}
			if random.IntN(4) > 0 {
				m.Header = nats.Header{"ce-id": {fmt.Sprint(random.Uint64())}, "Nats-Expected-Stream": {string(schemas.StreamRules)}}
			}
			_, err := js.PublishMsgAsync(m)
			must(t, err)
		}
		<-js.PublishAsyncComplete()
	}
	r := blockfile.NewReader(s.options.Dir)
	// compare returns how many records the files did not give.
	compare := func(when string) (unclear int) {
		state, err := c.State(t.Context(), schemas.StreamRules)
		must(t, err)
		held := blockfile.Held{First: state.First, Last: state.Last, Messages: state.Messages}
		for seq := uint64(0); seq <= state.Last+1; seq++ {
			found, err := r.Record(schemas.StreamRules, seq, held)
			if err != nil {
				unclear++
				continue
			}
			found.Message = found.Message.Unfolded()
			want, err := c.Get(t.Context(), schemas.StreamRules, seq)
			if err != nil {
				t.Errorf("%s: the files have record %d, and the server says %v", when, seq, err)
				continue
			}
			same := maps.EqualFunc(found.Message.Header, want.Message.Header, func(a, b []string) bool { return reflect.DeepEqual(a, b) })
			if !same || found.Seq != want.Seq || found.Stream != want.Stream || found.Message.Subject != want.Message.Subject || string(found.Message.Body) != string(want.Message.Body) {
				t.Errorf("%s: record %d is %+v in the files, %+v at the server", when, seq, found, want)
			}
		}
		return unclear - int(state.First) - 1 // those before the first and the one behind the last
	}
	// whole waits until all is written out, and takes every record from the files.
	whole := func(when string) {
		for deadline := time.Now().Add(5 * time.Minute); ; {
			unclear := compare(when)
			if unclear == 0 {
				return
			}
			if time.Now().After(deadline) {
				t.Fatalf("%s: the files do not give %d records", when, unclear)
			}
		}
	}
	appendSome(300)
	whole("at first")
	appendSome(700)
	compare("right after appends")
	whole("after appends")
	appendSome(1500)
	whole("after limits dropped the oldest")
	state, err := c.State(t.Context(), schemas.StreamRules)
	must(t, err)
	if state.First < 100 {
		t.Fatalf("nothing was dropped: %+v", state)
	}
	must(t, stream.Purge(t.Context(), jetstream.WithPurgeSequence(state.Last-200)))
	compare("after a purge")
	appendSome(200)
	compare("after appends after a purge")
	for range 60 {
		state, err := c.State(t.Context(), schemas.StreamRules)
		must(t, err)
		seq := state.First + random.Uint64N(state.Last-state.First+1)
		if random.IntN(2) == 0 {
			_ = stream.SecureDeleteMsg(t.Context(), seq) // gone already: nothing to do
		} else {
			_ = stream.DeleteMsg(t.Context(), seq)
		}
	}
	compare("after deletions")
	appendSome(50)
	compare("after appends after deletions")
	must(t, server.Shutdown(t.Context()))
	_, c = s.start()
	compare("after a restart")
}
