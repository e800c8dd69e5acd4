package bus

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strconv"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/writbus/writ/schemas"
)

// query is the body of JetStream's message requests, direct or not.
type query struct {
	Seq  uint64 `json:"seq,omitempty"`
	Next string `json:"next_by_subj,omitempty"`
	Last string `json:"last_by_subj,omitempty"`
	// Batch asks for several, of MaxBytes together.
	Batch    int `json:"batch,omitempty"`
	MaxBytes int `json:"max_bytes,omitempty"`
}

const (
	// tailSingly is how many records of a tail are asked for one by one. Most
	// tails are shorter, and the server counts what is left before it hands over
	// several.
	tailSingly = 2
	// tailTogether is how many records are asked for at once after those, and
	// tailBytes their size.
	tailTogether = 512
	tailBytes    = 8 << 20
)

// Tail yields the records of one aggregate after a stream sequence, in order,
// up to the last there is. It costs the server a search for each record, and is
// meant for the tail since a snapshot, or for an aggregate that has none; whole
// streams are read with Follow. An error is yielded once and ends it.
func (c *Conn) Tail(ctx context.Context, a schemas.Aggregate, after uint64) iter.Seq2[schemas.Record, error] {
	return func(yield func(schemas.Record, error) bool) {
		for n := 0; ; n++ {
			records, err := someOf(ctx, c, a, after, n)
			for _, record := range records {
				if after = record.Seq; !yield(record, nil) {
					return
				}
			}
			switch {
			case errors.Is(err, ErrNotFound), err == nil && len(records) == 0:
				return
			case err != nil:
				yield(schemas.Record{}, fmt.Errorf("tail of %s: %w", a, err))
				return
			}
		}
	}
}

// someOf returns the aggregate's next records after a sequence, those of the archive
// first, and ErrNotFound with the last there are. It is asked for the n-th time.
func someOf(ctx context.Context, c *Conn, a schemas.Aggregate, after uint64, n int) (records []schemas.Record, err error) {
	if a.Kind.Stream() == ArchivedStream {
		c.options.Archive.leaving.RLock()
		defer c.options.Archive.leaving.RUnlock()
		if records, err = c.options.Archive.tail(ctx, c, a, after); err != nil || len(records) > 0 {
			return records, err
		}
	}
	read := c.single
	if after == 0 || n >= tailSingly {
		read = c.several
	}
	err = read(ctx, a, after+1, func(record schemas.Record) bool {
		records = append(records, record)
		return true
	})
	return records, err
}

// single hands over the aggregate's first record at or after a sequence, or
// returns ErrNotFound.
func (c *Conn) single(ctx context.Context, a schemas.Aggregate, from uint64, fn func(schemas.Record) bool) error {
	record, err := c.next(ctx, a, from)
	if err == nil {
		fn(record)
	}
	return err
}

// several hands over the aggregate's next records at or after a sequence until fn
// returns false. It returns ErrNotFound behind the last there is.
func (c *Conn) several(ctx context.Context, a schemas.Aggregate, from uint64, fn func(schemas.Record) bool) error {
	if err := a.Check(); err != nil {
		return err
	}
	body, err := json.Marshal(query{Seq: from, Next: a.Filter(), Batch: tailTogether, MaxBytes: tailBytes})
	if err != nil {
		return err
	}
	if c.noDirect.Load() || c.options.Dial == nil {
		// A client is in an account of its own, to which one answer of many comes.
		return c.single(ctx, a, from, fn)
	}
	ctx, cancel := c.bounded(ctx)
	defer cancel()
	subject, inbox := "$JS.API.DIRECT.GET."+string(a.Kind.Stream()), c.nc.NewInbox()
	guarded, release := c.guards.watch(ctx, subject)
	defer release()
	// The library's own queue has room for 65,536, half a megabyte that is cleared each time.
	answers := make(chan *nats.Msg, tailTogether+1)
	sub, err := c.nc.ChanSubscribe(inbox, answers)
	if err != nil {
		return causeOf(guarded, err)
	}
	defer func() { _ = sub.Unsubscribe() }() // the connection is closed otherwise
	if err := c.nc.PublishRequest(subject, inbox, body); err != nil {
		return causeOf(guarded, err)
	}
	for first := true; ; first = false {
		var answer *nats.Msg
		select {
		case answer = <-answers:
		case <-guarded.Done():
			return causeOf(guarded, guarded.Err())
		}
		switch status := statusOf(answer); {
		case first && status == noResponders:
			return c.single(ctx, a, from, fn) // which asks the stream's leader
		case status == endOfBatch && answer.Header.Get(pendingHeader) == "0":
			return ErrNotFound
		case status == endOfBatch:
			return nil
		}
		// A server that knows no batches sends one record and no end.
		batched := answer.Header.Get(pendingHeader) != ""
		record, err := directRecord(a.Kind.Stream(), answer)
		if err != nil || !fn(record) || !batched {
			return err
		}
	}
}

