package evidence

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/writbus/writ/schemas"
)

// Report is what a check of a stream found.
type Report struct {
	Stream  schemas.Stream `json:"stream"`
	Records uint64         `json:"records"` // read from the log
	First   uint64         `json:"first,omitempty"`
	Last    uint64         `json:"last,omitempty"`
	// Checkpoints that hold, of all that were kept.
	Checkpoints int `json:"checkpoints"`
	Kept        int `json:"checkpoints_kept"`
	// Signed is the last sequence under a checkpoint that holds, and Until when
	// that was signed.
	Signed uint64    `json:"signed,omitempty"`
	Since  time.Time `json:"since,omitzero"` // of the first of those checkpoints
	Until  time.Time `json:"signed_at,omitzero"`
	// Unsigned counts the records after the newest checkpoint: nothing speaks
	// for or against them.
	Unsigned uint64    `json:"unsigned,omitempty"`
	Findings []Finding `json:"findings,omitempty"`
	// Lost are the records that were damaged and given up, as the log itself says:
	// they are told each time, and are no change where what stands for them is what
	// was signed.
	Lost []Finding `json:"lost,omitempty"`
	// Forgotten counts the records of which the texts were erased for a person, as
	// the log itself says: what was signed of them is still what stands in the tree,
	// and what is left of them is what the log says.
	Forgotten uint64 `json:"forgotten,omitempty"`
	// Problems are what is wrong with the evidence, or with more records than
	// one where it cannot tell which.
	Problems []string `json:"problems,omitempty"`
}

// OK says that the stream is the one that was signed.
func (r Report) OK() bool { return len(r.Findings) == 0 && len(r.Problems) == 0 }

// Check compares one stream, record by record, with the checkpoints and hashes
// that were kept of it.
type Check struct {
	report      Report
	checkpoints []Checkpoint // by size; those not reached yet
	kept        *LeafReader  // nil where there are no hashes, or no more

	log      Frontier  // over what the log has
	signed   *Frontier // over the kept hashes, from where they differ; nil before
	listed   bool      // there are kept hashes
	was, are []Leaf    // kept and found, from where they differ
	broken   bool      // a checkpoint did not hold
	began    bool
	lastKept uint64
}

// NewCheck prepares a check. The checkpoints' signatures are the caller's to
// check, their order is any. kept reads the hashes that were kept, nil where
// there are none: then a change is found, but not which record it was.
func NewCheck(s schemas.Stream, checkpoints []Checkpoint, kept *LeafReader) *Check {
	c := &Check{report: Report{Stream: s, Kept: len(checkpoints)}, checkpoints: slices.Clone(checkpoints), kept: kept, listed: kept != nil}
	slices.SortStableFunc(c.checkpoints, func(a, b Checkpoint) int {
		return cmp.Or(cmp.Compare(a.Size, b.Size), a.Time.Compare(b.Time))
	})
	c.reach()
	return c
}

// Record takes the next record of the log with its leaf hash, in order.
// Sequences may be missing.
func (c *Check) Record(r schemas.Record, hash Hash) {
	c.report.Records++
	c.leaf(Leaf{Seq: r.Seq, Hash: hash}, r.ID)
}

// Forgotten takes the next record, of which the texts were erased, with the hash of
// the leaf that it had before.
func (c *Check) Forgotten(r schemas.Record, was Hash) {
	c.report.Forgotten++
	c.Record(r, was)
}

// Lose takes what stands for the next record, which the log lost and says so.
func (c *Check) Lose(l Leaf) {
	c.report.Lost = append(c.report.Lost, Finding{Change: Lost, Seq: l.Seq, ID: l.ID})
	c.leaf(l, func() string { return l.ID })
}

// leaf takes the next leaf. Its id costs something, and is asked for where it is
// needed.
func (c *Check) leaf(l Leaf, id func() string) {
	if !c.began {
		c.began, c.report.First = true, l.Seq
		if n := len(c.checkpoints); n > 0 && c.checkpoints[n-1].Size > 0 && c.checkpoints[n-1].First < l.Seq && !c.listed {
			c.problem("records %d to %d are missing", c.checkpoints[n-1].First, l.Seq-1)
		}
	} else if l.Seq != c.report.Last+1 && !c.listed {
		c.problem("records %d to %d are missing", c.report.Last+1, l.Seq-1)
	}
	c.report.Last = l.Seq
	if c.signed == nil {
		kept, more := c.pull()
		if more && (kept.Seq != l.Seq || kept.Hash != l.Hash) {
			c.signed = c.log.Clone()
			c.differ(kept)
		}
	}
	if c.signed != nil {
		l.ID = id()
		c.are = append(c.are, l)
		return
	}
	c.log.Add(l.Hash)
	c.reach()
}

