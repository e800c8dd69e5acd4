package graph

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/cmd/internal/config"
	"github.com/writbus/writ/cmd/writ/cli/client"
	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/schemas/pause"
)

const (
	// pushCallBudget bounds one step of a push: the daemon ends it after five
	// seconds and the transaction it is in.
	pushCallBudget = 2 * time.Minute
	pullBudget     = 10 * time.Minute
	// followWait is how long the daemon waits for a change before it answers
	// that there was none.
	followWait = 20 * time.Second
	// A follower that lost its server asks again after pauses that grow from
	// the one to the other.
	followPause, followMaxPause = time.Second, 30 * time.Second
)

func (a *app) graphCommand() *cobra.Command {
	return client.Group("graph", "Show the knowledge graph, mirror it into Neo4j or import it from there",
		"  writ rule graph show GO-ERR-WRAP-001 --depth 2\n  writ rule graph push --url bolt://localhost:7687 --follow\n  writ rule graph pull --dry-run",
		a.graphShowCommand(), a.graphPushCommand(), a.graphPullCommand())
}

// targetFlags say which database a command is about.
type targetFlags struct {
	target       schemas.GraphTarget
	passwordFile string
}

const targetHelp = `
Address, user and database come from the flags, from WRIT_NEO4J_URL,
WRIT_NEO4J_USER and WRIT_NEO4J_DATABASE, or from neo4j_url, neo4j_user and
neo4j_database in the daemon's settings. The password comes from a file, from
WRIT_NEO4J_PASSWORD, or is asked for; it is never on a command line, which other
users of the machine can see.`

func (f *targetFlags) register(c *cobra.Command) {
	c.Flags().StringVar(&f.target.URL, "url", "", "the Neo4j server, such as bolt://localhost:7687; +s after bolt or neo4j for TLS")
	c.Flags().StringVar(&f.target.User, "user", "", "the user, neo4j where none is named")
	c.Flags().StringVar(&f.target.Database, "database", "", "the database, the user's own where none is named")
	c.Flags().StringVar(&f.passwordFile, "password-file", "", "a file whose first line is the password")
}

// fill completes the target from the environment.
func (f *targetFlags) fill(a *app) error {
	for name, value := range map[string]*string{
		config.Neo4jURL: &f.target.URL, config.Neo4jUser: &f.target.User, config.Neo4jDatabase: &f.target.Database, config.Neo4jPassword: &f.target.Password,
	} {
		if *value == "" {
			*value = a.Env.Getenv(name)
		}
	}
	if f.passwordFile == "" {
		return nil
	}
	raw, err := os.ReadFile(a.Env.Absolute(f.passwordFile))
	if err != nil {
		return client.Refused("graph", "the password file cannot be read: "+err.Error(), "")
	}
	line, _, _ := strings.Cut(string(raw), "\n")
	if f.target.Password = strings.TrimSuffix(line, "\r"); f.target.Password == "" {
		return client.Refused("graph", "the first line of "+f.passwordFile+" is empty", "It must be the password.")
	}
	return nil
}

// askPassword asks the person at the terminal, where there is one and the
// server wants a password that nobody gave.
func (f *targetFlags) askPassword(a *app, err error) bool {
	var service *bus.ServiceError
	file, isFile := a.In.(*os.File)
	if f.target.Password != "" || !errors.As(err, &service) || service.Code != schemas.CodeUnauthenticated || !isFile || !client.IsTerminal(a.In) {
		return false
	}
	fmt.Fprint(a.Err, "Password for Neo4j: ")
	raw, readErr := term.ReadPassword(int(file.Fd()))
	a.Note("")
	f.target.Password = string(raw)
	return readErr == nil && len(raw) > 0
}

