package vector

// Embedder turns a text that is to be found into a vector.
type Embedder interface {
	Embed(text string) ([]float32, error)
}

// Asker is an [Embedder] to which what is asked for is not what is found: its
// model was trained with words before queries.
type Asker interface {
	EmbedQuery(text string) ([]float32, error)
}

// OfQuery is the vector by which a text is asked for.
func OfQuery(e Embedder, text string) ([]float32, error) {
	if a, ok := e.(Asker); ok {
		return a.EmbedQuery(text)
	}
	return e.Embed(text)
}
