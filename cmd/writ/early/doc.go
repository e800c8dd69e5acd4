// Package early runs `writ confine` before the program's libraries are
// initialised. It is in front of every command that an agent's shell runs
// confined, and needs none of them; their initialisation takes as long as all
// that it does.
//
// Go initialises packages in the order of their import paths, each as soon as
// those that it imports are. This one, and all that it imports, therefore stay
// clear of fmt, strings, path/filepath and whatever imports them: with one of
// them it comes after most libraries, and is only slower. A test holds the list.
//
// It runs a command or does nothing: a command line that it cannot follow, help
// and every error before the command began are left to the program itself.
package early