func (a *app) graphPushCommand() *cobra.Command {
	var f targetFlags
	var follow, replace bool
	var overwrite []string
	c := &cobra.Command{
		Use: "push", Short: "Mirror the graph into Neo4j",
		Long: `Brings a Neo4j database to what the graph is now: nodes with their type as
label, edges as relationships. What changed since the last push is written, or
everything the first time. It can be interrupted at any moment and goes on where
it was; only what Writ itself made in the database is ever changed or deleted.
What somebody changed or made there stays and is named; writ help corpus has more.
` + targetHelp,
		Example: `  writ rule graph push --url bolt://localhost:7687
  writ rule graph push --follow
  writ rule graph push --overwrite GO-ERR-WRAP-001`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := errors.Join(a.NotForAgents(), f.fill(a)); err != nil {
				return err
			}
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			p := &pusher{a: a, flags: &f, request: schemas.GraphPushRequest{Replace: replace, Overwrite: overwrite}}
			defer p.close()
			return p.run(ctx, follow)
		},
	}
	f.register(c)
	c.Flags().BoolVar(&follow, "follow", false, "go on with every change, until Ctrl-C")
	c.Flags().BoolVar(&replace, "replace", false, "take over a database that mirrors another graph: that mirror is deleted")
	c.Flags().StringSliceVar(&overwrite, "overwrite", nil, "ids of nodes that are written, or deleted, though somebody changed them in Neo4j")
	return c
}

// pusher asks for one step after the other.
type pusher struct {
	a       *app
	flags   *targetFlags
	request schemas.GraphPushRequest
	service client.Service
	total   schemas.GraphPushReply // of the push in progress
}

func (p *pusher) close() {
	if p.service != nil {
		p.service.Close()
	}
}

// step makes one request, over a connection that is kept.
func (p *pusher) step(ctx context.Context) (reply schemas.GraphPushReply, err error) {
	if p.service == nil {
		if p.service, err = p.a.Open(ctx, client.RoleAdmin); err != nil {
			return reply, err
		}
	}
	p.request.Target = p.flags.target
	reply, err = client.CallWithin[schemas.GraphPushReply](ctx, p.service, pushCallBudget, schemas.SvcGraphPush, p.request)
	if p.flags.askPassword(p.a, err) {
		return p.step(ctx)
	}
	if errors.Is(err, bus.ErrUnavailable) {
		p.service.Close()
		p.service = nil
	}
	return reply, err
}

func (p *pusher) run(ctx context.Context, follow bool) error {
	if err := p.push(ctx); err != nil {
		return client.Explain("graph push", err)
	}
	if !follow {
		return nil
	}
	if !p.a.JSON {
		p.a.Note("Following the log; Ctrl-C ends.")
	}
	// Taking over happens once, and on purpose.
	p.request.Replace, p.request.Overwrite = false, nil
	p.request.WaitMillis = int(followWait.Milliseconds())
	return client.Explain("graph push", p.follow(ctx))
}

// push asks until the mirror is what the graph is, and shows what was done.
func (p *pusher) push(ctx context.Context) error {
	p.total = schemas.GraphPushReply{}
	line := client.IsTerminal(p.a.Err) && !p.a.JSON
	for {
		reply, err := p.step(ctx)
		if err != nil {
			return err
		}
		p.add(reply)
		if reply.Done {
			break
		}
		if line {
			fmt.Fprintf(p.a.Err, "\r\x1b[K%s", p.progress(reply))
		}
	}
	if line {
		fmt.Fprint(p.a.Err, "\r\x1b[K")
	}
	return p.show()
}

func (p *pusher) progress(r schemas.GraphPushReply) string {
	switch r.Phase {
	case "nodes":
		return fmt.Sprintf("nodes: %s of %s", client.Thousands(uint64(p.total.NodesWritten)), client.Thousands(uint64(r.Nodes)))
	case "edges":
		return fmt.Sprintf("edges: %s of %s", client.Thousands(uint64(p.total.EdgesWritten)), client.Thousands(uint64(r.Edges)))
	case "sweep":
		return "deleting what left the graph"
	}
	return fmt.Sprintf("up to event %s", client.Thousands(r.Position))
}

