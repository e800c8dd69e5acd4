package shell

import (
	"path"
	"slices"
	"strings"
)

// checkers are linters and formatters: most only read until they are told to
// fix.
func checkers() family {
	f := family{}
	f.add("shellcheck hadolint yamllint actionlint pyflakes pycodestyle jsonlint staticcheck govulncheck cspell typos codespell vale proselint write-good alex htmlhint nilaway errcheck ineffassign gocyclo misspell deadcode",
		command{judge: when(opaque("rewrites its files"), "-w", "--write-changes", "--write", "--fix", "-fix", "-i")})
	f.add("golangci-lint", command{judge: func(c *call) {
		sub := nextWord(c.args)
		c.unsureIf(c.given("-c", "--fix", "--config", "--out-format", "--output*", "--cpu-profile-path", "--mem-profile-path", "--trace-path") ||
			sub == "fmt" || sub == "migrate" || sub == "custom", "may rewrite its files")
	}})
	for _, name := range strings.Fields("staticcheck govulncheck cspell typos codespell vale misspell jsonlint htmlhint alex write-good errcheck deadcode") {
		options := []string{"--config*", "-debug*", "--dump*", "--out*", "--in-place", "--init*", "-cpuprofile", "-memprofile", "-trace", "--plugin*", "--rulesdir"}
		switch name {
		case "codespell":
			options = append(options, "-w", "-i")
		case "misspell":
			options = append(options, "-w", "-o")
		case "cspell", "htmlhint", "alex":
			options = append(options, "-c", "-r")
		}
		f.guarded(careful("writes a file or loads code", options...), name)
	}
	f.guarded(func(c *call) { c.unsureIf(c.first() == "sync" || c.first() == "install", "loads rules") }, "vale")
	f.add("black isort", command{info: true, judge: unless(formatter, "--check", "--diff", "--check-only", "-c")})
	f.add("ruff", command{info: true, judge: func(c *call) {
		switch {
		case c.first() == "rule" || c.first() == "config" || c.first() == "linter":
		case c.first() == "format" && c.flagged("--check", "--diff") && c.flagged("--no-cache"):
		case c.first() == "check" && !c.flagged("--fix", "--fix-only", "--unsafe-fixes", "--add-noqa") && c.flagged("--no-cache"):
		default:
			// Even a check keeps a cache in the project.
			c.unsure("may rewrite its files")
			c.writeName(".ruff_cache")
		}
	}})
	f.add("mypy pyright pylint flake8 bandit eslint prettier biome oxlint stylelint tslint xo standard markdownlint markdownlint-cli2 rubocop ktlint swiftlint swiftformat phpcs phpstan clippy clang-tidy cppcheck luacheck tflint ansible-lint checkov trivy semgrep sqlfluff djlint autopep8 yapf autoflake pyupgrade gci golines nixfmt alejandra ormolu fourmolu hlint dprint taplo",
		command{info: true, judge: opaque("runs plugins of the project or rewrites its files")})
	return f
}

func formatter(c *call) {
	c.unsure("rewrites its files")
	for _, a := range (optSpec{short: "lt", long: "--line-length --target-version --config --include --exclude --profile"}).parse(c.args).operands {
		c.write(a)
	}
}

