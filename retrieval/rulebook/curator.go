package rulebook

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/writbus/writ/retrieval"
	"github.com/writbus/writ/retrieval/curation"
	"github.com/writbus/writ/schemas"
)

// curator compares nodes by their meaning. Vectors of texts it has seen are kept, so that a
// proposal costs one embedding.
type curator struct {
	embedder retrieval.Embedder // nil: only equal texts are alike

	mu         sync.Mutex
	calibrated bool
	gate       curation.Gate
	vectors    map[string][]float32
}

func newCurator(e retrieval.Embedder) *curator {
	return &curator{embedder: e, vectors: map[string][]float32{}}
}

// settings returns the gate with the thresholds of the embedder, calibrated
// with the first proposal. An embedder without a scale has those of reference.
func (c *curator) settings() curation.Gate {
	if c.calibrated {
		return c.gate
	}
	c.calibrated = true
	c.gate = curation.Gate{Thresholds: curation.Reference}
	if c.embedder == nil {
		return c.gate
	}
	if calibration, err := curation.Calibrate(c.embedder, c.gate.Thresholds); err == nil {
		c.gate.Thresholds = calibration.Thresholds
	}
	return c.gate
}

// compare returns the gate, and what it judges a node by.
func (c *curator) compare(proposed schemas.Rule, nodes []schemas.Rule, taken []string) (curation.Gate, curation.Corpus, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	gate := c.settings()
	against := curation.Corpus{Nodes: nodes}
	if c.embedder != nil {
		v, err := c.vector(proposed)
		if err != nil {
			return gate, against, err
		}
		vectors, err := c.vectorsOf(nodes)
		if err != nil {
			return gate, against, err
		}
		if against, err = curation.Compare(v, nodes, vectors); err != nil {
			return gate, against, err
		}
	}
	against.Taken = taken
	return gate, against, nil
}

func (c *curator) vectorsOf(nodes []schemas.Rule) (vectors [][]float32, problem error) {
	vectors = make([][]float32, len(nodes))
	for i, node := range nodes {
		v, err := c.vector(node)
		problem = errors.Join(problem, err)
		vectors[i] = v
	}
	return vectors, problem
}

func (c *curator) vector(node schemas.Rule) ([]float32, error) {
	text := curation.Text(node)
	if v, known := c.vectors[text]; known || text == "" {
		return v, nil
	}
	v, err := c.embedder.Embed(text)
	if err != nil {
		return nil, fmt.Errorf("embed %s: %w", node.ID, err)
	}
	c.vectors[text] = slices.Clone(v)
	return c.vectors[text], nil
}

// similarity of two nodes, 0 without an embedder.
func (c *curator) similarity(a, b schemas.Rule) float64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.embedder == nil {
		return 0
	}
	va, errA := c.vector(a)
	vb, errB := c.vector(b)
	if errA != nil || errB != nil {
		return 0
	}
	compared, err := curation.Compare(va, []schemas.Rule{b}, [][]float32{vb})
	if err != nil {
		return 0
	}
	return compared.Cosines[0]
}

// neighbours returns a function that lists the nodes most like one, and from
// which similarity on two say the same.
func (c *curator) neighbours(nodes []schemas.Rule) (func(schemas.Rule) []schemas.Neighbour, float64) {
	if c.embedder == nil {
		return nil, 0
	}
	c.mu.Lock()
	redundant := c.settings().Thresholds.Novelty
	c.mu.Unlock()
	return func(r schemas.Rule) []schemas.Neighbour {
		var near []schemas.Neighbour
		for _, other := range nodes {
			if other.ID == r.ID {
				continue
			}
			if s := c.similarity(r, other); s >= redundant {
				near = append(near, schemas.Neighbour{ID: other.ID, Similarity: s})
			}
		}
		return near
	}, redundant
}

// compress groups nodes by meaning, which takes an embedder.
func (c *curator) compress(nodes []schemas.Rule) ([]schemas.Rule, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.embedder == nil {
		return nil, schemas.Faultf(schemas.CodeRefused, "%s", "rules are grouped by meaning, which takes an embedder; the settings say none. `writ model use static` turns the built-in one on")
	}
	vectors, err := c.vectorsOf(nodes)
	if err != nil {
		return nil, err
	}
	return curation.Compress(nodes, vectors, c.settings().Thresholds)
}
