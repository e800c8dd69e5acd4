// Package embed finds the embedder that a model directory holds. [Load] detects
// the kind, checks the files against the checksums that come with them, gives
// the model a name that changes with its content, and remembers the vectors of
// recent queries.
//
// The embedders themselves are its sub-packages: bert and model2vec read
// directories, static tables that Writ trained, of which one is built in, openai
// asks an HTTP endpoint. This package knows the first three; hub fetches models.
//
// Guarantees: what is loaded has the content its checksums say; two models with
// one name give the same vectors but for rounding; errors name the file and what
// to do. It never falls back to another embedder.
package embed