// platforms are the clients of services and systems, and the package managers
// of an operating system. Changing something elsewhere cannot be told.
func platforms() family {
	f := family{}
	f.add("gh", command{judge: ghJudge})
	f.add("glab tea hub", command{info: true, judge: subcommands{reads: "mr:list mr:view mr:diff issue:list issue:view ci:list ci:status ci:view repo:view release:list version auth:status"}.judge})
	containers := subcommands{
		options: optSpec{short: "Hlc", long: "--host --context --log-level --config"},
		reads:   "ps images logs inspect version info stats top port diff history search events image:ls image:list image:inspect image:history container:ls container:list container:inspect container:logs container:top container:stats container:port network:ls network:list network:inspect volume:ls volume:list volume:inspect context:ls context:show context:inspect system:df system:info buildx:ls buildx:inspect buildx:version manifest:inspect node:ls service:ls service:ps stack:ls machine:list",
		table:   map[string]judge{"compose": composeJudge},
	}
	f.add("docker podman nerdctl", command{judge: func(c *call) {
		c.unsureIf(c.flagged("-o", "--output") && containsArg(c.args, "config"), "writes a file")
		c.unsureIf(c.flagged("--config"), "settings of its own may name a program")
		containers.judge(c)
	}})
	f.add("docker-compose podman-compose", command{judge: composeJudge})
	f.add("kubectl oc k", command{judge: both(kubeFiles, subcommands{
		options: optSpec{short: "ns", long: "--namespace --context --kubeconfig --server --cluster --user"},
		reads:   "get describe logs top version api-resources api-versions cluster-info explain diff events config:view config:current-context config:get-contexts config:get-clusters auth:can-i auth:whoami rollout:status rollout:history wait",
	}.judge)})
	f.add("helm", command{judge: both(kubeFiles, subcommands{options: optSpec{short: "n", long: "--namespace --kube-context --kubeconfig"}, reads: "list ls get status history version search show lint env repo:list template", table: map[string]judge{
		"template": careful("writes the result or runs a program", "--output-dir", "--post-renderer*"),
	}}.judge)})
	f.add("terragrunt", command{info: true, judge: opaque("runs hooks of its settings")})
	f.add("terraform tofu", command{judge: both(func(c *call) {
		dir, ok := c.sh.cwd()
		c.unsureIf(!ok || c.sh.temporary(path.Clean(dir)) || c.given("-chdir"), "runs the providers of another folder")
		c.unsureIf(containsArg(c.args, "lock") || containsArg(c.args, "mirror"), "writes what providers are")
	}, subcommands{reads: "version show output validate providers graph state:list state:show workspace:list workspace:show", table: map[string]judge{
		"fmt": unless(rewrites("its files"), "-check"),
	}}.judge)})
	f.add("aws", command{info: true, judge: awsJudge})
	f.add("gcloud az doctl flyctl fly heroku vercel netlify wrangler firebase supabase pulumi cdk sam serverless",
		command{info: true, judge: opaque("acts on a service")})
	f.add("systemctl", command{judge: subcommands{options: optSpec{short: "tHMnop", long: "--type --state --host --property --lines"}, reads: "status is-active is-enabled is-failed list-units list-unit-files list-timers list-sockets list-dependencies list-jobs show cat get-default show-environment"}.judge})
	f.add("service", command{judge: func(c *call) {
		name := c.first()
		c.unsureIf(name != "--status-all" && (len(c.args) != 2 || strings.Contains(name, "/") || c.args[1].val != "status"), "acts on a service")
	}})
	f.add("journalctl", command{judge: careful("deletes logs or writes a file", "--vacuum*", "--rotate", "--flush", "--cursor-file", "--setup-keys", "--update-catalog", "--relinquish-var", "--smart-relinquish-var", "--sync")})
	f.add("crontab", command{judge: unless(opaque("changes the table of jobs"), "-l")})
	f.add("launchctl", command{judge: subcommands{reads: "list print version"}.judge})
	f.add("apt", command{judge: subcommands{reads: "list show search policy depends rdepends"}.judge})
	f.add("apt-cache dpkg-query rpmquery", command{})
	f.guarded(careful("options of its own may name files and programs", "-o", "-c", "--option", "--config-file", "--pipe", "--eval", "--define", "--load", "--macros", "--rcfile"), "apt-cache", "apt", "rpmquery")
	f.add("apt-get aptitude yum dnf zypper apk pacman snap flatpak port", command{info: true, judge: subcommands{reads: "list info search show repolist"}.judge})
	f.add("dpkg", command{judge: unless(opaque("installs packages"), "-l", "-L", "-s", "-S", "--list", "--listfiles", "--status", "--search", "--version", "--print-architecture", "-I", "-c")})
	f.add("rpm", command{judge: func(c *call) {
		c.unsureIf(!strings.HasPrefix(c.first(), "-q") && c.first() != "--query" && c.first() != "--version", "installs packages")
		c.unsureIf(c.given("-E", "-D", "--pipe", "--eval", "--define", "--load", "--macros", "--rcfile"), "an option runs a command")
	}})
	f.add("brew", command{judge: subcommands{reads: "list ls info search --prefix --version --cellar config doctor outdated deps uses leaves home desc cat log"}.judge})
	f.add("gpg gpg2", command{info: true, judge: unless(opaque("works on keys and files"), "--verify", "--list-keys", "-k", "--list-secret-keys", "-K", "--fingerprint")})
	f.guarded(careful("writes a file or has settings of its own", "-o", "--output", "--log-file", "--logger-file", "--status-file", "--attribute-file", "--homedir", "--options", "--photo-viewer", "--agent-program", "--dirmngr-program", "--keyserver-options"), "gpg", "gpg2")
	f.add("sysctl", command{judge: func(c *call) {
		c.unsureIf(c.given("-w", "-p", "--write", "--load", "--system") || slices.ContainsFunc(c.args, func(a arg) bool { return strings.Contains(a.val, "=") }), "sets a value")
	}})
	f.add("ifconfig route arp iwconfig ethtool nmcli", command{})
	f.add("ip", command{judge: func(c *call) {
		c.unsureIf(containsArg(c.args, "exec") || slices.ContainsFunc(c.args, func(a arg) bool {
			return a.split || strings.HasPrefix(a.val, "-b") || strings.HasPrefix(a.val, "-force")
		}), "runs a command")
	}})
	f.add("mount", command{judge: func(c *call) { c.unsureIf(len(c.args) > 0, "changes the file system") }})
	f.add("umount mkfs fdisk parted losetup swapon insmod modprobe reboot shutdown poweroff halt useradd userdel usermod passwd chsh", command{judge: opaque("changes the system")})
	f.add("open xdg-open start notify-send say", command{judge: opaque("starts a program of the desktop")})
	f.add("tmux screen zellij", command{info: true, judge: both(func(c *call) {
		c.unsureIf(c.flagged("-f") || slices.ContainsFunc(c.args, func(a arg) bool { return !a.known || strings.Contains(a.val, "#(") || strings.HasSuffix(a.val, ";") }), "runs a command")
	}, subcommands{reads: "ls list-sessions list-windows list-panes capture-pane display-message has-session -ls"}.judge)})
	f.add("ffprobe identify mediainfo pdfinfo pdffonts", command{})
	f.guarded(careful("writes a report", "-report"), "ffprobe")
	f.guarded(careful("writes a report", "--LogFile", "--Output"), "mediainfo")
	f.guarded(func(c *call) {
		c.unsureIf(c.flagged("-write") || slices.ContainsFunc(c.args, func(a arg) bool { return strings.Contains(a.val, ":") || strings.HasPrefix(a.val, "@") }), "a name of this form may run a script")
	}, "identify")
	f.add("ffmpeg convert magick exiftool pdftotext pdftk qpdf gs inkscape rsvg-convert cwebp optipng jpegoptim svgo dot", command{info: true, judge: opaque("writes the files its options name")})
	f.add("claude codex gemini cursor-agent opencode aider copilot", command{info: true, judge: opaque("starts an agent")})
	f.add("hyperfine", command{judge: func(c *call) {
		c.unsureIf(c.given("-S", "--shell"), "runs its commands by a shell of its own")
		p := optSpec{short: "wmMrpcsSNLuCn", long: "--conclude --reference --command-name --export-asciidoc --export-orgmode --output --input --time-unit --style --sort --min-benchmarking-time --warmup --runs --min-runs --max-runs --prepare --cleanup --setup --shell --export-json --export-markdown --export-csv --parameter-list --parameter-scan"}.parse(c.args)
		for _, v := range p.values("--output") {
			if v.val != "null" && v.val != "pipe" && v.val != "inherit" {
				c.write(v)
			}
		}
		c.write(p.values("--export-json", "--export-markdown", "--export-csv", "--export-asciidoc", "--export-orgmode")...)
		for _, v := range append(p.operands, p.values("-p", "--prepare", "-c", "--cleanup", "-s", "--setup", "-C", "--conclude", "--reference")...) {
			c.text(v)
		}
	}})
	return f
}

