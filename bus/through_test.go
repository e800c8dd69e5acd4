package bus_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/bus/embedded"
)

// relay passes bytes on between clients and a server until it is deaf: then it
// takes nothing more from clients, and drops what it is just taking.
type relay struct {
	listener net.Listener
	deaf     atomic.Bool
	end      chan struct{}
	open     sync.WaitGroup
}

func relayTo(t *testing.T, url string) *relay {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	r := &relay{listener: l, end: make(chan struct{})}
	r.open.Go(func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial("tcp", strings.TrimPrefix(url, "nats://"))
			if err != nil {
				_ = client.Close()
				return
			}
			r.open.Go(func() { _, _ = io.Copy(client, server) })
			r.open.Go(func() { r.listen(server, client) })
			r.open.Go(func() {
				<-r.end
				_, _ = client.Close(), server.Close()
			})
		}
	})
	return r
}

func (r *relay) listen(server, client net.Conn) {
	buffer := make([]byte, 4<<10)
	for !r.deaf.Load() {
		n, err := client.Read(buffer)
		if err != nil || r.deaf.Load() {
			return
		}
		if _, err := server.Write(buffer[:n]); err != nil {
			return
		}
	}
}

func (r *relay) close() {
	close(r.end)
	_ = r.listener.Close()
	r.open.Wait()
}

// TestARequestToADeafServerEndsWithItsContext: whatever its size, and written
// through or not.
func TestARequestToADeafServerEndsWithItsContext(t *testing.T) {
	t.Parallel()
	h := newHost(t, embedded.Options{})
	serve(t, connect(t, h.as(embedded.RoleDaemon)), answering("echo", func(_ context.Context, r bus.Request) ([]byte, error) { return r.Body, nil }))
	for _, through := range []bool{false, true} {
		r := relayTo(t, h.server().URL())
		o := h.as(embedded.RoleAdmin)
		o.URL, o.Timeout, o.WriteThrough = "nats://"+r.listener.Addr().String(), patient, through
		c := connect(t, o)
		large := bytes.Repeat([]byte("x"), 24<<20)
		for _, body := range [][]byte{nil, []byte("hi"), large} {
			reply, err := c.Request(t.Context(), bus.Request{Subject: "writ.svc.echo", Body: body})
			if err != nil || !bytes.Equal(reply.Body, body) {
				t.Fatalf("through %v: %d bytes came back, %v", through, len(reply.Body), err)
			}
		}
		r.deaf.Store(true)
		for _, body := range [][]byte{[]byte("hi"), large} {
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
			ended := make(chan error, 1)
			go func() {
				_, err := c.Request(ctx, bus.Request{Subject: "writ.svc.echo", Body: body})
				ended <- err
			}()
			select {
			case err := <-ended:
				if !errors.Is(err, bus.ErrUnavailable) && !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("through %v: %d bytes: %v", through, len(body), err)
				}
			case <-time.After(patient / 2):
				t.Errorf("through %v: %d bytes: the request does not end with its context", through, len(body))
			}
			cancel()
		}
		r.close() // nothing holds the connection up any more
	}
}

// TestWhoWritesThroughIsServed asks many at once, more than are handled at a
// time, and cancels some.
func TestWhoWritesThroughIsServed(t *testing.T) {
	t.Parallel()
	h := newHost(t, embedded.Options{})
	hold := make(chan struct{})
	echo := answering("echo", func(_ context.Context, r bus.Request) ([]byte, error) { return bytes.Clone(r.Body), nil })
	asked := make(chan struct{}, 2)
	slow := answering("slow", func(context.Context, bus.Request) ([]byte, error) {
		asked <- struct{}{}
		<-hold
		return []byte("late"), nil
	})
	fails := answering("fails", func(context.Context, bus.Request) ([]byte, error) { return nil, codedError{"NO"} })
	stop := serve(t, connect(t, h.inProcess(embedded.RoleDaemon)), echo, slow, fails)
	o := h.as(embedded.RoleAdmin)
	o.WriteThrough = true
	c := connect(t, o)
	ctx, cancel := context.WithCancel(t.Context())
	cancelled := make(chan error, 1)
	go func() {
		_, err := c.Request(ctx, bus.Request{Subject: "writ.svc.slow"})
		cancelled <- err
	}()
	late := make(chan error, 1)
	go func() {
		reply, err := c.Request(t.Context(), bus.Request{Subject: "writ.svc.slow"})
		if err == nil && string(reply.Body) != "late" {
			err = errors.New(string(reply.Body))
		}
		late <- err
	}()
	var all sync.WaitGroup
	const askers, each = 8, 20
	for i := range askers {
		all.Go(func() {
			body := bytes.Repeat([]byte{byte('a' + i)}, 1+i*9000)
			for range each {
				if reply, err := c.Request(t.Context(), bus.Request{Subject: "writ.svc.echo", Body: body}); err != nil || !bytes.Equal(reply.Body, body) {
					t.Errorf("%d bytes: %v, %d came back", len(body), err, len(reply.Body))
				}
			}
		})
	}
	all.Wait()
	if _, err := c.Request(t.Context(), bus.Request{Subject: "writ.svc.fails"}); err == nil {
		t.Error("an error is no answer")
	}
	for range cap(asked) {
		<-asked // what was not sent yet would not be asked before the stop
	}
	cancel()
	if err := <-cancelled; err == nil {
		t.Error("a cancelled request was answered")
	}
	stopped := make(chan error, 1)
	go func() { stopped <- stop(t.Context()) }()
	close(hold) // a stop waits for what was asked before
	if err := errors.Join(<-late, <-stopped); err != nil {
		t.Error(err)
	}
}
