package shell

import (
	"path"
	"strings"

	"github.com/writbus/writ/schemas/lazyregexp"
)

// curlFolder is the folder of the files that curl writes.
func curlFolder(r *reading) string {
	if v, ok := r.p.last("--output-dir"); ok {
		return r.folder([]arg{v})
	}
	return "."
}

func curlOutput(r *reading) {
	dir := curlFolder(r)
	for _, v := range r.p.values("-o", "--output") {
		switch {
		case v.known && v.val == "-":
			continue
		case v.known && dir != "." && !strings.HasPrefix(v.val, "/"):
			v.val = under(dir, v.val)
		}
		r.write(v)
	}
}

// curlFormats judges what is printed about a transfer, which may go to a file.
func curlFormats(r *reading) {
	for _, v := range r.p.values("-w", "--write-out") {
		r.unsureIf(!v.known || strings.HasPrefix(v.val, "@"), "the format may name a file")
		if _, rest, ok := strings.Cut(v.val, "%output{"); ok {
			name, _, _ := strings.Cut(rest, "}")
			r.writeName(strings.TrimPrefix(name, ">>"))
		}
	}
}

// curlNames records files that are named after their addresses.
func curlNames(r *reading) {
	p := r.p
	if !p.has("-O", "--remote-name", "--remote-name-all", "-J", "--remote-header-name") {
		return
	}
	urls := append(p.operands, p.values("--url")...)
	for _, u := range urls[min(len(p.values("-o", "--output")), len(urls)):] {
		r.urlName(u, curlFolder(r))
	}
	r.unsureIf(p.has("-J", "--remote-header-name"), "the server chooses the name")
}

// curlUploads records files of this machine that curl writes: an address may be one.
func curlUploads(r *reading) {
	c, p := r.call, r.p
	if !p.has("-T", "--upload-file") {
		return
	}
	c.unsureIf(p.has("--proto-default"), "the address may be a file")
	for _, u := range append(p.operands, p.values("--url")...) {
		name, file := u.val, false
		if len(name) >= 5 && strings.EqualFold(name[:5], "file:") {
			name, file = "/"+strings.TrimLeft(name[5:], "/"), true
		}
		switch {
		case file && u.known && !strings.Contains(name, "%"):
			c.writeName(name)
		case file || !u.known && !strings.Contains(u.val, "://"):
			c.unsure("the address may be a file")
		}
	}
}

// urlName records a file named after the last part of a URL.
func (c *call) urlName(u arg, dir string) {
	name := urlBase(u.val)
	if !u.known && !u.glob || !isKnown(name) || name == "" {
		c.unsure("the name comes from the address")
		c.writeName(dir)
		return
	}
	c.writeName(under(dir, name))
}

func urlBase(u string) string {
	if _, rest, ok := strings.Cut(u, "://"); ok {
		u = rest
	}
	u, _, _ = strings.Cut(u, "?")
	u, _, _ = strings.Cut(u, "#")
	if !strings.Contains(u, "/") {
		return ""
	}
	return path.Base(u[strings.LastIndexByte(u, '/'):])
}

// wgetNames records files that are named after their addresses.
func wgetNames(r *reading) {
	c, p := r.call, r.p
	dir := "."
	if v, ok := p.last("-P", "--directory-prefix"); ok {
		dir = c.folder([]arg{v})
	}
	if p.has("-r", "--recursive", "-m", "--mirror", "-p", "--page-requisites", "-x", "--force-directories", "-i", "--input-file", "--content-disposition") || p.unsplit {
		c.unsure("the names come from the server")
		c.writeName(dir)
		return
	}
	for _, u := range p.operands {
		if name := urlBase(u.val); u.known && (name == "" || name == "/") {
			c.writeName(under(dir, "index.html"))
			continue
		}
		c.urlName(u, dir)
	}
}

// remote reports host:path, which is no local file.
func remote(name string) bool {
	host, _, ok := strings.Cut(name, ":")
	return ok && !strings.Contains(host, "/")
}

func scpJudge(r *reading) {
	c, p := r.call, r.p
	sources, target, folder := c.destination(p)
	if target.known && remote(target.val) {
		return
	}
	for i, s := range sources {
		sources[i].val = s.val[strings.LastIndexByte(s.val, ':')+1:]
	}
	c.into(target, sources, folder, c.write)
}

// sshJudge judges the options of ssh that run a command or load a file.
func sshJudge(r *reading) {
	c, p := r.call, r.p
	for _, v := range p.values("-o") {
		key, value, ok := strings.Cut(v.val, "=")
		if !ok {
			key, value, _ = strings.Cut(v.val, " ")
		}
		switch strings.ToLower(strings.TrimSpace(key)) {
		case "proxycommand", "localcommand", "permitlocalcommand", "knownhostscommand", "sshaskpass", "pkcs11provider", "securitykeyprovider", "include", "controlpath", "userknownhostsfile":
			if strings.TrimSpace(value) == "/dev/null" || strings.TrimSpace(value) == "none" {
				continue
			}
			c.unsure("an option runs a command or loads a file")
			if strings.Contains(strings.ToLower(key), "command") {
				c.text(arg{val: value, known: v.known})
			}
		}
	}
	c.unsureIf(p.has("-F"), "an option runs a command or loads a file")
}

