// Package hub fetches the models that Writ knows into a folder: from the place
// where they are published, a mirror, or a directory.
//
// Guarantees: what appears in the folder under a model's name is whole and has
// the checksums in the table here, whatever the server did and whenever the
// program was ended; a fetch that broke off goes on where it stopped; a list of
// checksums lies beside the files, for later readers.
//
// It loads no model, and never touches the network unless it is told to pull.
package hub
