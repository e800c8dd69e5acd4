// Package help holds the topics about agents and their command language, as people read them
// with writ help, in the dashboard and beside the sources.
//
// It is text alone and imports nothing of the product, since the client that
// every hook starts links it.
package help

import "embed"

// Files are the topics, one Markdown file each.
//
//go:embed *.md
var Files embed.FS