// pull takes the next kept hash.
func (c *Check) pull() (Leaf, bool) {
	if c.kept == nil {
		return Leaf{}, false
	}
	l, err := c.kept.Next()
	if err != nil {
		if !errors.Is(err, io.EOF) {
			c.problem("the kept hashes cannot be read further: %v", err)
		}
		c.kept = nil
		return Leaf{}, false
	}
	c.lastKept = l.Seq
	return l, true
}

// differ takes a kept hash that the log does not have where it was.
func (c *Check) differ(l Leaf) {
	c.was = append(c.was, l)
	c.signed.Add(l.Hash)
	c.reach()
}

// reach checks the checkpoints of the size that is reached: against the kept
// hashes once the log differs from them.
func (c *Check) reach() {
	over := &c.log
	if c.signed != nil {
		over = c.signed
	}
	for len(c.checkpoints) > 0 && c.checkpoints[0].Size <= over.Size() {
		at := c.checkpoints[0]
		c.checkpoints = c.checkpoints[1:]
		if at.Size < over.Size() {
			continue // of a size that was passed before it was looked at; cannot be
		}
		if over.Root() != at.Root {
			if !c.broken {
				c.mismatch(at)
			}
			c.broken = true
			continue
		}
		if c.signed == nil && !c.broken {
			if c.report.Checkpoints++; c.report.Since.IsZero() {
				c.report.Since = at.Time
			}
			if at.Size > 0 {
				c.report.Signed, c.report.Until = at.Last(), at.Time
			}
		}
	}
}

// mismatch says that a checkpoint does not fit.
func (c *Check) mismatch(at Checkpoint) {
	from := max(c.report.Signed+1, at.First)
	if c.listed {
		c.problem("the kept hashes of records %d to %d were changed too: they are not those signed %s, and what is named may be wrong",
			from, at.Last(), at.Time.Format(time.RFC3339))
		return
	}
	c.problem("a record among %d to %d was changed, removed or inserted since %s; there are no kept hashes to tell which",
		from, at.Last(), at.Time.Format(time.RFC3339))
}

func (c *Check) problem(format string, args ...any) {
	c.report.Problems = append(c.report.Problems, fmt.Sprintf(format, args...))
}

// Finish ends the check and returns what it found.
func (c *Check) Finish() Report {
	for {
		l, more := c.pull()
		if !more {
			break
		}
		if c.signed == nil {
			c.signed = c.log.Clone()
		}
		c.differ(l)
	}
	if c.signed != nil {
		c.report.Findings = Compare(c.was, c.are)
		c.trailing()
	} else if c.report.Last > 0 {
		c.report.Unsigned = c.report.Last - max(c.report.Signed, c.report.First-1)
	}
	if len(c.checkpoints) > 0 {
		newest := c.checkpoints[len(c.checkpoints)-1]
		when := newest.Time.Format(time.RFC3339)
		if c.signed == nil {
			c.problem("the log ends after %d records, and a checkpoint of %s covers %d", c.log.Size(), when, newest.Size)
		} else {
			c.problem("the kept hashes end at record %d, and a checkpoint of %s covers up to %d: what was changed behind cannot be named", c.lastKept, when, newest.Last())
		}
	}
	return c.report
}

// trailing takes the records behind the last one that was signed out of the
// findings: they came after the newest checkpoint.
func (c *Check) trailing() {
	inserted := map[uint64]bool{}
	for _, f := range c.report.Findings {
		if f.Change == Inserted {
			inserted[f.Seq] = true
		}
	}
	for i := len(c.are) - 1; i >= 0 && inserted[c.are[i].Seq] && c.are[i].Seq > c.lastKept; i-- {
		delete(inserted, c.are[i].Seq)
		c.report.Unsigned++
	}
	c.report.Findings = slices.DeleteFunc(c.report.Findings, func(f Finding) bool {
		return f.Change == Inserted && !inserted[f.Seq]
	})
}