const (
	endOfBatch    = "204"
	noResponders  = "503"
	pendingHeader = "Nats-Num-Pending"
)

// LastOf returns the aggregate's last record, or ErrNotFound.
func (c *Conn) LastOf(ctx context.Context, a schemas.Aggregate) (schemas.Record, error) {
	if err := a.Check(); err != nil {
		return schemas.Record{}, err
	}
	record, err := c.lookup(ctx, a.Kind.Stream(), query{Last: a.Filter()})
	if errors.Is(err, ErrNotFound) {
		if last, archived := c.options.Archive.lastOf(ctx, c, a); archived != nil {
			err = archived
		} else if last > 0 {
			record, err = c.Get(ctx, a.Kind.Stream(), last)
		}
	}
	if err != nil {
		return schemas.Record{}, fmt.Errorf("last record of %s: %w", a, err)
	}
	return record, nil
}

// Get returns the record at a sequence of a stream, or ErrNotFound.
func (c *Conn) Get(ctx context.Context, s schemas.Stream, seq uint64) (schemas.Record, error) {
	if seq == 0 {
		return schemas.Record{}, fmt.Errorf("record 0 of %s: %w: sequences start at 1", s, ErrNotFound)
	}
	record, err := c.lookup(ctx, s, query{Seq: seq})
	if errors.Is(err, ErrNotFound) && s == ArchivedStream {
		var archived schemas.Record
		if archived, err = c.options.Archive.first(ctx, c, seq); err == nil && archived.Seq != seq {
			err = ErrNotFound
		}
		record = unfolded(archived)
	}
	if err != nil {
		return schemas.Record{}, fmt.Errorf("record %d of %s: %w", seq, s, err)
	}
	return record, nil
}

// firstOf returns a stream's first record at or behind a sequence.
func firstOf(ctx context.Context, c *Conn, s schemas.Stream, from uint64) (schemas.Record, error) {
	record, err := c.lookup(ctx, s, query{Seq: from, Next: s.Subjects()})
	if s != ArchivedStream || err != nil && !errors.Is(err, ErrNotFound) || err == nil && record.Seq == from {
		return record, err
	}
	archived, missing := c.options.Archive.first(ctx, c, from)
	if errors.Is(missing, ErrNotFound) || missing == nil && err == nil && record.Seq <= archived.Seq {
		return record, err
	}
	return unfolded(archived), missing
}

// next returns the aggregate's first record at or after a sequence.
func (c *Conn) next(ctx context.Context, a schemas.Aggregate, from uint64) (schemas.Record, error) {
	if err := a.Check(); err != nil {
		return schemas.Record{}, err
	}
	return c.lookup(ctx, a.Kind.Stream(), query{Seq: from, Next: a.Filter()})
}

func (c *Conn) lookup(ctx context.Context, s schemas.Stream, q query) (schemas.Record, error) {
	if !c.noDirect.Load() {
		record, err := c.lookupDirect(ctx, s, q)
		if !errors.Is(err, nats.ErrNoResponders) {
			return record, err
		}
	}
	// Nobody answers direct reads: the stream does not allow them, or it does
	// not exist, which only its leader can tell.
	record, err := c.lookupAtLeader(ctx, s, q)
	if err == nil {
		c.noDirect.Store(true)
	}
	return record, err
}

