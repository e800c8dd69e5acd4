// Package openai embeds texts through an HTTP endpoint that speaks OpenAI's
// embeddings protocol, as many local servers do too.
//
// Guarantees: a call ends within its attempts' time limits; every failure is an
// error that says what the endpoint did, so that the caller can fall back to
// words alone and say so – never a made-up or stale vector; answers are checked
// (count, order, dimensions, finite numbers) before they are used; vectors have
// unit length; while an endpoint is known to be down calls fail at once instead
// of making every query wait; the key appears in no error. A [Client] may be
// used from any number of goroutines.
//
// It sends texts over the network: nothing uses it unless it is configured.
package openai
