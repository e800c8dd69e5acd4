package train

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/writbus/writ/retrieval/embed/static"
)

// commonWord is the share of all words at which a word's first weight is half
// (a/(a+p): Arora, Liang and Ma, ICLR 2017).
const commonWord = 1e-3

// Train reads the folder of [Options].Dir and makes a table of it. The same
// files and options give the same bytes, whatever the number of processors;
// processors of another kind may round differently. report, if not nil, is
// called from the same goroutine. With a teacher that gives the same vectors the
// same holds. Errors wrap [ErrOptions], [ErrNoRecords], [ErrTeacher], what reading
// or the teacher gave, or the context's error.
func Train(ctx context.Context, opt Options, report func(Progress)) (Result, error) {
	if report == nil {
		report = func(Progress) {}
	}
	if err := opt.check(); err != nil {
		return Result{}, err
	}
	t, err := readTexts(ctx, opt, report)
	if err != nil {
		return Result{}, err
	}
	v := newVocabulary(t, opt)
	begin := initial
	if opt.Teacher != nil {
		begin = distilled
	}
	rows, err := begin(ctx, t, v, opt, report)
	if err != nil {
		return Result{}, err
	}
	start := slices.Clone(rows)
	steps, loss, err := newContrast(opt, v, rows).train(ctx, t, report)
	if err != nil {
		return Result{}, err
	}
	if opt.Teacher != nil {
		keep(rows, start, opt.Dim, opt.Keep)
	}
	table, err := static.Build(opt.Dim, v.words, opt.Buckets, rows)
	if err != nil {
		return Result{}, fmt.Errorf("train: quantise: %w", err)
	}
	return Result{Table: table, Sources: t.sources, Pairs: len(t.pairs), Words: t.total, Steps: steps, Loss: loss}, nil
}

// initial are the rows before the contrast: word associations, factorised, at
// length one, and frequent rows shortened.
func initial(ctx context.Context, t *texts, v *vocabulary, opt Options, report func(Progress)) ([]float32, error) {
	report(Progress{Stage: "count"})
	m, err := associations(ctx, t, v, opt)
	if err != nil {
		return nil, err
	}
	report(Progress{Stage: "factorise"})
	rows := factorise(m, opt.Dim, opt.Subspace, opt.Iterations, rand.New(rand.NewPCG(opt.Seed, 0)))
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	uses := make([]int, v.rows)
	for word, n := range t.uses {
		for _, row := range v.of(int32(word)) {
			uses[row] += n
		}
	}
	for row, n := range uses {
		values := line(rows, row, opt.Dim)
		if length := norm(values); length > 0 {
			scale(values, float32(commonWord/(commonWord+float64(n)/float64(t.total))/length))
		}
	}
	return rows, nil
}
