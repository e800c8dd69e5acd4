// Package mention finds where a text mentions files of its project, and what is
// meant: @path, @path:LINE, @path#section, @"path with blanks".
//
// Guarantees: a mention stands at a word's beginning; addresses of mail,
// annotations, decorators and names of packages are none; punctuation that
// follows is not part of it. What it means depends on the text's own path and
// on the paths of the project alone. The [Graph] follows cycles once.
//
// It does not read files: whether a path is there is what it is told.
package mention
