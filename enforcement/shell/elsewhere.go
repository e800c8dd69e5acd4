package shell

import (
	"path"
	"slices"
	"strings"

	"github.com/writbus/writ/schemas/lazyregexp"
)

// Class says by whom a program acts that has another one do its work.
type Class string

// The classes of what acts elsewhere; the table has them as attributes.
const (
	Types     Class = "types"     // types into terminals and windows, or starts programs in them
	Agent     Class = "agent"     // another agent
	Schedule  Class = "schedule"  // starts programs later, or by a service
	Service   Class = "service"   // starts and stops what is set up
	Container Class = "container" // a daemon, a container, a virtual machine, a cluster
	Machine   Class = "machine"   // another machine
	Desktop   Class = "desktop"   // an editor or program that runs already
	Setuid    Class = "setuid"    // the rights of another user
	Socket    Class = "socket"    // the raw socket of one of them
)

var classes = []Class{Types, Agent, Schedule, Service, Container, Machine, Desktop, Setuid, Socket}

// Elsewhere is an act outside of what a kernel holds that holds the command line:
// other processes do it, with their own rights.
type Elsewhere struct {
	Class   Class
	Program string // base name of the program that is asked to
}

// actsElsewhere records an act of this kind.
func (a *analysis) actsElsewhere(class Class, program string) {
	program, _, _ = strings.Cut(program, " ")
	if e := (Elsewhere{class, program}); len(a.elsewhere) < maxReasons && !slices.Contains(a.elsewhere, e) {
		a.elsewhere = append(a.elsewhere, e)
	}
}

// sockets are those of the programs that act elsewhere. Whoever speaks to one can
// have it do anything.
var sockets = lazyregexp.New(`(?:^|/)(?:(?:docker|podman|containerd|buildkitd|crio|cri-dockerd|lxd|incus)[\w.-]*\.sock(?:et)?|unix\.socket|` +
	`tmux-\d+/.*|S\.screen/.*|screen/S-.*|(?:my)?kitty[\w-]*(?:\.sock)?|wezterm/[\w.-]*sock[\w.-]*|nvim\.[^/]*|vscode-ipc-.*\.sock|sway-ipc\..*|\.ydotool_socket|` +
	`\.X11-unix/.*|wayland-\d+|system_bus_socket|run/user/\d+/bus|systemd/private)$`)

// throughSockets records what cannot be told and names such a socket.
func (a *analysis) throughSockets() {
	if !a.opaque {
		return
	}
	for _, named := range []map[string]struct{}{a.mentions, a.patterns} {
		for p := range named {
			if at := sockets.Regexp().FindString(p); at != "" {
				a.actsElsewhere(Socket, strings.TrimPrefix(at, "/"))
			}
		}
	}
}

// typed is how people write what types, wherever it stands in a command line.
var typed = lazyregexp.New(`(?s)\b(?:(?:tmux|byobu)\b.{0,200}\b(?:send-keys|send-prefix|paste-buffer|run-shell|respawn-\w+|pipe-pane|if-shell|source-file|send\s)|` +
	`screen\b[^\n]{0,80}\s-X\s|(?:kitty|kitten|wezterm)\b.{0,80}\bsend-text\b|zellij\b.{0,80}\baction\b|[xy]dotool\b.{0,80}\b(?:type|key)\b|` +
	`osascript\b.{0,200}\bkeystroke\b)`)

// typesUnseen records a command line that cannot be told and spells out what types:
// what that does to the user's own terminal is worth a question.
func (a *analysis) typesUnseen(command string) {
	if at := typed.Regexp().FindString(command); a.opaque && at != "" {
		program := strings.FieldsFunc(at, func(r rune) bool { return r < 'A' || r > 'z' })[0]
		a.actsElsewhere(Types, program)
	}
}

// speaks is how a program that nobody knows says that it publishes, or that it acts on
// what a forge or a tracker keeps.
var speaks = lazyregexp.New(`^(?:\S+ ){0,2}(?:[\w.-]+[:.])?(?:publish|push|deploy|upload|promote|rollback|destroy)\b|` +
	`^(?:\S+ )?(?:issue|pr|mr|ticket|card|pull-?request|merge-?request|release|secret|variable|context|database|db|image|repo|org|team|member|webhook)s?[ :]` +
	`(?:create|new|add|set|copy|close|reopen|comment|note|merge|edit|update|move|delete|remove|assign|transition|approve|revoke|rotate)\b`)

// plainWords are the first words of arguments that are no options.
func plainWords(args []arg) string {
	var words []string
	for _, a := range args {
		if !strings.HasPrefix(a.val, "-") && len(words) < 3 {
			words = append(words, a.val)
		}
	}
	return strings.Join(words, " ")
}

