package retrieval

import (
	_ "embed" // for the fitted decisions
	"encoding/json"
	"math"
	"strings"

	"github.com/writbus/writ/retrieval/vector"
	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/schemas/language"
)

// MostWhole and MostLines are how many rules an answer gives at most: in full, and as a line each.
const (
	MostWhole = 3
	MostLines = 6
)

// evidence is what the decision about one rule looks at. None of it depends on
// how many other rules were found or what place this one has among them, so that
// a rule that comes or goes moves the chances of those related to it alone.
type evidence [numEvidence]float64

// The parts of the evidence, in the order of EvidenceNames.
const (
	evOne      = iota
	evCosine   // of the nearest view of the rule
	evTop      // of the nearest rule to the text
	evWorth    // how many perfectly matched rare words the rule's score amounts to
	evCoverage // share of the query's words, by idf, that the rule holds
	evSubject  // how much nearer the text is to rules than to talk
	evTitle    // cosine of title and statement
	evTrigger  // cosine of the trigger
	evSymptom  // cosine of the nearest symptom
	evOwn      // the rule is about a language or framework of the project or the text
	evForeign  // it is about another one
	evMethod   // it is about the way of working, not about code
	evNamed    // the text names the rule's language, framework or technology
	evTask     // how much the text reads like a task rather than like talk
	evRelated  // how near the text is to what is related to the rule
	evNames    // how much of its worth the names of technologies amount to, where the text names the rule's
	numEvidence
)

// EvidenceNames name the parts of a hit's evidence, the constant first.
var EvidenceNames = [numEvidence]string{
	"one", "cosine", "top", "worth", "coverage", "subject", "title", "trigger", "symptom",
	"own", "foreign", "method", "named", "task", "related", "names",
}

// Decision is a fitted judgement of whether a rule is right for a text: the odds
// are exp of the weighted sum of its evidence.
type Decision struct {
	Embedder string             `json:"embedder"` // the beginning of the names of those it was fitted on
	Weights  map[string]float64 `json:"weights"`  // by [EvidenceNames]
	Whole    float64            `json:"whole"`    // least chance of a rule that is given in full
	Line     float64            `json:"line"`     // least chance of one that is given as a line
	Any      float64            `json:"any"`      // least chance of the best one for anything to be given
	Even     float64            `json:"even"`     // the same where the text reads as much like talk as like a task
	Doubt    float64            `json:"doubt"`    // how fast its odds rise the less the text reads like a task
	// Task are the weights of what [Placed] tells of a text, of the line between
	// tasks, above 0, and talk.
	Task []float64 `json:"task,omitempty"`

	weights evidence
}

// fittedDecisions come from writ model tune --giving; see DESIGN.md.
//
//go:embed giving.json
var fittedDecisions []byte

// DefaultDecision has the least chances of the fitted decisions, and no weights.
var DefaultDecision = Decision{Whole: 0.6, Line: 0.01, Any: 0.03, Even: 0.36, Doubt: 4}

// plainDecision is that of embedders that nothing was fitted on, whose chances
// are calibrated when the index is built.
var plainDecision = Decision{Whole: injectFrom, Line: titlesFrom, Any: titlesFrom}

// decisionFor is the decision that was fitted on an embedder, and whether there
// is one.
func decisionFor(embedder string) (Decision, bool) {
	for _, d := range fitted {
		if strings.HasPrefix(embedder, d.Embedder) {
			return d, true
		}
	}
	return plainDecision, false
}

var fitted = mustDecisions(fittedDecisions)

// mustDecisions reads the table in the program.
func mustDecisions(raw []byte) []Decision {
	var all []Decision
	if err := json.Unmarshal(raw, &all); err != nil {
		panic("retrieval: giving.json: " + err.Error())
	}
	for i := range all {
		for at, name := range EvidenceNames {
			all[i].weights[at] = all[i].Weights[name]
		}
	}
	return all
}

// chance is the probability that a rule with such evidence is right.
func (d *Decision) chance(e *evidence) float64 {
	var z float64
	for i, x := range e {
		z += float64(d.weights[i] * x)
	}
	return 1 / (1 + math.Exp(-z))
}