func ghJudge(c *call) {
	table := map[string]judge{
		"api":       nil,
		"browse":    opaque("starts a program of the desktop"),
		"alias":     opaque("sets an alias"),
		"extension": opaque("installs code"),
		"config":    opaque("sets options"),
	}
	c.unsureIf(c.flagged("--web", "-w"), "starts a program of the desktop")
	switch sub := nextWord(c.args); {
	case sub == "issue" && containsArg(c.args, "develop"), sub == "pr" && containsArg(c.args, "merge") && c.given("-d", "--delete-branch"):
		c.unsure("may check out another branch")
		c.sh.gitTree(c, "")
		return
	case sub == "pr" && containsArg(c.args, "checkout"):
		c.unsure("changes the work tree")
		c.sh.gitTree(c, "")
		return
	case (sub == "release" || sub == "run") && containsArg(c.args, "download"):
		dir, ok := (optSpec{short: "DOpR", long: "--dir --output --pattern"}).parse(c.args).last("-D", "--dir", "-O", "--output")
		if !ok {
			dir = literal(".")
		}
		c.unsure("the names come from the server")
		c.write(dir)
		return
	case sub == "repo" && (containsArg(c.args, "clone") || containsArg(c.args, "sync") || containsArg(c.args, "fork") || containsArg(c.args, "create")):
		c.unsure("may write a work tree")
		return
	}
	subcommands{
		options: optSpec{short: "R", long: "--repo"},
		reads: `pr:list pr:view pr:diff pr:checks pr:status pr:create pr:comment pr:edit pr:review pr:close pr:reopen pr:ready pr:merge
			issue run:list run:view run:watch run:rerun run:cancel workflow:list workflow:view workflow:run repo:view repo:list release:list release:view
			auth:status search status label gist:list gist:view gist:create cache:list secret:list variable:list version help project:list project:view ruleset:list ruleset:view`,
		table: table,
	}.judge(c)
}

