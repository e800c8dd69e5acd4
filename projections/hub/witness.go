package hub

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/writbus/writ/projections/audit/evidence"
	"github.com/writbus/writ/schemas"
)

// maxFindings is how many of a member's findings a witness keeps: the newest.
const maxFindings = 32

// witnessed is what a witness remembers between two runs: a file of JSON.
type witnessed struct {
	At   uint64 `json:"at"`             // the last message at the hub that was looked at
	Is   string `json:"is,omitempty"`   // digest of it, so that another one in its place is noticed
	Lost string `json:"lost,omitempty"` // of the hub itself, the last time that it had lost messages

	Members map[string]*observed `json:"members"`
}

// observed is what a witness knows of a member.
type observed struct {
	Key      string                     `json:"key"`
	Epoch    uint64                     `json:"epoch"`
	Former   map[string]uint64          `json:"former,omitempty"` // the newest epoch of each key that signed before
	Why      string                     `json:"why"`
	Streams  map[schemas.Stream]*strand `json:"streams"`
	Marks    []mark                     `json:"marks,omitempty"`
	Findings []Finding                  `json:"findings,omitempty"`
	Found    int                        `json:"found,omitempty"`  // findings there were, those that are kept no more too
	Untold   bool                       `json:"untold,omitempty"` // the member was not told of all this yet
}

// strand is what was cosigned of a stream of the epoch.
type strand struct {
	SeenStream
	Edge   []evidence.Hash      `json:"edge"`
	Last   *evidence.Checkpoint `json:"last,omitempty"` // what Checkpoint says
	Broken bool                 `json:"broken,omitempty"`
}

// mark is what was cosigned and has to be there again in an epoch: the first copies,
// and the records under the log's own tree. Of an epoch that is read anew the copies
// decide; of a later one the log's tree does, since another Writ may draw other copies.
type mark struct {
	In, Of  uint64 // epochs
	Stream  schemas.Stream
	Copies  int64
	Root    evidence.Hash
	Last    *evidence.Checkpoint `json:",omitempty"`
	Differs bool                 `json:",omitempty"` // the copies do
}

// cosigner is the key of a witness.
type cosigner struct {
	key    note.Signer
	public string
	now    func() time.Time
}

func (k cosigner) cosign(signed string) (string, error) {
	both, err := evidence.Cosign([]byte(signed), k.key, k.public, k.now())
	return string(both), err
}

// find notes a finding, once.
func (m *observed) find(kind string, at uint64, s schemas.Stream, format string, args ...any) {
	f := Finding{Kind: kind, Epoch: m.Epoch, Stream: s, At: at, What: fmt.Sprintf(format, args...)}
	if slices.ContainsFunc(m.Findings, func(had Finding) bool {
		return had.Epoch == f.Epoch && had.Stream == s && had.Kind == kind && had.What == f.What
	}) {
		return
	}
	m.Found++
	m.Findings = append(m.Findings, f)
	m.Findings = m.Findings[max(0, len(m.Findings)-maxFindings):]
}

// marked are what has to be there in an epoch that follows, or is read anew.
func (m *observed) marked(in uint64) (all []mark) {
	for s, c := range m.Streams {
		tree, _ := evidence.NewFrontier(c.Copies, c.Edge)
		all = append(all, mark{In: in, Of: m.Epoch, Stream: s, Copies: c.Copies, Root: tree.Root(), Last: c.Last})
	}
	return all
}

// look takes a message of the stream of copies, and cosigns what extends what it
// cosigned before. It returns the member whose checkpoint it cosigned, if it did.
func (k cosigner) look(w *witnessed, at uint64, subject string, body []byte) (member string, cosigned *strand) {
	tokens := strings.Split(subject, ".")
	if len(tokens) < 4 {
		return "", nil // nobody may bring such
	}
	m := w.Members[tokens[2]]
	if m == nil {
		m = &observed{Streams: map[schemas.Stream]*strand{}}
		w.Members[tokens[2]] = m
	}
	m.Untold = true
	if len(tokens) == 4 && tokens[3] == "begin" {
		m.begin(at, tokens[2], body)
		return tokens[2], nil
	}
	epoch, err := strconv.ParseUint(tokens[3], 10, 64)
	s := schemas.Stream(strings.Join(tokens[4:], "."))
	switch {
	case err != nil || !slices.Contains(schemas.Streams(), s):
		m.find("", at, "", "something was brought to %.80s, where no Writ brings anything", subject)
	case epoch != m.Epoch:
		m.find("", at, s, "something was brought as of epoch %d, which is not the newest", epoch)
	default:
		return tokens[2], k.brought(m, at, s, body)
	}
	return tokens[2], nil
}

