// Package safetensors reads tensors from files in the safetensors format
// (https://github.com/huggingface/safetensors#format): eight bytes of header
// length, a JSON header that gives each tensor's type, shape and place, and the
// data, little-endian and row-major.
//
// Guarantees: every length, offset and shape is checked against the file
// before anything is read or allocated for it, so that a truncated, damaged or
// foreign file gives an error that names the file and the tensor, and never a
// panic; a file, once open, may be read from any number of goroutines.
//
// It does not write files, keeps nothing but the header in memory, and knows
// no model: what a tensor means is its caller's business.
package safetensors