// composeJudge judges compose, alone or as a subcommand.
func composeJudge(c *call) {
	c.unsureIf(c.flagged("-o", "--output") && containsArg(c.args, "config"), "writes a file")
	subcommands{
		options: optSpec{short: "fp", long: "--file --project-name --profile --env-file --project-directory --progress --ansi --parallel"},
		reads:   "ps logs config images top version port ls events stats",
	}.judge(c)
}

// kubeFiles judges the files that the clients of Kubernetes are told of: settings
// may name a program that shows who one is.
func kubeFiles(c *call) {
	p := optSpec{long: "--kubeconfig"}.parse(c.args)
	for _, v := range p.values("--kubeconfig") {
		c.unsureIf(!v.known || !c.sh.trustedFile(v.val), "settings of its own may name a program")
	}
	c.unsureIf(c.given("--cache-dir", "--profile-output", "--output-directory", "--output-dir", "--log-file", "--log-dir", "--registry-config", "--repository-cache"), "writes files")
}

func containsArg(args []arg, word string) bool {
	for _, a := range args {
		if a.val == word {
			return true
		}
	}
	return false
}

// awsJudge takes calls that describe or list for readers; others act on the
// service, and some store an object.
func awsJudge(c *call) {
	ops := (optSpec{long: "--region --profile --output --query --endpoint-url"}).parse(c.args).operands
	if len(ops) >= 2 {
		switch verb := ops[1].val; {
		case strings.HasPrefix(verb, "describe-"), strings.HasPrefix(verb, "list-"), verb == "get-caller-identity", ops[0].val == "s3" && verb == "ls", ops[0].val == "logs" && verb == "tail":
			return
		}
	}
	c.unsure("acts on a service")
}