func (c *Conn) lookupDirect(ctx context.Context, s schemas.Stream, q query) (schemas.Record, error) {
	body, err := json.Marshal(q)
	if err != nil {
		return schemas.Record{}, err
	}
	answer, err := c.roundTrip(ctx, &nats.Msg{Subject: "$JS.API.DIRECT.GET." + string(s), Data: body})
	if err != nil {
		return schemas.Record{}, err
	}
	return directRecord(s, answer)
}

// directRecord is the record in an answer to a direct read, or ErrNotFound.
func directRecord(s schemas.Stream, answer *nats.Msg) (schemas.Record, error) {
	switch status := statusOf(answer); status {
	case "":
	case "404":
		return schemas.Record{}, ErrNotFound
	case noResponders:
		return schemas.Record{}, translate(nats.ErrNoResponders)
	default:
		return schemas.Record{}, fmt.Errorf("direct read: status %s %s", status, answer.Header.Get("Description"))
	}
	seq, err := strconv.ParseUint(added(answer, jetstream.SequenceHeader), 10, 64)
	if err != nil {
		return schemas.Record{}, fmt.Errorf("direct read: sequence: %w", err)
	}
	subject := added(answer, jetstream.SubjectHeader)
	for _, added := range directHeaders {
		delete(answer.Header, added)
	}
	return newRecord(s, seq, subject, answer.Header, answer.Data), nil
}

func (c *Conn) lookupAtLeader(ctx context.Context, s schemas.Stream, q query) (schemas.Record, error) {
	body, err := json.Marshal(q)
	if err != nil {
		return schemas.Record{}, err
	}
	answer, err := c.roundTrip(ctx, &nats.Msg{Subject: "$JS.API.STREAM.MSG.GET." + string(s), Data: body})
	if err != nil {
		return schemas.Record{}, err
	}
	var reply struct {
		Error   *jetstream.APIError `json:"error"`
		Message struct {
			Subject string `json:"subject"`
			Seq     uint64 `json:"seq"`
			Header  []byte `json:"hdrs"`
			Data    []byte `json:"data"`
		} `json:"message"`
	}
	if err := json.Unmarshal(answer.Data, &reply); err != nil {
		return schemas.Record{}, fmt.Errorf("read at leader: %w", err)
	}
	if reply.Error != nil {
		return schemas.Record{}, translateAPI(reply.Error)
	}
	var header nats.Header
	if len(reply.Message.Header) > 0 {
		if header, err = nats.DecodeHeadersMsg(reply.Message.Header); err != nil {
			return schemas.Record{}, fmt.Errorf("read at leader: headers of %d: %w", reply.Message.Seq, err)
		}
	}
	return newRecord(s, reply.Message.Seq, reply.Message.Subject, header, reply.Message.Data), nil
}

// added is a header that the server adds to a message. One of the same name that the
// message was stored with, by whoever may, stands before it.
func added(answer *nats.Msg, name string) string {
	all := answer.Header.Values(name)
	if len(all) == 0 {
		return ""
	}
	return all[len(all)-1]
}

// statusOf is what a server says where there is no message, "" of a message.
func statusOf(answer *nats.Msg) string {
	if added(answer, jetstream.SequenceHeader) != "" {
		return ""
	}
	return answer.Header.Get("Status")
}

// directHeaders are added by the server to the answer of a direct read.
var directHeaders = []string{
	jetstream.StreamHeader, jetstream.SubjectHeader, jetstream.SequenceHeader, jetstream.TimeStampHeaer,
	pendingHeader, "Nats-Last-Sequence",
}

// appendHeaders are added by Append and stored with the message.
var appendHeaders = []string{
	jetstream.ExpectedStreamHeader, jetstream.ExpectedLastSubjSeqHeader, jetstream.ExpectedLastSubjSeqSubjHeader,
}

// newRecord takes the header and body over. What Append added is taken out, so
// that a record holds the message that schemas.Encode made.
func newRecord(s schemas.Stream, seq uint64, subject string, header nats.Header, body []byte) schemas.Record {
	for _, added := range appendHeaders {
		delete(header, added)
	}
	return schemas.Record{
		Stream:  s,
		Seq:     seq,
		Message: schemas.Message{Subject: subject, Header: schemas.Header(header), Body: body},
	}
}
