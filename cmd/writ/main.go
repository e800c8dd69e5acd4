// Writ is the client that people and hooks run; it talks to the daemon writd.
package main

import (
	"context"
	"os"

	"github.com/writbus/writ/cmd/writ/cli"
	"github.com/writbus/writ/cmd/writ/cli/client"
	_ "github.com/writbus/writ/cmd/writ/early" // runs `writ confine`
)

func main() {
	os.Exit(cli.Run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr, client.OS()))
}
