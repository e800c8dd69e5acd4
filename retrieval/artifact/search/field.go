package search

// Field is one of the weighted parts of a document.
type Field int

// The fields, in their stored order; persisted; never reorder.
const (
	Title Field = iota
	Tags
	Summary
	Path
	Content   // the text of all chunks
	NumFields // how many there are
)

// Boosts say how many times a word counts that stands once in the field.
var Boosts = [NumFields]float64{Title: 2, Tags: 1, Summary: 1, Path: 1.5, Content: 1}
