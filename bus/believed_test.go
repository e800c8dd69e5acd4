package bus_test

import (
	"fmt"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/bus/embedded"
	"github.com/writbus/writ/schemas"
)

// TestNoStoredHeaderIsTheServersWord: whatever a record bears, it is read, and so is what
// stands behind it.
func TestNoStoredHeaderIsTheServersWord(t *testing.T) {
	h := newHost(t, embedded.Options{})
	c := connect(t, h.inProcess(embedded.RoleDaemon))
	must(t, c.EnsureStreams(t.Context(), bus.Retention{}))
	raw := dialRaw(t, h, embedded.RoleDaemon)
	headers := []nats.Header{
		{"Status": {"204"}, "Nats-Num-Pending": {"0"}}, {"Status": {"204"}}, {"Status": {"404"}}, {"Status": {"503"}}, {"Nats-Sequence": {"900"}}, {},
	}
	of := schemas.Aggregate{Kind: schemas.KindSession, ID: "s"}
	for i, header := range headers {
		header.Set(jetstream.ExpectedLastSubjSeqHeader, fmt.Sprint(i))
		header.Set(jetstream.ExpectedLastSubjSeqSubjHeader, of.Filter())
		_, err := raw.RequestMsg(&nats.Msg{Subject: of.Filter()[:len(of.Filter())-1] + "prompt.submitted", Header: header, Data: []byte("{}")}, patient)
		must(t, err)
	}
	var read []uint64
	for record, err := range c.Tail(t.Context(), of, 0) {
		must(t, err)
		read = append(read, record.Seq)
	}
	if len(read) != len(headers) {
		t.Errorf("read %v of %d", read, len(headers))
	}
	for i := range headers {
		if after, known, err := c.After(t.Context(), schemas.StreamSessions, uint64(i+1)); err != nil || !known || after != uint64(i) {
			t.Errorf("record %d stands behind %d, %v, %v", i+1, after, known, err)
		}
	}
}
