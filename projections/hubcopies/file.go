package hubcopies

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/writbus/writ/projections/audit/evidence"
	"github.com/writbus/writ/schemas"
)

// ErrFile is returned for a file of copies that is not as it was signed.
var ErrFile = errors.New("hubcopies: not copies as they were signed")

// origin is what the checkpoint over copies names, behind the name of the log
// (persisted; never change).
const origin = "/WRIT_OUT"

// maxLine bounds a copy, in bytes.
const maxLine = 16 << 20

// Writer writes copies, one JSON object a line, and a signed checkpoint over the
// lines at the end.
type Writer struct {
	out  *bufio.Writer
	tree evidence.Frontier
}

// NewWriter returns a writer.
func NewWriter(out io.Writer) *Writer { return &Writer{out: bufio.NewWriter(out)} }

// Write writes a copy.
func (w *Writer) Write(c Copy) error {
	line, err := json.Marshal(c)
	if err != nil {
		return err
	}
	w.tree.Add(tlog.RecordHash(line))
	_, err = w.out.Write(append(line, '\n'))
	return err
}

// end is the last line.
type end struct {
	Checkpoint string `json:"checkpoint"`
}

// Close writes the checkpoint: a note in the form of C2SP tlog-checkpoint, with the
// list's digest and the time as lines of Writ's own.
func (w *Writer) Close(key note.Signer, now time.Time) (copies int64, err error) {
	root := w.tree.Root()
	text := fmt.Sprintf("%s%s\n%d\n%s\nlist %s\ntime %s\n", key.Name(), origin, w.tree.Size(),
		base64.StdEncoding.EncodeToString(root[:]), ListDigest(), now.UTC().Format(time.RFC3339))
	signed, err := note.Sign(&note.Note{Text: text}, key)
	if err != nil {
		return 0, fmt.Errorf("hubcopies: sign: %w", err)
	}
	line, err := json.Marshal(end{string(signed)})
	if err == nil {
		_, err = w.out.Write(append(line, '\n'))
	}
	return w.tree.Size(), errors.Join(err, w.out.Flush())
}

// Read is what a file of copies holds.
type Read struct {
	Log    string               `json:"log"` // of whose log they are
	Copies int64                `json:"copies"`
	Kinds  map[schemas.Type]int `json:"kinds"`
	Time   time.Time            `json:"time"` // of signing, by the signer's clock
	// OtherList says that they were drawn by another list than this program's.
	OtherList bool `json:"other_list,omitempty"`
}

// Verify reads a file of copies and holds it against its checkpoint. It returns
// ErrFile.
func Verify(in io.Reader, key note.Verifier) (Read, error) {
	read := Read{Kinds: map[schemas.Type]int{}}
	var tree evidence.Frontier
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, maxLine)
	for lines.Scan() {
		line := lines.Bytes()
		if bytes.HasPrefix(line, []byte(`{"checkpoint":`)) {
			err := read.signed(line, key, &tree)
			if err == nil && lines.Scan() {
				err = fmt.Errorf("%w: more follows the checkpoint", ErrFile)
			}
			return read, err
		}
		var c Copy
		if err := json.Unmarshal(line, &c); err != nil || c.Type == "" {
			return read, fmt.Errorf("%w: line %d is no copy of an event", ErrFile, tree.Size()+1)
		}
		read.Kinds[c.Type]++
		tree.Add(tlog.RecordHash(line))
	}
	if err := lines.Err(); err != nil {
		return read, fmt.Errorf("%w: line %d: %w", ErrFile, tree.Size()+1, err)
	}
	return read, fmt.Errorf("%w: it ends without a checkpoint", ErrFile)
}

func (r *Read) signed(line []byte, key note.Verifier, tree *evidence.Frontier) error {
	var e end
	if err := json.Unmarshal(line, &e); err != nil {
		return fmt.Errorf("%w: %w", ErrFile, err)
	}
	n, err := note.Open([]byte(e.Checkpoint), note.VerifierList(key))
	if err != nil {
		return fmt.Errorf("%w: %s did not sign it: %w", ErrFile, key.Name(), err)
	}
	parts := strings.Split(n.Text, "\n")
	root := tree.Root()
	if len(parts) != 6 || parts[0] != key.Name()+origin {
		return fmt.Errorf("%w: its checkpoint is of %.80q", ErrFile, parts[0])
	}
	if parts[1] != strconv.FormatInt(tree.Size(), 10) || parts[2] != base64.StdEncoding.EncodeToString(root[:]) {
		return fmt.Errorf("%w: %s copies were signed, and these %d are others", ErrFile, parts[1], tree.Size())
	}
	r.Log, r.Copies, r.OtherList = key.Name(), tree.Size(), parts[3] != "list "+ListDigest()
	r.Time, err = time.Parse(time.RFC3339, strings.TrimPrefix(parts[4], "time "))
	if err != nil {
		return fmt.Errorf("%w: time %.40q", ErrFile, parts[4])
	}
	return nil
}