// judgedNear is how many of the nearest by meaning are judged beside the best of
// pass one.
const judgedNear = 20

// evidenceOf gathers what the decision about a candidate looks at.
func (s *search) evidenceOf(c *candidate, proof float64) (e evidence) {
	rule := s.ix.docs[c.doc].Rule
	domain := s.ix.kinds[c.doc].domain
	subject := s.ix.kinds[c.doc].subject
	specific := language.Specific(domain)
	named := specific && s.named[domain] || subject != "" && s.speaksOf(subject)
	own := named || specific && s.languages[domain] || subject != "" && s.subjects[subject]
	e = evidence{
		evOne: 1, evCosine: c.cosine, evTop: s.top,
		evWorth: math.Log1p(s.ix.worth(proof)), evCoverage: c.coverage,
		evSubject: s.subject,
		evOwn:     Indicate(own), evForeign: Indicate(specific && !own),
		evMethod: Indicate(domain == methodDomain || rule.NodeType() != schemas.NodeRule),
		evNamed:  Indicate(named), evTask: s.task, evRelated: s.related(c.doc),
	}
	if named {
		e[evNames] = math.Log1p(s.ix.worth(s.names.Score(c.doc)))
	}
	s.viewCosines(c, &e)
	return e
}

// related is how near a text is to what is related to a document: a rule whose
// neighbours are about the matter, too, is likelier to be right. What has no
// relations counts as its own neighbour, so that a rule of one's own is as likely.
func (s *search) related(doc int32) float64 {
	near := s.ix.graph.near[doc]
	if len(near) == 0 {
		near = []int32{doc}
	}
	var sum float64
	for _, other := range near {
		if at := s.places[other]; at > 0 {
			sum += max(0, s.pool[at-1].cosine-relatedFrom)
		}
	}
	return math.Log1p(sum / relatedFrom)
}

// task is how far a text lies on the side of tasks, within bounds.
func (d *Decision) task(f form, v []float32) float64 {
	if len(d.Task) != 1+len(v)+formParts {
		return 0
	}
	var sum float64
	for i, x := range placed(f, v) {
		sum += float64(d.Task[i] * x)
	}
	return min(max(sum, -TaskBound), TaskBound)
}

// Least is the chance that the best rule must have for anything to be given for a
// text that reads so much like a task.
func (d *Decision) Least(task float64) float64 {
	if len(d.Task) == 0 {
		return d.Any
	}
	odds := d.Even / (1 - d.Even) * math.Exp(-float64(d.Doubt*task))
	return max(d.Any, odds/(1+odds))
}

// elsewhere says that a rule is about a technology that the project has not and
// the text does not name.
func (s *search) elsewhere(c *candidate) bool {
	subject := s.ix.kinds[c.doc].subject
	return s.q.Project && subject != "" && c.pinned == 0 && !s.subjects[subject] && !s.speaksOf(subject)
}

// speaksOf says whether the text names a technology, found out once.
func (s *search) speaksOf(subject string) bool {
	if s.whole != nil {
		return s.whole.speaksOf(subject)
	}
	named, known := s.spoken[subject]
	if !known {
		named = language.NamesSubject(subject, s.form.words, s.form.plain)
		if s.spoken == nil {
			s.spoken = map[string]bool{}
		}
		s.spoken[subject] = named
	}
	return named
}

const (
	// relatedFrom is the cosine from which a related document says anything.
	relatedFrom = 0.2
	// TaskBound is as much a task, or as little, as a text can be.
	TaskBound = 1.5
	// methodDomain holds the rules about the way of working.
	methodDomain = "process"
)

