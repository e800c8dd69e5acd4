package schemas

// Subjects of the services around the knowledge graph. Persisted; never
// change.
const (
	SvcGraph     = "writ.svc.retrieve.graph" // GraphQuery → GraphView
	SvcGraphPush = "writ.svc.graph.push"     // GraphPushRequest → GraphPushReply; admin
	SvcGraphPull = "writ.svc.graph.pull"     // GraphPullRequest → GraphPullReply; admin
)

// More codes of service errors. Persisted; never change.
const (
	CodeUnavailable     = "unavailable"     // a system that Writ needs for this cannot be reached; later it may
	CodeUnauthenticated = "unauthenticated" // that system refused user or password
)

// GraphTarget is a Neo4j database. What is empty is taken from the daemon's
// settings and environment.
type GraphTarget struct {
	URL      string `json:"url,omitempty"` // bolt://host:7687, neo4j://…, with +s or +ssc for TLS
	User     string `json:"user,omitempty"`
	Password string `json:"password,omitempty"`
	Database string `json:"database,omitempty"`
}

// GraphPushRequest mirrors the graph into Neo4j, for as long as the budget
// lasts; asking again goes on.
type GraphPushRequest struct {
	Target GraphTarget `json:"target"`
	// Replace takes over a database that mirrors another log.
	Replace bool `json:"replace,omitempty"`
	// Overwrite are ids of nodes that are written, or deleted, though somebody
	// changed them in Neo4j.
	Overwrite []string `json:"overwrite,omitempty"`
	// After answers, without a look at Neo4j, only once the log is past this
	// sequence, or WaitMillis are over. 0 does not wait.
	After        uint64 `json:"after,omitempty"`
	WaitMillis   int    `json:"wait_millis,omitempty"`
	BudgetMillis int    `json:"budget_millis,omitempty"` // 0: 5,000
}

// GraphPushReply says what this request did, and how far the mirror is.
type GraphPushReply struct {
	Done         bool   `json:"done"`              // the mirror is what the graph was at Position
	Full         bool   `json:"full,omitempty"`    // everything is written, not only what changed
	Resumed      bool   `json:"resumed,omitempty"` // a full pass goes on where an earlier request ended
	Reason       string `json:"reason,omitempty"`  // of a full pass
	Phase        string `json:"phase,omitempty"`   // nodes, edges, sweep, live
	Position     uint64 `json:"position"`          // stream sequence of WRIT_RULES
	Nodes        int    `json:"nodes"`             // in the graph
	Edges        int    `json:"edges"`             // in the graph
	NodesWritten int    `json:"nodes_written"`
	EdgesWritten int    `json:"edges_written"`
	NodesRemoved int    `json:"nodes_removed"`
	EdgesRemoved int    `json:"edges_removed"`
	Kept         int    `json:"kept,omitempty"`     // nodes that left the graph and stay: others' relationships hang on them
	Dangling     int    `json:"dangling,omitempty"` // edges whose target is not in the graph
	Idle         bool   `json:"idle,omitempty"`     // nothing happened in the log
	// Restored are ids of nodes that somebody deleted in Neo4j and that are there
	// again, and RestoredEdges counts relationships likewise.
	Restored      []string `json:"restored,omitempty"`
	RestoredEdges int      `json:"restored_edges,omitempty"`
	// Differences are what somebody made or changed in Neo4j, which no push touches.
	Differences []GraphDifference `json:"differences,omitempty"`
}

// GraphDifference is a node that Neo4j has otherwise than Writ.
type GraphDifference struct {
	ID string `json:"id"`
	// Side says who changed it since the last push: "neo4j", "both", or "unknown"
	// where no push of this Writ wrote it.
	Side string `json:"side"`
	Why  string `json:"why"`            // a sentence for people
	Diff string `json:"diff,omitempty"` // from what Writ has to what Neo4j has
}

// GraphPullRequest imports a graph from Neo4j.
type GraphPullRequest struct {
	Target  GraphTarget `json:"target"`
	DryRun  bool        `json:"dry_run,omitempty"`
	Partial bool        `json:"partial,omitempty"` // take the sound nodes, leave out the others
	// Take are ids of nodes that are brought in though they were changed in Writ, too.
	Take []string `json:"take,omitempty"`
}

// GraphPullReply says what was found, and what its import did.
type GraphPullReply struct {
	Nodes   int             `json:"nodes"` // found
	Edges   int             `json:"edges"` // found
	Import  RuleImportReply `json:"import"`
	Skipped []string        `json:"skipped,omitempty"` // what in the database is no node or edge of Writ, and why
	Assumed []string        `json:"assumed,omitempty"` // what was taken otherwise than it stands there
	// Waiting are the nodes that were changed in Writ and in Neo4j: a person decides.
	Waiting []GraphDifference `json:"waiting,omitempty"`
	// Deleted are ids of nodes in force that a push wrote and Neo4j has no longer.
	Deleted []string `json:"deleted,omitempty"`
	Newer   int      `json:"newer,omitempty"` // nodes that only Writ changed since; a push writes them
}

// GraphQuery asks for the neighbourhood of a node.
type GraphQuery struct {
	ID    string `json:"id"`
	Depth int    `json:"depth,omitempty"` // edges away, in either direction; 0: 2
}

// GraphView is a neighbourhood: nodes by distance and id, and the edges
// between them.
type GraphView struct {
	ID        string      `json:"id"`
	Depth     int         `json:"depth"`
	Nodes     []GraphNode `json:"nodes"`
	Edges     []GraphEdge `json:"edges"`
	Truncated bool        `json:"truncated,omitempty"` // there are more nodes within this distance
}

// GraphNode is a node as a drawing shows it.
type GraphNode struct {
	ID       string   `json:"id"`
	Type     NodeType `json:"type,omitempty"`
	Title    string   `json:"title,omitempty"`
	Domain   string   `json:"domain,omitempty"`
	Severity string   `json:"severity,omitempty"`
	Distance int      `json:"distance"`
	Missing  bool     `json:"missing,omitempty"` // an edge names it, and it is not in the graph
}

// GraphEdge points from one node to another.
type GraphEdge struct {
	From string `json:"from"`
	Type string `json:"type"`
	To   string `json:"to"`
}
