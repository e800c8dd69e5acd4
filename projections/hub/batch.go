package hub

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/writbus/writ/projections/audit/evidence"
	"github.com/writbus/writ/projections/hubcopies"
	"github.com/writbus/writ/schemas"
)

// ErrBatch is returned for a message of a hub's stream that is not as members write it.
var ErrBatch = errors.New("hub: not what a member brings")

const (
	// maxLines is how many bytes of copies a batch holds; a NATS takes 1 MiB by default.
	maxLines = 384 << 10
	// maxCopy is the size from which on a copy leaves without its data.
	maxCopy = 128 << 10
)

// beginning is what a member says when an epoch begins: one line of JSON, signed as a
// note (persisted at hubs; never change).
type beginning struct {
	Member string    `json:"member"`
	Epoch  uint64    `json:"epoch"`
	Claim  string    `json:"claim"` // drawn for it
	Key    string    `json:"key"`   // public, of the log; it signs this and all batches
	List   string    `json:"list"`  // digest of the list of what leaves
	Why    string    `json:"why"`
	Time   time.Time `json:"time"`
}

// signLine signs something as a note that is one line of JSON.
func signLine(what any, key note.Signer) ([]byte, error) {
	line, err := json.Marshal(what)
	if err != nil {
		return nil, err
	}
	return note.Sign(&note.Note{Text: string(line) + "\n"}, key)
}

// openLine reads what signLine wrote, by the key that it names itself.
func openLine(raw []byte, what any, named *string) error {
	line, _, _ := bytes.Cut(raw, []byte("\n"))
	err := json.Unmarshal(line, what)
	var key note.Verifier
	if err == nil {
		key, err = evidence.ParseKey(*named)
	}
	if err == nil {
		_, err = note.Open(raw, note.VerifierList(key))
	}
	if err != nil {
		return fmt.Errorf("%w: %w", ErrBatch, err)
	}
	return nil
}

// batch is what of a stream is brought at once: a line of JSON, and then the copies, a
// line each (persisted at hubs; never change).
type batch struct {
	// Head is a signed checkpoint over all copies of the stream in the epoch, Edge the
	// right edge of their tree.
	Head string          `json:"head"`
	Edge []evidence.Hash `json:"edge,omitempty"`
	// From and Through are records of the log: the copies are of those after From.
	From    uint64 `json:"from"`
	Through uint64 `json:"through"`
	// Tip is a digest of the record Through, which only the member can draw: a log that
	// has another one there is another log.
	Tip string `json:"tip,omitempty"`
	// Checkpoint is a signed one of the log's own tree, Grown the proof that it extends
	// the one that was brought before it, which had Before records, if there was one.
	Checkpoint string          `json:"checkpoint,omitempty"`
	Before     int64           `json:"before,omitempty"`
	Grown      []evidence.Hash `json:"grown,omitempty"`
	Sealed     int64           `json:"sealed,omitempty"` // records under the newest that was brought
	lines      [][]byte
}

func (b batch) encode() ([]byte, error) {
	head, err := json.Marshal(b)
	return bytes.Join(append([][]byte{head}, b.lines...), []byte("\n")), err
}

func decodeBatch(raw []byte) (b batch, err error) {
	lines := bytes.Split(raw, []byte("\n"))
	if err := json.Unmarshal(lines[0], &b); err != nil {
		return b, fmt.Errorf("%w: %w", ErrBatch, err)
	}
	b.lines = lines[1:]
	return b, nil
}

// head is what the checkpoint over copies says. Its text is that of a checkpoint of
// transparency logs (C2SP tlog-checkpoint), with lines of Writ's own.
type head struct {
	Log     string
	Epoch   uint64
	Stream  schemas.Stream
	Size    int64
	Root    evidence.Hash
	Through uint64
	List    string
	Time    time.Time
}

func (h head) text() string {
	return fmt.Sprintf("%s/WRIT_OUT/%d/%s\n%d\n%s\nthrough %d\nlist %s\ntime %s\n", h.Log, h.Epoch, h.Stream, h.Size,
		base64.StdEncoding.EncodeToString(h.Root[:]), h.Through, h.List, h.Time.UTC().Format(time.RFC3339))
}

func (h head) sign(key note.Signer) (string, error) {
	signed, err := note.Sign(&note.Note{Text: h.text()}, key)
	return string(signed), err
}

// openHead reads a head that a key signed, in the form in which it is signed.
func openHead(signed string, key note.Verifier) (h head, err error) {
	n, err := note.Open([]byte(signed), note.VerifierList(key))
	if err != nil {
		return h, fmt.Errorf("%w: its head: %w", ErrBatch, err)
	}
	lines := strings.Split(n.Text, "\n")
	origin := strings.Split(lines[0], "/")
	if len(lines) != 7 || len(origin) != 4 {
		return h, fmt.Errorf("%w: its head is %.80q", ErrBatch, n.Text)
	}
	h.Log, h.Stream, h.List = origin[0], schemas.Stream(origin[3]), strings.TrimPrefix(lines[4], "list ")
	h.Epoch, _ = strconv.ParseUint(origin[2], 10, 64)
	h.Size, _ = strconv.ParseInt(lines[1], 10, 64)
	root, _ := base64.StdEncoding.DecodeString(lines[2])
	copy(h.Root[:], root)
	h.Through, _ = strconv.ParseUint(strings.TrimPrefix(lines[3], "through "), 10, 64)
	h.Time, _ = time.Parse(time.RFC3339, strings.TrimPrefix(lines[5], "time "))
	if h.text() != n.Text || h.Log != key.Name() {
		return h, fmt.Errorf("%w: its head is %.200q", ErrBatch, n.Text)
	}
	return h, nil
}

// follows checks a batch: that its copies added to a tree give what its head says, and
// returns the head and the tree that it leaves.
func (b batch) follows(before *evidence.Frontier, key note.Verifier, epoch uint64, s schemas.Stream) (head, *evidence.Frontier, error) {
	h, err := openHead(b.Head, key)
	if err != nil {
		return h, nil, err
	}
	tree := before.Clone()
	for _, line := range b.lines {
		tree.Add(tlog.RecordHash(line))
	}
	switch {
	case h.Epoch != epoch, h.Stream != s:
		return h, nil, fmt.Errorf("%w: its head is of epoch %d of %s", ErrBatch, h.Epoch, h.Stream)
	case h.Size != tree.Size(), h.Root != tree.Root(), h.Through != b.Through:
		return h, nil, fmt.Errorf("%w: its head is over %d copies through record %d, and what it brings gives others", ErrBatch, h.Size, h.Through)
	}
	return h, tree, nil
}

// lines appends the copies of a record as they leave.
func lines(to [][]byte, c *hubcopies.Copier, copies []hubcopies.Copy, r schemas.Record) ([][]byte, []hubcopies.Copy, error) {
	copies, err := c.Copies(copies[:0], r)
	if err != nil {
		return to, copies, nil //nolint:nilerr // of what nobody understands nothing leaves
	}
	for _, one := range copies {
		line, err := json.Marshal(one)
		if err == nil && len(line) > maxCopy {
			one.Data = "(too large to leave)"
			line, err = json.Marshal(one)
		}
		if err != nil {
			return to, copies, err
		}
		to = append(to, line)
	}
	return to, copies, nil
}
