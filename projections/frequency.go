package projections

import (
	"encoding/binary"
	"iter"

	"github.com/writbus/writ/schemas"
)

// The graduation rule of the corpus: from this many outcomes on, the share of
// positive ones decides.
const (
	// GraduationOutcomes is how many outcomes must count.
	GraduationOutcomes = 50
	// SessionOutcomes is how many outcomes of one rule and session count, so
	// that a noisy session graduates nothing.
	SessionOutcomes = 5

	// graduationNumerator / graduationDenominator is the least positive share,
	// as a fraction: at the boundary no rounding decides.
	graduationNumerator, graduationDenominator = 3, 4
)

// Graduation is what the outcomes of a rule make of its confidence.
type Graduation struct {
	Graduated bool    `json:"graduated"` // the positive share is the weight
	Flagged   bool    `json:"flagged"`   // enough outcomes, too few positive: to be reviewed
	Weight    float64 `json:"weight"`    // 0..1
}

// StaticWeight is the weight of an authored confidence. One that is unknown or
// missing claims no more than speculative does.
func StaticWeight(confidence string) float64 {
	switch confidence {
	case "battle-tested":
		return 1.0
	case "production-validated":
		return 0.8
	case "peer-reviewed":
		return 0.6
	default:
		return 0.3
	}
}

// Graduate applies the rule to the outcomes that count. static is the rule's
// own confidence, whose weight stays until the outcomes replace it, also while
// the rule is flagged.
func Graduate(positive, negative int, static string) Graduation {
	n := positive + negative
	switch {
	case n < GraduationOutcomes:
		return Graduation{Weight: StaticWeight(static)}
	case positive*graduationDenominator < n*graduationNumerator:
		return Graduation{Flagged: true, Weight: StaticWeight(static)}
	default:
		return Graduation{Graduated: true, Weight: float64(positive) / float64(n)}
	}
}

// EvidenceImported is that of outcomes that an imported corpus had counted.
// Persisted; never change.
const EvidenceImported = "imported"

// Outcomes are the outcomes of one rule.
type Outcomes struct {
	Rule     string `json:"rule"`
	Positive int    `json:"positive"` // that count
	Negative int    `json:"negative"` // that count
	Ignored  int    `json:"ignored"`  // beyond a session's share
	// What an imported corpus had counted is among the first two: this much of it.
	ImportedPositive int    `json:"imported_positive,omitempty"`
	ImportedNegative int    `json:"imported_negative,omitempty"`
	Last             uint64 `json:"last"` // sequence of the last one
}

// Graduate applies the rule to these outcomes.
func (o Outcomes) Graduate(static string) Graduation {
	return Graduate(o.Positive, o.Negative, static)
}

// Frequency counts the outcomes of every rule. A query helper takes a Reader
// of the view "frequency".
//
//	t/<rule>            Outcomes
//	s/<rule>/<session>  how many of this session count, a varint
type Frequency struct {
	onChange func(FrequencyChange) error
}

// FrequencyChange tells which outcomes are new.
type FrequencyChange struct {
	// Rebuilt says that Outcomes holds every rule that has any, and that a
	// rule which is not among them has none.
	Rebuilt  bool
	Outcomes []Outcomes // ordered by encoded rule id
}

// NewFrequency returns the view. onChange, if not nil, hears of every change;
// reads that wait for the position that brought it wait for onChange too.
func NewFrequency(onChange func(FrequencyChange) error) *Frequency {
	return &Frequency{onChange: onChange}
}

// Name implements Projector.
func (*Frequency) Name() string { return "frequency" }

// Version implements Projector.
func (*Frequency) Version() int { return 2 }

// Types implements Projector.
func (*Frequency) Types() []schemas.Type {
	return []schemas.Type{schemas.OutcomeRecorded{}.EventType()}
}

// Apply implements Projector.
func (*Frequency) Apply(v View, e schemas.Event) error {
	p, is := e.Data.(schemas.OutcomeRecorded)
	if !is {
		return nil
	}
	rule := e.Aggregate.ID
	counts, err := countSession(v, rule, p.Session)
	if err != nil {
		return err
	}
	total, _, err := getDocument[Outcomes](v, idKey('t', rule))
	if err != nil {
		return err
	}
	total.Rule, total.Last = rule, e.Position.Seq
	n, imported := max(p.Count, 1), 0
	if p.Evidence == EvidenceImported {
		imported = n
	}
	switch {
	case !counts:
		total.Ignored += n
	case p.Positive:
		total.Positive += n
		total.ImportedPositive += imported
	default:
		total.Negative += n
		total.ImportedNegative += imported
	}
	return setDocument(v, idKey('t', rule), total)
}

// countSession takes one of a session's shares, and reports whether one was
// left. An outcome without a session has its own.
func countSession(v View, rule, session string) (bool, error) {
	if session == "" {
		return true, nil
	}
	key := idKey('s', rule, session)
	value, _, err := v.Get(key)
	if err != nil {
		return false, err
	}
	n, _ := binary.Uvarint(value)
	if n >= SessionOutcomes {
		return false, nil
	}
	return true, v.Set(key, binary.AppendUvarint(nil, n+1))
}

// Committed implements the hook of the same name.
func (f *Frequency) Committed(c Commit) error {
	if f.onChange == nil {
		return nil
	}
	change := FrequencyChange{Rebuilt: c.Rebuilt}
	if c.Rebuilt {
		for o, err := range f.All(c.Reader) {
			if err != nil {
				return err
			}
			change.Outcomes = append(change.Outcomes, o)
		}
		return f.onChange(change)
	}
	for _, key := range c.Changed {
		if key[0] != 't' {
			continue
		}
		o, _, err := getDocument[Outcomes](c.Reader, []byte(key))
		if err != nil {
			return err
		}
		change.Outcomes = append(change.Outcomes, o)
	}
	return f.onChange(change)
}

// Session returns how many outcomes of a rule count for a session.
func (*Frequency) Session(r Reader, rule, session string) (int, error) {
	value, _, err := r.Get(idKey('s', rule, session))
	n, _ := binary.Uvarint(value)
	return int(n), err
}

// Rule returns the outcomes of one rule, none for a rule that has none.
func (*Frequency) Rule(r Reader, id string) (Outcomes, error) {
	o, _, err := getDocument[Outcomes](r, idKey('t', id))
	o.Rule = id
	return o, err
}

// All returns the outcomes of every rule that has any, ordered by encoded id.
func (*Frequency) All(r Reader) iter.Seq2[Outcomes, error] {
	return documents[Outcomes](r, idPrefix('t'))
}