func (m *observed) begin(at uint64, member string, body []byte) {
	var b beginning
	err := openLine(body, &b, &b.Key)
	switch {
	case err == nil && b.Member != member:
		err = fmt.Errorf("it names %.60q", b.Member)
	case err == nil && b.Key == m.Key && b.Epoch <= m.Epoch, err == nil && b.Epoch <= m.Former[b.Key]:
		err = fmt.Errorf("it says %d, and the newest is %d", b.Epoch, max(m.Former[b.Key], m.Epoch))
	}
	if err != nil {
		m.find("", at, "", "the beginning of an epoch does not count: %v", err)
		return
	}
	m.Marks = slices.DeleteFunc(m.Marks, func(one mark) bool { return one.In < b.Epoch && one.Of < one.In })
	for i := range m.Marks {
		m.Marks[i].In = max(m.Marks[i].In, b.Epoch) // the hub lost the epoch that it was to be in
	}
	m.Marks = append(m.Marks, m.marked(b.Epoch)...)
	was, ended := m.Key, m.Epoch
	m.Key, m.Epoch, m.Why, m.Streams = b.Key, b.Epoch, b.Why, map[schemas.Stream]*strand{}
	if was != "" && was != b.Key {
		m.find("", at, "", "another key signs from here on: %s, and before %s. Is it another log, or somebody else?", b.Key, was)
		if m.Marks = nil; m.Former == nil || len(m.Former) >= maxFindings {
			m.Former = map[string]uint64{}
		}
		m.Former[was] = ended // no other key's numbers keep it from going on
	}
}

// brought looks at a batch, and returns the stream if a checkpoint was cosigned.
func (k cosigner) brought(m *observed, at uint64, s schemas.Stream, body []byte) *strand {
	c := m.Streams[s]
	if c == nil {
		c = &strand{}
		m.Streams[s] = c
	}
	if c.Broken {
		return nil // it was told, and nothing more of it is cosigned in this epoch
	}
	grown, err := k.extend(m, at, s, *c, body)
	if err != nil {
		c.Broken = true
		m.find(schemas.TeamFork, at, s, "%v. Nothing more of it is cosigned in this epoch", err)
		return nil
	}
	checked := grown.Checkpoint != c.Checkpoint
	*c = grown
	if checked {
		return c
	}
	return nil
}

// extend is a stream with a batch. An error says in what the batch does not extend it.
func (k cosigner) extend(m *observed, at uint64, s schemas.Stream, c strand, body []byte) (strand, error) {
	key, err := evidence.ParseKey(m.Key)
	if err != nil {
		return c, err
	}
	b, err := decodeBatch(body)
	if err != nil {
		return c, err
	}
	tree, ok := evidence.NewFrontier(c.Copies, c.Edge)
	if !ok || b.From != c.Through || b.Through < b.From {
		return c, fmt.Errorf("it brings records %d to %d behind %d", b.From+1, b.Through, c.Through)
	}
	h, grown, err := b.follows(tree, key, m.Epoch, s)
	if err != nil {
		return c, err
	}
	if err := m.compare(at, s, c.Last != nil, tree, b.lines); err != nil {
		return c, err
	}
	if b.Checkpoint != "" {
		if err := k.checkpoint(m, at, s, &c, b, key); err != nil {
			return c, err
		}
	}
	c.Copies, c.Edge, c.Through = h.Size, grown.Edge(), h.Through
	c.Head, err = k.cosign(b.Head)
	return c, err
}

