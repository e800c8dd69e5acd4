package shell

import (
	"path"
	"regexp"
	"strings"
)

// network are the programs that talk to other machines.
func network() family {
	f := family{}
	f.add("curl", command{info: true, judge: curlJudge})
	f.add("wget", command{info: true, judge: wgetJudge})
	f.add("scp", command{judge: scpJudge})
	f.add("rsync", command{info: true, judge: rsyncJudge})
	f.add("ssh", command{judge: sshJudge})
	f.add("sftp ftp lftp rclone aria2c axel mosh", command{info: true, judge: opaque("transfers files")})
	f.add("nc ncat netcat", command{judge: careful("runs a command or writes a file", "-e", "-c", "-o", "-x", "--exec", "--sh-exec", "--lua-exec", "--output", "--hex-dump", "--append-output")})
	f.add("telnet", command{judge: careful("writes a file", "-n")})
	f["socat"] = command{judge: opaque("may write files")}
	f.add("http https xh", command{judge: func(c *call) {
		c.unsureIf(c.given("-d", "-o", "--download", "--output", "--session"), "stores what it loads")
	}})
	f.add("openssl", command{judge: func(c *call) {
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
	}})
	f.add("ssh-keygen", command{judge: func(c *call) {
		p := optSpec{short: "fCNPtbmIOnzVsWwrRFGTMDEYKaSJjZ"}.parse(c.args)
		if p.has("-D", "-w", "-R", "-K") {
			c.unsure("loads a library, or rewrites a file of keys")
		}
		if p.has("-l", "-F", "-e", "-y", "-B", "-L", "-Q") {
			return
		}
		if v, ok := p.last("-f"); ok {
			c.write(v)
			c.write(arg{val: v.val + ".pub", known: v.known})
			return
		}
		c.write(literal(c.sh.a.env.Home + "/.ssh"))
	}})
	return f
}

// opensslFiles are options of openssl that name a file to write.
var opensslFiles = setOf("writerand CAserial keylogfile sess_out msgfile signer keymatexport")

// curlLong are curl's long options with a value, as far as they are in use.
const curlLong = `--output --output-dir --dump-header --cookie-jar --trace --trace-ascii --stderr --libcurl --etag-save --hsts --alt-svc --ssl-sessions
	--config --data --data-raw --data-binary --data-ascii --data-urlencode --json --header --request --url --user --user-agent --cookie --form
	--form-string --max-time --connect-timeout --retry --retry-delay --retry-max-time --proxy --cacert --capath --cert --key --resolve
	--write-out --range --referer --interface --limit-rate --ciphers --upload-file --speed-limit --speed-time --max-redirs --proto
	--proto-default --oauth2-bearer --unix-socket --connect-to --aws-sigv4 --cert-type --key-type --pass --proxy-user --variable
	--etag-compare --netrc-file --local-port --keepalive-time --engine --url-query --max-filesize --time-cond --dns-servers --socks5`

func curlJudge(c *call) {
	p := optSpec{short: "oDcKdHXAbeEFmQrtTuUwxyYzCP", long: curlLong}.parse(c.args)
	dir := "."
	if v, ok := p.last("--output-dir"); ok {
		dir = c.folder([]arg{v})
	}
	outputs := p.values("-o", "--output")
	for _, v := range outputs {
		switch {
		case v.known && v.val == "-":
		case v.known && dir != "." && !strings.HasPrefix(v.val, "/"):
			v.val = under(dir, v.val)
			c.write(v)
		default:
			c.write(v)
		}
	}
	for _, v := range p.values("-D", "--dump-header", "-c", "--cookie-jar", "--trace", "--trace-ascii", "--stderr", "--libcurl", "--etag-save", "--hsts", "--alt-svc", "--ssl-sessions") {
		c.writeOut(v)
	}
	c.uploads(p)
	c.unsureIf(c.given("--expand-*"), "a file is named by a variable")
	for _, v := range p.values("-w", "--write-out") {
		c.unsureIf(!v.known || strings.HasPrefix(v.val, "@"), "the format may name a file")
		if _, rest, ok := strings.Cut(v.val, "%output{"); ok {
			name, _, _ := strings.Cut(rest, "}")
			c.writeName(strings.TrimPrefix(name, ">>"))
		}
	}
	if p.has("-K", "--config", "--engine") {
		c.unsure("its options are in a file")
	}
	if p.unsplit {
		c.unsure("its options are known only at run time")
	}
	if p.has("-O", "--remote-name", "--remote-name-all", "-J", "--remote-header-name") {
		urls := append(p.operands, p.values("--url")...)
		for _, u := range urls[min(len(outputs), len(urls)):] {
			c.urlName(u, dir)
		}
		if p.has("-J", "--remote-header-name") {
			c.unsure("the server chooses the name")
		}
	}
}

