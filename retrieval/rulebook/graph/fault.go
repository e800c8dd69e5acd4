package graph

import (
	"errors"
	"fmt"

	"github.com/writbus/writ/projections/neo4jmirror"
	"github.com/writbus/writ/schemas"
)

// faults say what to do about each kind of trouble with a server, and the
// code by which clients tell them apart.
var faults = []struct {
	kind       error
	code, what string
	todo       string
}{
	{neo4jmirror.ErrBadTarget, schemas.CodeBadRequest, "the address cannot be used", "Give it with --url, WRIT_NEO4J_URL, or neo4j_url in the settings."},
	{neo4jmirror.ErrUnreachable, schemas.CodeUnavailable, "Neo4j cannot be reached", "See that it runs and that the address is right, then do it again: what is written stays, and a push goes on from there."},
	{neo4jmirror.ErrAuth, schemas.CodeUnauthenticated, "Neo4j refused the user", "Set WRIT_NEO4J_PASSWORD or name a file with --password-file, and the user with --user."},
	{neo4jmirror.ErrForbidden, schemas.CodeRefused, "Neo4j does not permit it", "The user needs to read and write nodes and relationships and to create constraints."},
	{neo4jmirror.ErrUnsupported, schemas.CodeRefused, "this server cannot be used", "Use a Neo4j 5 or newer, and its Bolt port, most often 7687."},
	{neo4jmirror.ErrTLS, schemas.CodeRefused, "TLS does not fit", "Correct the address or the certificate."},
	{neo4jmirror.ErrNoDatabase, schemas.CodeNotFound, "the database is not there", "Create it, or name another with --database; without the flag it is the user's own."},
	{neo4jmirror.ErrForeign, schemas.CodeConflict, "the database mirrors another graph", "Name another with --database, or let --replace delete that mirror and put this graph in its place."},
	{neo4jmirror.ErrBusy, schemas.CodeConflict, "another push is at work on this database", "Let it finish, then push again."},
	{neo4jmirror.ErrServer, schemas.CodeInternal, "Neo4j refused a statement", ""},
}

// faultOf tells a client what went wrong with a server, where, and what to
// do.
func faultOf(err error) error {
	var trouble *neo4jmirror.Error
	if !errors.As(err, &trouble) {
		return err
	}
	for _, f := range faults {
		if errors.Is(trouble.Kind, f.kind) {
			text := fmt.Sprintf("%s (%s): %s. %s", f.what, trouble.Where, trouble.Detail, f.todo)
			return schemas.Faultf(f.code, "%s", text)
		}
	}
	return err
}
