package dialect

import "time"

// Timeouts of the verbs. Those of fetch and exec are the language's own; the
// others leave room for a model's answer or for a local lookup.
const (
	quick = 10 * time.Second
	web   = 30 * time.Second
	run   = 60 * time.Second
	model = 10 * time.Minute
)

var table = []Verb{
	{
		Name: "fetch", Axis: "perception", Usage: "URL", Required: true, Budget: ClassFetch, Timeout: web, Scopes: []string{"host"},
		Help:   "Read a web page or file as text.",
		Prompt: "/fetch URL – read a public page; HTML becomes text, an image becomes an image part.",
	},
	{
		Name: "search", Axis: "perception", Usage: "QUERY [top=N]", Required: true, Budget: ClassSearch, Timeout: web,
		Help:   "Search the web.",
		Prompt: "/search QUERY [top=N] – search the web; fetch what looks right.",
	},
	{
		Name: "browse", Axis: "perception", Usage: "URL", Required: true, Budget: ClassFetch, Timeout: 2 * web, Scopes: []string{"host"},
		Help:   "Open a page in a headless browser, scripts included.",
		Prompt: "/browse URL – like fetch, for pages that need scripts; slower.",
	},
	{
		Name: "read", Axis: "perception", Usage: "PATH[:FROM-TO]|#ID", Required: true, Timeout: quick, Scopes: []string{"path"},
		Help:   "Read a file of the workspace, or an artifact by its number.",
		Prompt: "/read PATH[:FROM-TO]|#ID – read a file or an artifact.",
	},
	{
		Name: "list", Axis: "perception", Timeout: quick,
		Help:   "List the artifacts of this conversation.",
		Prompt: "/list – list the artifacts.",
	},
	{
		Name: "map", Axis: "perception", Usage: "[DIR]", Timeout: quick, Scopes: []string{"path"},
		Help:   "Show the tree of a folder.",
		Prompt: "/map [DIR] – show the tree of a folder.",
	},
	{
		Name: "exec", Axis: "action", Usage: "COMMAND", Required: true, Mutating: true, Timeout: run, Scopes: []string{"cmd"},
		Help:   "Run a shell command in the workspace.",
		Prompt: "/exec COMMAND – run a shell command; the result ends with [exit N].",
	},
	{
		Name: "write", Axis: "action", Usage: "[--persist] PATH", Required: true, Mutating: true, Timeout: quick, Scopes: []string{"path"},
		Block:  &Block{Terminators: []string{"endwrite"}},
		Help:   "Write the lines up to /endwrite to a file.",
		Prompt: "/write [--persist] PATH, then the content, then /endwrite – write a file.",
	},
	{
		Name: "agent", Axis: "delegation", Usage: "ID MESSAGE", Required: true, Mutating: true, Timeout: model, Scopes: []string{"id"},
		Help:   "Ask another agent and wait for its answer.",
		Prompt: "/agent ID MESSAGE – ask another agent.",
	},
	{
		Name: "parallel", Axis: "delegation", Mutating: true, Timeout: model,
		Block:  &Block{Terminators: []string{"endparallel"}},
		Help:   "Run the /agent lines up to /endparallel at the same time.",
		Prompt: "/parallel, then one /agent line per child, then /endparallel – ask several agents at once.",
	},
	{
		Name: "pane", Axis: "delegation", Usage: "ID MESSAGE", Required: true, Mutating: true, Timeout: quick, Scopes: []string{"id"},
		Help:   "Send a message to an agent in a pane, without waiting.",
		Prompt: "/pane ID MESSAGE – tell an agent something, without waiting.",
	},
	{
		Name: "advise", Axis: "consultation", Usage: "QUESTION", Required: true, Budget: ClassAdvise, Timeout: model,
		Help:   "Ask the advisor.",
		Prompt: "/advise QUESTION – ask the advisor before a hard choice.",
	},
	{
		Name: "mem", Axis: "persistence", Required: true, Mutating: true, Timeout: quick, Subs: memSubs,
		Block:  &Block{Words: []string{"add", "entry"}, Terminators: []string{"endentry", "endmem"}},
		Help:   "Keep notes and linked entries.",
		Prompt: "/mem write TEXT, /mem read, /mem search QUERY, /mem add entry TYPE TITLE … /endentry – remember across messages.",
	},
	{
		Name: "mcp", Axis: "federation", Required: true, Mutating: true, Timeout: run, Scopes: []string{"server", "tool"},
		Subs: []Sub{
			{Name: "tools", Usage: "[SERVER]", Help: "List the tools of servers."},
			{Name: "call", Usage: "SERVER TOOL JSON", Mutating: true, Help: "Call a tool."},
		},
		Help:   "Use tools of MCP servers.",
		Prompt: "/mcp tools [SERVER], /mcp call SERVER TOOL JSON – use the tools of MCP servers.",
	},
	{
		Name: "a2a", Axis: "federation", Required: true, Mutating: true, Timeout: model, Scopes: []string{"name"},
		Subs: []Sub{
			{Name: "list", Help: "List the known peers."},
			{Name: "card", Usage: "NAME", Help: "Show the card of a peer."},
			{Name: "call", Usage: "NAME MESSAGE", Mutating: true, Help: "Send a message to a peer and wait."},
		},
		Help:   "Talk to agents elsewhere.",
		Prompt: "/a2a list, /a2a card NAME, /a2a call NAME MESSAGE – talk to agents elsewhere.",
	},
	{
		Name: "schedule", Axis: "scheduling", Usage: "PHRASE: MESSAGE", Required: true, Mutating: true, Timeout: quick,
		Subs: []Sub{
			{Name: "list", Help: "List what is scheduled."},
			{Name: "cancel", Usage: "ID", Mutating: true, Help: "Take a schedule out."},
			{Name: "pause", Usage: "ID", Mutating: true, Help: "Stop a schedule until it is resumed."},
			{Name: "resume", Usage: "ID", Mutating: true, Help: "Let a paused schedule go on."},
		},
		Help:   "Send yourself a message later: in N minutes, at HH:MM, tomorrow, on YYYY-MM-DD, every N hours, daily, weekly, every DAY.",
		Prompt: "/schedule PHRASE: MESSAGE – send yourself a message later, such as “every monday at 09:00: report”.",
	},
	{
		Name: "todo", Axis: "progress", Required: true, Mutating: true, Timeout: quick,
		Block: &Block{Words: []string{"add"}, Terminators: []string{"endtodo"}, Optional: true},
		Subs: []Sub{
			{Name: "add", Usage: "TEXT", Mutating: true, Help: "Add a task; lines up to /endtodo describe it."},
			{Name: "list", Help: "List the tasks."},
			{Name: "start", Usage: "ID", Mutating: true, Help: "Mark a task as begun."},
			{Name: "done", Usage: "ID", Mutating: true, Help: "Mark a task as done."},
			{Name: "cancel", Usage: "ID", Mutating: true, Help: "Give a task up."},
			{Name: "delete", Usage: "ID", Mutating: true, Help: "Take a task out."},
			{Name: "describe", Usage: "ID TEXT", Mutating: true, Help: "Replace a task's description."},
			{Name: "subject", Usage: "ID TEXT", Mutating: true, Help: "Replace a task's title."},
		},
		Help:   "Keep a list of tasks.",
		Prompt: "/todo add TEXT, /todo start ID, /todo done ID, /todo list – keep track of tasks.",
	},
	{
		Name: "lesson", Axis: "self-reflection", Usage: "SIG: TEXT", Required: true, Mutating: true, Timeout: quick,
		Block: &Block{Terminators: []string{"endlesson"}, Optional: true, Whole: []string{"list", "search", "delete"}, Colon: true},
		Subs: []Sub{
			{Name: "list", Help: "List the lessons."},
			{Name: "search", Usage: "QUERY", Help: "Find lessons."},
			{Name: "delete", Usage: "ID", Mutating: true, Help: "Take a lesson out."},
		},
		Help:   "Keep what went wrong and how to avoid it; it is shown again when it matters.",
		Prompt: "/lesson SIG: TEXT – keep a lesson for later.",
	},
	{
		Name: "help", Axis: "help", Usage: "[VERB]", Timeout: quick,
		Help:   "Show the verbs, or all about one.",
		Prompt: "/help [VERB] – show how a verb is used.",
	},
}