// uploads records files of this machine that curl writes: an address may be one.
func (c *call) uploads(p parsed) {
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

func wgetJudge(c *call) {
	p := optSpec{short: "OoaPiUetTwQlARDIXB", long: `--output-document --output-file --append-output --directory-prefix --input-file --user-agent --execute
		--tries --timeout --wait --header --user --password --post-data --post-file --method --body-data --save-cookies --load-cookies
		--level --accept --reject --domains --referer --limit-rate --ca-certificate --certificate --private-key --warc-file --rejected-log --hsts-file --use-askpass --config`}.parse(c.args)
	for _, v := range p.values("-o", "-a", "--output-file", "--append-output", "--save-cookies", "--warc-file") {
		c.writeOut(v)
	}
	for _, v := range p.values("-e", "--execute") {
		if !strings.HasPrefix(v.val, "robots") {
			c.unsure("sets options of its own")
		}
	}
	if p.has("--config", "--use-askpass") {
		c.unsure("its options are in a file")
	}
	for _, v := range p.values("--rejected-log", "--hsts-file") {
		c.writeOut(v)
	}
	if p.has("-b", "--background") && len(p.values("-o", "-a", "--output-file", "--append-output")) == 0 {
		c.writeName("wget-log")
	}
	if p.has("--spider") {
		return
	}
	if v, ok := p.last("-O", "--output-document"); ok {
		c.writeOut(v)
		return
	}
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

func scpJudge(c *call) {
	p := optSpec{short: "FJPSDXcilo"}.parse(c.args)
	c.sshOptions(p)
	if v, ok := p.last("-S"); ok {
		c.unsure("an option runs a command")
		c.text(v)
	}
	sources, target, folder := c.destination(p)
	if target.known && remote(target.val) {
		return
	}
	for i, s := range sources {
		sources[i].val = s.val[strings.LastIndexByte(s.val, ':')+1:]
	}
	c.into(target, sources, folder)
}

// sshOptions judges the options of ssh that run a command or load a file.
func (c *call) sshOptions(p parsed) {
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
	if p.has("-F") {
		c.unsure("an option runs a command or loads a file")
	}
}

func sshJudge(c *call) {
	p := optSpec{short: "BbcDEeFIiJLlmOopQRSWw", stop: true}.parse(c.args)
	c.sshOptions(p)
	for _, v := range p.values("-E") {
		c.write(v)
	}
	if p.has("-V", "-G", "-Q") {
		return
	}
	c.unsure("runs commands on another machine")
}

// plainSSH is ssh with options that neither run a command nor load a file of
// settings or code.
var plainSSH = regexp.MustCompile(`^ssh(?: -(?:[46AaCqTtvx]+|p ?\d+|l ?\w+|i ?[\w./~-]+|o ?(?i:StrictHostKeyChecking|ConnectTimeout|BatchMode|Port|User|UserKnownHostsFile=/dev/null|ServerAlive\w+|LogLevel|Compression|IdentitiesOnly)[= ]?[\w/.-]*))*$`)

func rsyncJudge(c *call) {
	p := optSpec{short: "eBTfM@", long: `--rsh --rsync-path --exclude --include --exclude-from --include-from --files-from --filter --log-file --backup-dir
		--suffix --chmod --chown --bwlimit --max-size --min-size --timeout --port --temp-dir --partial-dir --write-batch --only-write-batch
		--read-batch --compare-dest --copy-dest --link-dest --out-format --password-file --info --debug`}.parse(c.args)
	for _, v := range p.values("-e", "--rsh") {
		if plainSSH.MatchString(v.val) {
			continue
		}
		c.unsure("an option runs a command")
		c.text(v)
	}
	for _, v := range p.values("--log-file", "--write-batch", "--only-write-batch") {
		c.writeOut(v)
	}
	c.unsureIf(c.given("--daemon", "--server", "--config"), "serves files, as its settings say")
	if p.has("-n", "--dry-run", "--list-only") || len(p.operands) < 2 {
		return
	}
	n := len(p.operands) - 1
	c.readsTrees(p.operands[:n])
	if p.has("--remove-source-files") {
		c.write(p.operands[:n]...)
	}
	for _, v := range p.values("--backup-dir") {
		c.write(v)
	}
	if t := p.operands[n]; !t.known || !remote(t.val) {
		c.write(t)
	}
}
