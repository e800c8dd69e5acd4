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
	c.bound(nodes)
	return vectors, problem
}

// spareVectors are kept of texts beside those of the nodes compared last.
const spareVectors = 64

// bound forgets the vectors of other texts than some nodes', where there are many:
// of earlier versions, of proposals that were refused.
func (c *curator) bound(nodes []schemas.Rule) {
	if len(c.vectors) <= 2*len(nodes)+spareVectors {
		return
	}
	kept := make(map[string][]float32, len(nodes))
	for _, node := range nodes {
		text := curation.Text(node)
		if v, known := c.vectors[text]; known {
			kept[text] = v
		}
	}
	c.vectors = kept
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

// neighbours returns a function that lists the nodes most like one of them, and from
// which similarity on two say the same. The error says which could not be compared.
func (c *curator) neighbours(nodes []schemas.Rule) (near func(schemas.Rule) []schemas.Neighbour, redundant float64, problem error) {
	if c.embedder == nil {
		return nil, 0, nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	redundant = c.settings().Thresholds.Novelty
	vectors, problem := c.vectorsOf(nodes)
	return func(r schemas.Rule) (near []schemas.Neighbour) {
		at := slices.IndexFunc(nodes, func(other schemas.Rule) bool { return other.ID == r.ID })
		if at < 0 {
			return nil
		}
		compared, err := curation.Compare(vectors[at], nodes, vectors)
		if err != nil {
			return nil // vectors of one embedder have one dimension
		}
		for i, similarity := range compared.Cosines {
			if nodes[i].ID != r.ID && similarity >= redundant {
				near = append(near, schemas.Neighbour{ID: nodes[i].ID, Similarity: similarity})
			}
		}
		return near
	}, redundant, problem
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
