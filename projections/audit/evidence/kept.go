package evidence

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Checkpoints and hashes are kept in files that only grow, two for each stream,
// made of lines so that they can be read, searched and kept in a repository:
//
//	WRIT_SESSIONS.checkpoints   signed checkpoints, an empty line after each
//	WRIT_SESSIONS.leaves        "sequence hash id" of every record under them
//
// Ends of their names. Persisted; never change.
const (
	CheckpointsFile = ".checkpoints"
	LeavesFile      = ".leaves"
	KeyFile         = "key.pub" // the public key, beside them
)

// signatureLine begins a line of a signature (C2SP signed-note).
const signatureLine = "— "

// Kept is a signed checkpoint of a file, not yet checked.
type Kept struct {
	Signed []byte
	Line   int // where it begins, from 1
}

// SplitCheckpoints cuts the text of a file into its signed checkpoints. What
// follows the last of them is rest: a checkpoint that is not whole, or text
// that is none.
func SplitCheckpoints(text []byte) (all []Kept, rest string) {
	start, line, began := 0, 1, 1
	signed := false
	for at := 0; at < len(text); line++ {
		end := at
		for end < len(text) && text[end] != '\n' {
			end++
		}
		if end == len(text) {
			break // a line without an end was not written whole
		}
		switch {
		case end > at && strings.HasPrefix(string(text[at:end]), signatureLine):
			signed = true
		case signed && end == at:
			all = append(all, Kept{Signed: text[start:at:at], Line: began})
			start, began, signed = end+1, line+1, false
		}
		at = end + 1
	}
	return all, string(text[start:])
}

// Leaf is one record in the list of hashes.
type Leaf struct {
	Seq  uint64
	Hash Hash
	ID   string // of the record's main event, "" for a record without one
}

// AppendLeafLine appends a leaf as the file keeps it. An id that is not plain
// text is quoted.
func AppendLeafLine(to []byte, l Leaf) []byte {
	to = strconv.AppendUint(to, l.Seq, 10)
	to = append(to, ' ')
	to = base64.StdEncoding.AppendEncode(to, l.Hash[:])
	to = append(to, ' ')
	if plain(l.ID) {
		to = append(to, l.ID...)
	} else {
		to = strconv.AppendQuote(to, l.ID)
	}
	return append(to, '\n')
}

func plain(id string) bool {
	for i := range len(id) {
		if id[i] <= ' ' || id[i] > '~' || id[i] == '"' {
			return false
		}
	}
	return id != ""
}

// LeafReader reads the leaves of a file, one after the other.
type LeafReader struct {
	lines *bufio.Scanner
	n     int
}

// NewLeafReader reads from r, which stays the caller's to close.
func NewLeafReader(r io.Reader) *LeafReader {
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, leafBuffer), leafBuffer)
	return &LeafReader{lines: lines}
}

// leafBuffer is what is read at once, and the longest line.
const leafBuffer = 256 << 10

// Next returns the next leaf, or io.EOF. Any other error says in which line.
func (l *LeafReader) Next() (Leaf, error) {
	l.n++
	if !l.lines.Scan() {
		if err := l.lines.Err(); err != nil {
			return Leaf{}, fmt.Errorf("line %d: %w", l.n, err)
		}
		return Leaf{}, io.EOF
	}
	leaf, err := ParseLeafLine(l.lines.Bytes())
	if err != nil {
		return Leaf{}, fmt.Errorf("line %d: %w", l.n, err)
	}
	return leaf, nil
}

// ParseLeafLine reads a line, without its end. It returns ErrCheckpoint for
// one that AppendLeafLine cannot have written.
func ParseLeafLine(line []byte) (l Leaf, err error) {
	seq, rest, one := bytes.Cut(line, []byte{' '})
	hash, id, two := bytes.Cut(rest, []byte{' '})
	if !one || !two {
		return l, fmt.Errorf("%w: a line of hashes is %.80q", ErrCheckpoint, line)
	}
	if l.Seq, err = strconv.ParseUint(string(seq), 10, 64); err != nil {
		return l, fmt.Errorf("%w: sequence %.40q", ErrCheckpoint, seq)
	}
	if len(hash) != hashText {
		return l, fmt.Errorf("%w: hash %.60q", ErrCheckpoint, hash)
	}
	var raw [hashText]byte // a little more than the hash
	if n, err := strictBase64.Decode(raw[:], hash); err != nil || n != len(l.Hash) {
		return l, fmt.Errorf("%w: hash %.60q", ErrCheckpoint, hash)
	}
	l.Hash, l.ID = Hash(raw[:len(l.Hash)]), string(id)
	if !plain(l.ID) {
		if l.ID, err = strconv.Unquote(l.ID); err != nil {
			return l, fmt.Errorf("%w: id %.60q", ErrCheckpoint, id)
		}
	}
	return l, nil
}

// hashText is the length of a hash in base64.
const hashText = 44

var strictBase64 = base64.StdEncoding.Strict()
