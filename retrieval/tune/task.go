package tune

import (
	"math"
	"strings"

	"github.com/writbus/writ/retrieval"
	"github.com/writbus/writ/retrieval/vector"
)

// taskRidge is the precision of the belief that a dimension tells nothing.
const taskRidge = 3

// tasksAndTalk fits the line that tells tasks from talk, by weighted least
// squares on what [retrieval.Placed] tells of them: tasks are the queries that have
// a right rule, talk are those in no group of tasks and the background; a task with
// nothing right is neither. It returns the line, and of each query its place by a
// line that was fitted without the query's group.
func tasksAndTalk(c Config) (line, beyond []float64, err error) {
	var texts []taskText
	add := func(group, text string, task bool, weight float64) {
		if err != nil {
			return
		}
		var v []float32
		text = retrieval.Order(text)
		if v, err = vector.OfQuery(c.Options.Embedder, text); err == nil {
			texts = append(texts, taskText{group: group, placed: retrieval.Placed(text, v), task: task, weight: weight})
		}
	}
	for _, q := range c.Truth {
		right := len(q.Relevant) > 0
		add(q.Group, q.Query, right, retrieval.Indicate(right || !strings.HasPrefix(q.Group, taskGroup)))
	}
	for _, text := range retrieval.BackgroundTexts() {
		add("", text, false, 1)
	}
	if err != nil {
		return nil, nil, err
	}
	balance(texts)
	all := sumsOf(texts, func(string) bool { return true })
	line = all.solve()
	byGroup := map[string][]float64{}
	for i, q := range c.Truth {
		fitted, done := byGroup[q.Group]
		if !done {
			fitted = all.without(sumsOf(texts, func(group string) bool { return group == q.Group })).solve()
			byGroup[q.Group] = fitted
		}
		beyond = append(beyond, place(fitted, texts[i].placed))
	}
	for i := range line {
		line[i] = math.Round(line[i]*1000) / 1000
	}
	return line, beyond, nil
}

type taskText struct {
	group  string
	placed []float64
	task   bool
	weight float64
}

// balance gives talk as much weight in all as tasks.
func balance(texts []taskText) {
	var weight [2]float64
	for _, t := range texts {
		weight[int(retrieval.Indicate(t.task))] += t.weight
	}
	for i := range texts {
		if !texts[i].task {
			texts[i].weight *= weight[1] / max(weight[0], 1)
		}
	}
}

// sums are what least squares need to know of texts: the lower half of the
// products of their dimensions, and those with what the texts are.
type sums struct {
	products [][]float64
	targets  []float64
}

func sumsOf(texts []taskText, counts func(group string) bool) sums {
	n := len(texts[0].placed)
	s := sums{products: make([][]float64, n), targets: make([]float64, n)}
	for i := range s.products {
		s.products[i] = make([]float64, i+1)
	}
	for _, t := range texts {
		if !counts(t.group) {
			continue
		}
		target := 2*retrieval.Indicate(t.task) - 1
		for i, a := range t.placed {
			a *= t.weight
			s.targets[i] += a * target
			for j, b := range t.placed[:i+1] {
				s.products[i][j] += a * b
			}
		}
	}
	return s
}

func (s sums) without(other sums) sums {
	for i, row := range other.products {
		for j := range row {
			row[j] = s.products[i][j] - row[j]
		}
		other.targets[i] = s.targets[i] - other.targets[i]
	}
	return other
}

func (s sums) solve() []float64 {
	a := make([][]float64, len(s.products))
	for i, row := range s.products {
		a[i] = make([]float64, len(s.products))
		copy(a[i], row)
		a[i][i] += taskRidge * retrieval.Indicate(i > 0)
	}
	return cholesky(a, s.targets)
}

func place(line, placed []float64) float64 {
	var sum float64
	for i, x := range placed {
		sum += line[i] * x
	}
	return min(max(sum, -retrieval.TaskBound), retrieval.TaskBound)
}
