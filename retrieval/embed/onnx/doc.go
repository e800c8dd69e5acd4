// Package onnx reads the weights and the graph of models in the ONNX format
// (https://onnx.ai): which tensors a file stores, and which nodes take them in.
// Exporters rename and transpose weights, so that a tensor is often found only by
// the node that uses it.
//
// Guarantees: every length, type and shape is checked against the file before
// anything is read or allocated for it, so that a truncated, damaged or foreign
// file gives an error that names the file and the tensor, and never a panic;
// memory stays in proportion to the file; a file, once open, may be read from any
// number of goroutines.
//
// It runs no graph, reads no sub-graphs, no weights outside the file, and no
// quantised numbers, and knows no model: what a tensor means is its caller's
// business.
package onnx