// Indicate is 1 of what holds, else 0.
func Indicate(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// viewCosines compares the text with the views of a candidate, each for itself.
func (s *search) viewCosines(c *candidate, e *evidence) {
	m := s.ix.docs[c.doc].meaning
	n := m.vectors()
	if n < firstSymptom+1 {
		return
	}
	e[evTitle], e[evTrigger] = near(s.vector, m.vector(0)), near(s.vector, m.vector(1))
	for view := firstSymptom; view < n-1; view++ {
		e[evSymptom] = max(e[evSymptom], near(s.vector, m.vector(view)))
	}
}

// near is the dot product of two vectors.
func near(a, b []float32) float64 {
	n := min(len(a), len(b))
	return float64(vector.Dot(a[:n], b[:n]))
}

// decide gives the best of both candidate searches, and what the graph adds to
// them, their chance to be right.
func (s *search) decide() {
	s.subjects = foldSet(s.q.Subjects)
	if s.vector == nil || !s.fitted() && !s.q.Explain {
		s.besides()
		return
	}
	s.top, s.task = s.bestCosine(), s.ix.decision.task(s.form, s.vector)
	s.languages, s.named = foldSet(s.q.Languages), language.Named(s.form.words)
	if s.whole != nil {
		s.named = s.whole.named
	}
	s.ix.words.ResolveInto(&s.names, language.Technologies(s.form.plain), 0)
	for i := range s.pool {
		c := &s.pool[i]
		near := c.ranks.Vector > 0 && c.ranks.Vector <= judgedNear
		if !near && (c.ranks.Pass1 == 0 || c.ranks.Pass1 > judgedFitted) && c.pinned == 0 && c.graph == 0 || s.elsewhere(c) {
			continue
		}
		if c.ranks.BM25 == 0 && c.pinned == 0 {
			c.bm25 = s.words.Score(c.doc) // what it has, whether or not it is among the best by words
		}
		var proof float64
		proof, c.coverage = s.words.Judge(c.doc, c.bm25)
		c.judged, c.evidence = true, s.evidenceOf(c, proof)
		if s.fitted() {
			c.probability = s.ix.decision.chance(&c.evidence)
		}
		if c.pinned > 0 {
			c.probability = 1
		}
	}
	if !s.fitted() {
		s.besides()
	}
}

// besides lifts what stands beside a relevant rule in the graph, where no
// decision is fitted to tell how much that says.
func (s *search) besides() {
	for i := range s.pool {
		s.pool[i].probability = max(s.pool[i].probability, besideShare*s.pool[i].lift)
	}
}

// judgedFitted is how many of pass one are judged where the decision is fitted:
// a right rule may be far down in the fused order.
const judgedFitted = 30

// give marks, of the rules in the order of their chances, those that are given
// in full and those that are given as a line, and drops the others. What the
// reader has already takes its place and is named, so that nothing less sure
// fills it.
func (s *search) give(chosen []int) []int {
	d, least := &s.ix.decision, s.least()
	line := d.Line
	if len(chosen) > 0 && s.knows(&s.pool[chosen[0]]) && !s.ix.kinds[s.pool[chosen[0]].doc].always {
		line = max(line, lineAgain)
	}
	free := s.q.Limit > 0 // the query bounds them itself
	whole, lines := 0, 0
	given := chosen[:0]
	for _, at := range chosen {
		c := &s.pool[at]
		switch {
		case s.answer.Probability < least && c.pinned == 0:
			continue
		case s.surely(c) && (whole < MostWhole && (s.firsts < severalFirst || s.had(c)) || free || c.pinned > 0):
			whole++
			c.tier = TierInject
		case c.probability >= line && (lines < MostLines || free):
			lines++
			if s.knows(c) {
				continue
			}
			c.tier = TierTitles
		default:
			continue
		}
		given = append(given, at)
	}
	return given
}

// lineAgain is the least chance of a rule that is given as a line where the reader
// was shown the likeliest one: asked again, little is new and right. An always-on
// rule is named from namedFrom, which costs less than a line.
const (
	lineAgain = 0.25
	namedFrom = 0.15
)

// surely says that a rule is given in full, or named if it is always on.
func (s *search) surely(c *candidate) bool {
	return c.probability >= s.ix.decision.Whole || c.probability >= namedFrom && s.fitted() && s.ix.kinds[c.doc].always
}

// knows says that the reader has a rule, in full or as a line.
func (s *search) knows(c *candidate) bool { return s.had(c) || s.noted[c.doc] }

// had says that the reader has a rule in full already: it is always on, or was
// shown, and the text does not name it.
func (s *search) had(c *candidate) bool {
	return c.pinned == 0 && (s.ix.kinds[c.doc].always || s.shown[c.doc])
}
