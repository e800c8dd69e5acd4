// Package bert is a sentence encoder: BERT and its small relatives, such as
// all-MiniLM-L6-v2, read from a Hugging Face model directory, its weights as
// safetensors, and run in pure Go, with AVX2 or AVX-512 kernels where the
// processor has them.
//
// Guarantees: vectors are those of the sentence-transformers library to a cosine
// of 0.9999 and better, which a test checks when the model is at hand; they have
// unit length; the same text gives the same bits on the same machine, alone or
// in a batch; a [Model] may be used from any number of goroutines and allocates
// little but its results once warm; damaged, foreign or incomplete model
// directories give errors that name the file.
//
// A model is known by its configuration: modules.json says how it pools and which
// dense layers stand behind that, config_sentence_transformers.json what stands
// before queries and documents.
//
// It encodes only. What it does not know – other activations, relative
// positions, other modules – is refused when a model is loaded, never left out
// silently.
package bert