// plainSSH is ssh with options that neither run a command nor load a file of
// settings or code.
var plainSSH = lazyregexp.New(`^ssh(?: -(?:[46AaCqTtvx]+|p ?\d+|l ?\w+|i ?[\w./~-]+|o ?(?i:StrictHostKeyChecking|ConnectTimeout|BatchMode|Port|User|UserKnownHostsFile=/dev/null|ServerAlive\w+|LogLevel|Compression|IdentitiesOnly)[= ]?[\w/.-]*))*$`)

// rsyncShell judges the program by which rsync reaches the other machine.
func rsyncShell(r *reading) {
	for _, v := range r.p.values("-e", "--rsh") {
		if plainSSH.MatchString(v.val) {
			continue
		}
		r.unsure("an option runs a command")
		r.text(v)
	}
}

func opensslJudge(r *reading) {
	c := r.call
	switch sub := c.first(); sub {
	case "ca", "rehash", "c_rehash", "s_server", "srp", "req":
		c.unsureIf(sub != "req" || !c.flagged("-in", "--in"), "keeps a data base, or files of its own")
	}
	for i, a := range c.args {
		name := strings.TrimPrefix(a.val, "-")
		name = strings.TrimPrefix(name, "-")
		switch {
		case name == a.val:
		case strings.HasSuffix(name, "out") && name != "timeout" && name != "noout" || opensslFiles[name]:
			if v, ok := c.arg(i + 1); ok {
				c.write(v)
			}
		case name == "engine" || name == "config" || strings.HasPrefix(name, "provider") || name == "CAcreateserial":
			c.unsure("loads code or configuration, or keeps a file")
		}
	}
}

// opensslFiles are options of openssl that name a file to write.
var opensslFiles = setOf("writerand CAserial keylogfile sess_out msgfile signer keymatexport")

// publicKeyJudge records the other half of a pair of keys.
func publicKeyJudge(r *reading) {
	v, _ := r.p.last("-f")
	r.write(arg{val: v.val + ".pub", known: v.known})
}

// looksOnly is what the client of a service, forge or registry is asked for that it only
// shows: a verb right behind names of kinds of things and nothing else, one thing's name
// behind it. Behind any other word the verb may name a thing, or a file that is written.
var looksOnly = lazyregexp.New(`^(?:(?:(?:[a-z][a-z0-9-]*s|account|acr|ad|aks|alpha|app|artifact|assignment|auth|beta|blob|board|boards|branch|bucket|channel|ci|cluster|compute|config|container|containerapp|` +
	`cosmosdb|cr|cron|database|db|deployment|dns|domain|droplet|env|epic|flexible-server|functionapp|gist|group|host|iam|identity|image|incident|instance|issue|job|k8s|key|keyvault|kv|label|load-balancer|` +
	`logging|machine|manifest|member|milestone|model|monitor|mr|mysql|namespace|network|nic|nsg|object|org|pg|pipeline|plan|postgres|pr|project|pubsub|queue|r2|rdb|record|registry|release|repo|` +
	`repository|resource|role|rollout|route|run (?:jobs|revisions|services)|secret|server|service|service-principal|session|signed-in-user|site|snapshot|sp|spanner|sprint|sql|ssh-key|stack|state|` +
	`storage|stream|subnet|subscription|table|team|token|topic|user|variable|vcn|version|vm|vmss|vnet|volume|webapp|work-item|workflow|workspace|zone)[ :])*` +
	`(?:ls|list|list-tags|describe|show|view|get|info|inspect|status|whoami|me|diff|history|tail|top|digest|manifest|catalog|tags|tree|discover|retrieve|search|fetch|validate|verify)(?: [^ ]+)?|` +
	`version|help|logs|ps|[a-z]+[a-rt-z]s|config get(?:-value)? [^ ]+|logging read [^ ]+)$`)

// looksActs are verbs that are written like the kinds of things.
var looksActs = lazyregexp.New(`(?:^| )(?:access|(?:add|apply|assign|attach|cancel|clear|create|delete|detach|diagnose|disable|enable|export|import|install|move|print|purge|put|remove|reset|restart|` +
	`restore|revoke|rotate|run|send|set|start|stop|test|unset|update|upload|wait)-[a-z-]*)[ :]`)

// looks reports a client that is asked for what it only shows.
func looks(r *reading) bool {
	var words []string
	args := r.args
	for len(args) > 0 && strings.HasPrefix(args[0].val, "-") {
		two := args[:min(2, len(args))]
		taken := len(two) - len(r.entry.takes.parse(two).operands)
		if taken == 1 && r.mayTake(args[0], args[1:]) {
			break
		}
		args = args[taken:]
	}
	for _, a := range args {
		if strings.HasPrefix(a.val, "-") {
			break
		}
		words = append(words, a.val)
	}
	line := strings.Join(words, " ")
	return looksOnly.MatchString(line) && !looksActs.MatchString(line)
}