var memSubs = []Sub{
	{Name: "write", Usage: "TEXT", Mutating: true, Help: "Add a note."},
	{Name: "read", Help: "Show your notes."},
	{Name: "show", Help: "Show notes and entries together."},
	{Name: "clear", Mutating: true, Help: "Take your notes out."},
	{Name: "shared write", Usage: "TEXT", Mutating: true, Help: "Add a note that all agents see."},
	{Name: "shared read", Help: "Show the shared notes."},
	{Name: "shared show", Help: "Show shared notes and entries together."},
	{Name: "shared clear", Mutating: true, Help: "Take the shared notes out."},
	{Name: "entries", Usage: "[TYPE]", Help: "List the entries."},
	{Name: "entry", Usage: "ID", Help: "Show one entry."},
	{Name: "search", Usage: "QUERY", Help: "Find entries."},
	{Name: "expand", Usage: "ID", Help: "Show an entry with what is linked to it."},
	{Name: "density", Help: "Show how well entries are linked."},
	{Name: "add entry", Usage: "TYPE TITLE", Mutating: true, Help: "Add an entry; its text are the lines up to /endentry."},
	{Name: "add link", Usage: "FROM TO [KIND]", Mutating: true, Help: "Link two entries."},
	{Name: "invalidate", Usage: "ID", Mutating: true, Help: "Mark an entry as no longer true."},
}