// compare holds copies against what was cosigned before, where a tree grows past it.
func (m *observed) compare(at uint64, s schemas.Stream, checked bool, before *evidence.Frontier, lines [][]byte) error {
	tree := before.Clone()
	for _, line := range lines {
		tree.Add(tlog.RecordHash(line))
		for i := range m.Marks {
			was := &m.Marks[i]
			if was.In != m.Epoch || was.Stream != s || was.Copies != tree.Size() || was.Root == tree.Root() {
				continue
			}
			if was.Of == m.Epoch {
				return fmt.Errorf("its first %d copies are not those that were cosigned", was.Copies)
			}
			if was.Differs = true; checked {
				m.rolled(at, *was)
			}
		}
	}
	return nil
}

// rolled notes that a log is not the one of an earlier epoch, grown.
func (m *observed) rolled(at uint64, was mark) {
	m.find(schemas.TeamRollback, at, was.Stream, "it does not go on from epoch %d: the log lacks records that were there, or has others in their place (it says: %s)", was.Of, m.Why)
}

// resume holds the first checkpoint of an epoch against the last of the one before.
func (m *observed) resume(at uint64, p evidence.Checkpoint, b batch) {
	m.Marks = slices.DeleteFunc(m.Marks, func(was mark) bool {
		if was.In != m.Epoch || was.Stream != p.Stream || was.Of == m.Epoch {
			return false
		}
		last := was.Last
		switch {
		case last == nil || last.Size == 0:
			last = &evidence.Checkpoint{} // the copies decide
		case p.Last() < last.Last():
			m.find(schemas.TeamRollback, at, p.Stream, "the log had records up to %d in epoch %d, and ends at %d (it says: %s)", last.Last(), was.Of, p.Last(), m.Why)
			return true
		case p.Size == last.Size && p.Root == last.Root:
			return true
		}
		proven := b.Before > 0 && b.Before == last.Size && p.First == last.First
		if proven && tlog.CheckTree(b.Grown, p.Size, p.Root, last.Size, last.Root) == nil {
			return true
		}
		if proven || was.Differs || p.Size == last.Size {
			m.rolled(at, was)
			return true
		}
		return false
	})
}

// checkpoint cosigns one of the log's own tree, if it extends the one before it.
func (k cosigner) checkpoint(m *observed, at uint64, s schemas.Stream, c *strand, b batch, key note.Verifier) error {
	p, err := evidence.Open([]byte(b.Checkpoint), key)
	if err != nil {
		return err
	}
	was := c.Last
	switch {
	case p.Stream != s:
		return fmt.Errorf("a checkpoint of %s was brought as of it", p.Stream)
	case was != nil && (p.Size < was.Size || p.First != was.First):
		return fmt.Errorf("a checkpoint over %d records from %d came after one over %d from %d", p.Size, p.First, was.Size, was.First)
	case was != nil && was.Size > 0:
		if err := tlog.CheckTree(b.Grown, p.Size, p.Root, was.Size, was.Root); err != nil {
			return fmt.Errorf("the checkpoint over %d records does not extend the one over %d: a record under it was changed", p.Size, was.Size)
		}
	}
	if was == nil {
		m.resume(at, p, b)
	}
	if c.Checkpoint, err = k.cosign(b.Checkpoint); err != nil {
		return err
	}
	c.Last, c.Records = &p, p.Size
	return nil
}

// seen is what is said of a member.
func (k cosigner) seen(member string, m *observed, lost string) Seen {
	s := Seen{Member: member, Key: k.public, Time: k.now().UTC().Truncate(time.Second), Epoch: m.Epoch, Why: m.Why, Streams: map[schemas.Stream]SeenStream{}, Findings: m.Findings}
	s.Log, _, _ = strings.Cut(m.Key, "+")
	for stream, c := range m.Streams {
		s.Streams[stream] = c.SeenStream
	}
	for _, was := range m.Marks {
		if was.In == m.Epoch && was.Last != nil {
			one := s.Streams[was.Stream]
			one.Former = max(one.Former, was.Last.Size)
			s.Streams[was.Stream] = one
		}
	}
	if lost != "" {
		s.Findings = append(slices.Clone(m.Findings), Finding{Epoch: m.Epoch, What: lost})
	}
	return s
}