// add sums up what the steps of a push did.
func (p *pusher) add(r schemas.GraphPushReply) {
	t := &p.total
	t.Done, t.Idle, t.Phase, t.Position, t.Nodes, t.Edges, t.Dangling = r.Done, r.Idle, r.Phase, r.Position, r.Nodes, r.Edges, r.Dangling
	t.Full = t.Full || r.Full
	// Only the first step can go on with what an earlier push began.
	if t.Reason == "" && t.NodesWritten+t.EdgesWritten == 0 {
		t.Resumed, t.Reason = r.Resumed, r.Reason
	}
	t.NodesWritten += r.NodesWritten
	t.EdgesWritten += r.EdgesWritten
	t.NodesRemoved += r.NodesRemoved
	t.EdgesRemoved += r.EdgesRemoved
	t.Kept += r.Kept
	t.Restored = append(t.Restored, r.Restored...)
	t.RestoredEdges += r.RestoredEdges
	if r.Done {
		t.Differences = r.Differences
	}
	// Only a mirror that is complete has something to wait for.
	if p.request.After = 0; r.Done {
		p.request.After = r.Position
	}
}

func (p *pusher) show() error {
	t := p.total
	if t.Idle {
		return nil
	}
	if p.a.JSON {
		return p.a.PrintJSON(t)
	}
	p.a.Printf("The mirror holds %s and %s, up to event %s.\n",
		client.Plural(t.Nodes, "node", "nodes"), client.Plural(t.Edges, "edge", "edges"), client.Thousands(t.Position))
	why := ""
	switch {
	case t.Resumed:
		why = "; an interrupted push was finished"
	case t.Reason != "" && t.Reason != "first push":
		why = "; everything was written because " + t.Reason
	}
	p.a.Printf("  written %s, %s; deleted %s, %s%s\n",
		client.Plural(t.NodesWritten, "node", "nodes"), client.Plural(t.EdgesWritten, "edge", "edges"),
		client.Plural(t.NodesRemoved, "node", "nodes"), client.Plural(t.EdgesRemoved, "edge", "edges"), why)
	switch t.Kept {
	case 0:
	case 1:
		p.a.Printf("  1 node that left the graph is kept, marked writ_stale: relationships of others hang on it\n")
	default:
		p.a.Printf("  %d nodes that left the graph are kept, marked writ_stale: relationships of others hang on them\n", t.Kept)
	}
	if len(t.Restored) > 0 {
		p.a.Printf("  there again, having been deleted in Neo4j: %s\n  writ rule retire ID takes one out for good.\n", shortList(t.Restored))
	}
	if t.RestoredEdges > 0 {
		p.a.Printf("  %s, having been deleted in Neo4j\n", client.Plural(t.RestoredEdges, "edge is there again", "edges are there again"))
	}
	if len(t.Differences) > 0 {
		p.a.showDifferences("left alone in Neo4j", t.Differences)
		p.a.Note("writ graph pull brings in what is there; --overwrite ID puts Writ's in its place, or deletes a node that Writ does not have.")
	}
	if t.Dangling > 0 {
		p.a.Printf("  %s\n", client.Plural(t.Dangling, "edge was left out: its target is not in the graph", "edges were left out: their targets are not in the graph"))
	}
	return nil
}

// showDifferences tells of nodes that a person decides on.
func (a *app) showDifferences(what string, all []schemas.GraphDifference) {
	for _, d := range all {
		a.Note("%s: %s (%s)", what, d.ID, d.Why)
		for line := range strings.Lines(d.Diff) {
			a.Note("    %s", strings.TrimSuffix(line, "\n"))
		}
	}
}

// shownIDs is how many ids a line names.
const shownIDs = 10

func shortList(ids []string) string {
	if more := len(ids) - shownIDs; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(ids[:shownIDs], ", "), more)
	}
	return strings.Join(ids, ", ")
}

// follow pushes after every change until ctx ends. While Neo4j or the daemon
// is away it asks again and again: what it missed is in the log.
func (p *pusher) follow(ctx context.Context) error {
	away := followPause
	for ctx.Err() == nil {
		err := p.push(ctx)
		var service *bus.ServiceError
		switch {
		case err == nil:
			if away > followPause && !p.a.JSON {
				p.a.Note("Neo4j and the daemon answer again.")
			}
			away = followPause
			continue
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, bus.ErrUnavailable), errors.Is(err, context.DeadlineExceeded),
			errors.As(err, &service) && (service.Code == schemas.CodeUnavailable || service.Code == schemas.CodeNotReady):
		default:
			return err
		}
		if away == followPause {
			p.a.Note("writ: %s Trying again until it answers.", client.Explain("graph push", err))
		}
		// Every answer after this one is news.
		p.request.After = 0
		pause.For(ctx, away)
		away = min(2*away, followMaxPause)
	}
	return nil
}

