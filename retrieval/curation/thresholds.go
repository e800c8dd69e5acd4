package curation

// Thresholds say from which cosine on two nodes count as what.
type Thresholds struct {
	Duplicate float64 `json:"duplicate"` // the same thing said twice
	Novelty   float64 `json:"novelty"`   // too little that is new
	Neighbour float64 `json:"neighbour"` // near enough for its conflicts to count
	Cluster   float64 `json:"cluster"`   // near enough on average to share an abstraction
}

// ReferenceModel is the embedder for which [Reference] is stated.
const ReferenceModel = "sentence-transformers/all-MiniLM-L6-v2"

// Reference are the thresholds of [ReferenceModel]: the first three are those
// of the specification, Cluster is where rules on one topic part from others
// in the calibration pairs.
var Reference = Thresholds{Duplicate: 0.95, Novelty: 0.85, Neighbour: 0.70, Cluster: 0.30}

// each returns the thresholds with f applied to every one.
func (t Thresholds) each(f func(float64) float64) Thresholds {
	return Thresholds{Duplicate: f(t.Duplicate), Novelty: f(t.Novelty), Neighbour: f(t.Neighbour), Cluster: f(t.Cluster)}
}
