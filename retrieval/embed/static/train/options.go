package train

import (
	"errors"
	"fmt"

	"github.com/writbus/writ/retrieval/embed/static"
)

// ErrOptions is returned by [Train] for options that make no sense.
var ErrOptions = errors.New("train: these options do not make a table")

// maxDim is the most dimensions that can be trained.
const maxDim = 512

// Options say what to train on and how. [Defaults] has the shipped values.
type Options struct {
	Dir  string // folder of *.jsonl.gz files; see [Record]
	Seed uint64

	Words   int // rows for the words that stand in most texts
	Buckets int // rows for hashed n-grams of all other words
	Dim     int

	Window       int     // words to each side that count as context
	Contexts     int     // the most frequent words that count as context
	ContextPower float64 // smooths context frequencies (Levy, Goldberg and Dagan, TACL 2015)
	Subspace     int     // extra dimensions of the randomised SVD (Halko, Martinsson and Tropp, SIAM Review 2011)
	Iterations   int     // its power iterations

	Epochs       int
	Batch        int     // pairs a step; every other pair of it is a negative
	Block        int     // pairs of one source in a row, so that negatives are near
	Temperature  float64 // of the softmax
	Dropout      float64 // share of tokens left out at each step
	Spelling     float64 // share of known words replaced by their n-grams at each step
	Excerpts     float64 // share of pairs replaced by an excerpt of the body and the rest
	LearningRate float64 // of Adam at its peak
	MaxWords     int     // words of a body that are read

	Teacher     Teacher // to start from, instead of the words' associations; nil for those
	Lessons     int     // training texts that the teacher encodes
	LessonWords int     // words of each
	Ridge       float64 // penalty of long rows in the fit to the teacher
	StartLength float64 // of the fitted rows, root mean square
	Keep        float64 // share of the fitted rows in the final ones
}

// Defaults are the options the shipped table was trained with, but for Dir and
// Teacher.
func Defaults() Options {
	return Options{
		Seed: 1, Words: 10_000, Buckets: 8192, Dim: 128,
		Window: 6, Contexts: 4096, ContextPower: 0.75, Subspace: 16, Iterations: 2,
		Epochs: 5, Batch: 1024, Block: 1024, Temperature: 0.05, Dropout: 0.1, Spelling: 0.05, Excerpts: 0.3,
		LearningRate: 0.01, MaxWords: 256,
		Lessons: 30_000, LessonWords: 20, Ridge: 0.1, StartLength: 0.7, Keep: 0.3,
	}
}

func (o Options) check() error {
	switch {
	case o.Words < 1 || o.Buckets < 1 || o.Dim < 1 || o.Dim > maxDim:
		return fmt.Errorf("%w: %d words, %d buckets, %d dimensions", ErrOptions, o.Words, o.Buckets, o.Dim)
	case o.Window < 1 || o.Contexts < 1 || o.ContextPower < 0 || o.Subspace < 0 || o.Iterations < 0:
		return fmt.Errorf("%w: window %d, contexts %d, power %g, subspace %d, iterations %d",
			ErrOptions, o.Window, o.Contexts, o.ContextPower, o.Subspace, o.Iterations)
	case o.Epochs < 0 || o.Batch < 2 || o.Block < 1 || o.MaxWords < 1:
		return fmt.Errorf("%w: %d epochs, batch %d, block %d, %d words a body", ErrOptions, o.Epochs, o.Batch, o.Block, o.MaxWords)
	case !(o.Temperature > 0) || !(o.LearningRate > 0):
		return fmt.Errorf("%w: temperature %g, learning rate %g", ErrOptions, o.Temperature, o.LearningRate)
	case !share(o.Dropout) || !share(o.Spelling) || !share(o.Excerpts):
		return fmt.Errorf("%w: dropout %g, spelling %g, excerpts %g", ErrOptions, o.Dropout, o.Spelling, o.Excerpts)
	case o.Teacher != nil && (o.Lessons < 1 || o.LessonWords < 1 || !(o.Ridge > 0) || !(o.StartLength > 0) || !share(o.Keep)):
		return fmt.Errorf("%w: %d lessons of %d words, ridge %g, start at length %g, keep %g",
			ErrOptions, o.Lessons, o.LessonWords, o.Ridge, o.StartLength, o.Keep)
	}
	return nil
}

func share(x float64) bool { return x >= 0 && x < 1 }

// Progress is where a training stands.
type Progress struct {
	Stage       string // "read", "count" and "factorise" or "encode" and "fit", "contrast"
	Done, Total int    // of the stage's own unit; Total 0 is unknown
	Loss        float64
}

// Source is what one source gave to the training.
type Source struct {
	Name string
	Rows int
}

// Result is a trained table and what it was made from.
type Result struct {
	Table   *static.Table
	Sources []Source // by name
	Pairs   int
	Words   int // words read, with repetitions
	Steps   int
	Loss    float64 // mean of the last epoch, in nats
}
