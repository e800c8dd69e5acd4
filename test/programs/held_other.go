//go:build !unix

package programs

// held cannot be told here.
func held(string) bool { return false }