func (a *app) graphPullCommand() *cobra.Command {
	var f targetFlags
	var request schemas.GraphPullRequest
	c := &cobra.Command{
		Use: "pull", Short: "Import a graph from Neo4j",
		Long: `Reads the nodes that carry a node type as label – Rule, Skill and so on – with
their properties and the relationships between them, and imports them as rule
files are imported: all of them or, where one has a problem, none. Nodes whose id
is called rule_id or the like are understood too. What is in the database and is
no node or edge of Writ is reported. Nothing in Neo4j is changed, and nothing in
Writ is deleted.
Of a database that Writ pushed to, only what somebody made or changed there since
comes in; what was changed on both sides waits and is shown. writ help corpus has
the rest.
` + targetHelp,
		Example: `  writ rule graph pull --url bolt://localhost:7687 --dry-run
  writ rule graph pull --take GO-ERR-WRAP-001
  writ rule graph pull --password-file ~/.neo4j-password`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := errors.Join(a.NotForAgents(), f.fill(a)); err != nil {
				return err
			}
			reply, err := a.graphPull(cmd.Context(), &f, request)
			if err != nil {
				return client.Explain("graph pull", err)
			}
			return a.showPull(reply, request.DryRun)
		},
	}
	f.register(c)
	c.Flags().BoolVar(&request.DryRun, "dry-run", false, "only say what would be imported")
	c.Flags().BoolVar(&request.Partial, "partial", false, "import the sound nodes, leave out the others")
	c.Flags().StringSliceVar(&request.Take, "take", nil, "ids of nodes that Neo4j's version is brought in of, though Writ's was changed, too")
	return c
}

func (a *app) graphPull(ctx context.Context, f *targetFlags, request schemas.GraphPullRequest) (reply schemas.GraphPullReply, err error) {
	s, err := a.Open(ctx, client.RoleAdmin)
	if err != nil {
		return reply, err
	}
	defer s.Close()
	for {
		request.Target = f.target
		reply, err = client.CallWithin[schemas.GraphPullReply](ctx, s, pullBudget, schemas.SvcGraphPull, request)
		if !f.askPassword(a, err) {
			return reply, err
		}
	}
}

func (a *app) showPull(r schemas.GraphPullReply, dryRun bool) error {
	if a.JSON {
		if err := a.PrintJSON(r); err != nil {
			return err
		}
	} else {
		for _, line := range r.Skipped {
			a.Note("left out: %s", line)
		}
		for _, line := range append(r.Assumed, r.Import.Warnings...) {
			a.Note("note: %s", line)
		}
		for _, line := range r.Import.Skipped {
			a.Note("left out: %s", line)
		}
	}
	if len(r.Import.Problems) > 0 {
		return &client.Fault{
			What: "graph pull: nothing was imported",
			Why:  client.Plural(len(r.Import.Problems), "problem", "problems") + "\n  " + strings.Join(r.Import.Problems, "\n  "),
			Todo: "Correct them in Neo4j, or import the sound nodes with --partial.",
		}
	}
	if a.JSON {
		return nil
	}
	done := "imported"
	if dryRun {
		done = "would be imported"
	}
	a.Printf("%s and %s found; %d %s, %d unchanged.\n",
		client.Plural(r.Nodes, "node", "nodes"), client.Plural(r.Edges, "edge", "edges"), len(r.Import.Imported), done, r.Import.Unchanged)
	if r.Newer > 0 {
		a.Printf("  %s changed in Writ since the last push; writ graph push writes it.\n", client.Plural(r.Newer, "node was", "nodes were"))
	}
	if len(r.Deleted) > 0 {
		a.Printf("  deleted in Neo4j, in force in Writ: %s\n  writ rule retire ID takes one out, writ graph push writes it again.\n", shortList(r.Deleted))
	}
	if len(r.Waiting) > 0 {
		a.showDifferences("waits for you", r.Waiting)
		a.Note("writ graph pull --take ID brings in Neo4j's; writ graph push --overwrite ID keeps Writ's.")
	}
	return nil
}