// clients are libraries that speak to another machine, and sends the calls by which
// they have it change something.
var (
	clients = lazyregexp.New(`(?i)\b(?:https?://|requests|httpx|aiohttp|urllib\d?|http\.client|axios|got|fetch|undici|superagent|net/http|Net::HTTP|faraday|httparty|LWP|HTTP::Tiny|curl_\w+|Guzzle\w*|` +
		`psycopg\d?|pg|pg8000|asyncpg|pymysql|mysql\w*|mariadb|MySQLdb|pymssql|pyodbc|oracledb|cx_Oracle|sqlalchemy|knex|sequelize|prisma|DBI|PDO|pymongo|mongodb|mongoose|redis|ioredis|` +
		`boto3|@?aws-sdk|google\.cloud|azure|smtplib|nodemailer|kafka\w*|pika|amqplib|paho|mqtt|nats|paramiko|ssh2|fabric|ftplib|stripe|github|octokit|slack_sdk|socket|net)\b`)
	sends = lazyregexp.New(`(?i)(?:\.|->)(?:post|put|patch|delete)(?:_form|_async)?[\s(]|\bi?o?redis\b.*\.(?:set|del|incr|expire|getset|eval)\(|\b(?:Post|Put|Patch|Delete)\.new\b|\b(?:method|type)['"]?\s*(?::|=>?)\s*['"` + "`" + `]?(?:POST|PUT|PATCH|DELETE)\b|` +
		`\b(?:request|open|Request)\(\s*['"](?:POST|PUT|PATCH|DELETE)\b|\burl(?:open|retrieve|lib\.request\.Request)\([^)]*,\s*(?:data\s*=|b['"])|Request\([^)]*\bdata\s*=|CURLOPT_POST|` +
		`\b(?:insert|update|replace|delete|bulk)_?(?:one|many|write)\b|\b(?:publish|basic_publish|sendmail|send_message|sendMail|exec_command|storbinary|upload_\w+|(?:put|delete|create|send|terminate|run|update)_\w+|produce|rpush|lpush|flushall|flushdb|setex|hset|sendall)\(`)
	saidSQL = lazyregexp.New(`(?is)\b(?:execute\w*|query|exec|raw|text|do|prepare|queryRaw|run)\s*\(\s*[bfru]?["'` + "`" + `]{1,3}\s*(?:insert|update|delete|drop|create|alter|truncate|merge|grant|revoke|replace|call|copy)\b`)
	atHome  = lazyregexp.New(`(?i)(?://|host\s*[=:]\s*['"]?|@|['"])(?:localhost|127\.[\d.]+|\[::1\]|0\.0\.0\.0)\b`)
	address = lazyregexp.New(`(?i)https?://|\bhost\s*[=:]`)
)

// speaksItself records code that has another machine change something by itself.
func (c *call) speaksItself(code string) {
	here := len(atHome.Regexp().FindAllString(code, maxItems))
	if here > 0 && here >= len(address.Regexp().FindAllString(code, maxItems)) || !clients.MatchString(code) {
		return
	}
	if sends.MatchString(code) || saidSQL.MatchString(code) {
		c.sh.a.actsElsewhere(Machine, c.name)
	}
}

// listedCommands finds commands that code hands over word by word.
var listedCommands = lazyregexp.New(`\b(?:subprocess\.\w+|\w*[sS]pawn\w*|exec\w*|Popen|system|run|check_\w+|call|command|open3?|proc_open)\s*\(?\s*[\[(]?\s*` +
	`((?:(?:"[^"\n]*"|'[^'\n]*')\s*,?\s*\[?\s*){2,})`)

var quotedWord = lazyregexp.New(`"([^"\n]*)"|'([^'\n]*)'`)

var quotedCommand = lazyregexp.New("`([^`\n]+)`|%x[({\\[]([^)}\\]\n]+)")

// listed judges the commands that code starts word by word, or in the quotes that
// Perl and Ruby have for it, as far as they act elsewhere: the code cannot be told
// in any case.
func (c *call) listed(code string) {
	c.speaksItself(code)
	if c.name == "perl" || c.name == "ruby" {
		for _, m := range quotedCommand.Regexp().FindAllStringSubmatch(code, maxItems) {
			c.sh.fork().script(m[1] + m[2])
		}
	}
	for _, m := range listedCommands.Regexp().FindAllStringSubmatch(code, maxItems) {
		var words []arg
		for _, w := range quotedWord.Regexp().FindAllStringSubmatch(m[1], maxItems) {
			words = append(words, literal(w[1]+w[2]))
		}
		if _, e, known := lookUp(words[0].val); known && e.class != "" {
			c.sh.fork().exec(words)
		}
	}
}

// lookUp finds a program in the table by a name that may have a folder. One that
// acts elsewhere may also have the version that a runner of packages is given.
func lookUp(name string) (base string, e *entry, known bool) {
	base = strings.TrimSuffix(path.Base(name), ".exe")
	if at := strings.LastIndexByte(base, '@'); at > 0 {
		if e := registry()[base[:at]]; e != nil && e.class != "" {
			return base[:at], e, true
		}
	}
	e, known = registry()[base]
	return base, e, known
}
