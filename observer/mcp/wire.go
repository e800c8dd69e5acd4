package mcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxLine bounds one message, bytes: a rule of the largest size with JSON's
// escapes, many times over.
const maxLine = 4 << 20

// drainBudget bounds how long answers are waited for once the input has ended.
const drainBudget = dialBudget + AskBudget

var errLineTooLong = errors.New("mcp: the line is too long")

// lines is the transport of a host that starts the server: one message on a
// line each way.
type lines struct {
	in  io.Reader
	out io.Writer
}

// Connect starts reading.
func (l *lines) Connect(context.Context) (sdk.Connection, error) {
	c := &connection{out: l.out, received: make(chan jsonrpc.Message), ended: make(chan struct{}), closed: make(chan struct{}), open: map[jsonrpc.ID]bool{}, idle: make(chan struct{}, 1)}
	go c.read(bufio.NewReaderSize(l.in, 64<<10))
	return c, nil
}

// connection reads ahead of the server on a goroutine of its own, which ends
// with the input: a read of standard input cannot be interrupted.
type connection struct {
	received chan jsonrpc.Message
	ended    chan struct{} // closed at the end of the input; then failure is set
	failure  error
	closed   chan struct{}
	once     sync.Once

	mu   sync.Mutex
	out  io.Writer
	open map[jsonrpc.ID]bool // calls that have no answer yet
	idle chan struct{}       // told when the last of them has one
}

func (c *connection) SessionID() string { return "" }

func (c *connection) Close() error {
	c.once.Do(func() { close(c.closed) })
	return nil
}

// Read returns the next message; at the end of the input it waits until what
// was asked is answered.
func (c *connection) Read(ctx context.Context) (jsonrpc.Message, error) {
	select {
	case m := <-c.received:
		return m, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-c.closed:
		return nil, io.EOF
	case <-c.ended:
	}
	late := time.After(drainBudget)
	for c.waiting() {
		select {
		case <-late:
			return nil, c.failure
		case <-c.idle:
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-c.closed:
			return nil, io.EOF
		}
	}
	return nil, c.failure
}

func (c *connection) waiting() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.open) > 0
}

// Write sends a message and takes note of answers.
func (c *connection) Write(_ context.Context, m jsonrpc.Message) error {
	raw, err := jsonrpc.EncodeMessage(m)
	if err != nil {
		return fmt.Errorf("mcp: encode: %w", err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	_, err = c.out.Write(append(raw, '\n'))
	if answer, ok := m.(*jsonrpc.Response); ok {
		delete(c.open, answer.ID)
		if len(c.open) == 0 {
			select {
			case c.idle <- struct{}{}:
			default:
			}
		}
	}
	return err
}

func (c *connection) read(in *bufio.Reader) {
	for {
		line, err := readLine(in)
		tooLong := errors.Is(err, errLineTooLong)
		switch {
		case tooLong:
			c.refuse(jsonrpc.CodeInvalidRequest, fmt.Sprintf("the message is longer than %d MiB; it was not read", maxLine>>20))
		case len(line) > 0:
			c.take(line)
		}
		if err != nil && !tooLong {
			c.failure = err
			close(c.ended)
			return
		}
	}
}

// take hands a message to the server, or answers for what is none.
func (c *connection) take(line []byte) {
	if !json.Valid(line) {
		c.refuse(jsonrpc.CodeParseError, "the line is not JSON; send one JSON-RPC 2.0 message on each line")
		return
	}
	if line[0] == '[' {
		c.refuse(jsonrpc.CodeInvalidRequest, "batches are not taken; send one JSON-RPC 2.0 message on each line")
		return
	}
	m, err := jsonrpc.DecodeMessage(line)
	if err != nil {
		c.refuse(jsonrpc.CodeInvalidRequest, "the line is not a JSON-RPC 2.0 message: "+err.Error())
		return
	}
	if call, ok := m.(*jsonrpc.Request); ok && call.IsCall() {
		c.mu.Lock()
		c.open[call.ID] = true
		c.mu.Unlock()
	}
	select {
	case c.received <- m:
	case <-c.closed:
	}
}

// refuse answers a line whose id is not known, as JSON-RPC has it for those.
func (c *connection) refuse(code int64, text string) {
	raw, err := json.Marshal(map[string]any{
		"jsonrpc": "2.0", "id": nil, "error": map[string]any{"code": code, "message": "writ: " + text},
	})
	if err != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	_, _ = c.out.Write(append(raw, '\n'))
}

// readLine returns the next line without the white space around it. Of one that
// is too long it reads everything and keeps nothing. The last line may come
// together with io.EOF.
func readLine(in *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := in.ReadSlice('\n')
		if len(line)+len(part) > maxLine {
			return nil, skipLine(in, err)
		}
		line = append(line, part...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return bytes.TrimSpace(line), err
		}
	}
}

func skipLine(in *bufio.Reader, err error) error {
	for errors.Is(err, bufio.ErrBufferFull) {
		_, err = in.ReadSlice('\n')
	}
	if err != nil {
		return errors.Join(errLineTooLong, err)
	}
	return errLineTooLong
}
