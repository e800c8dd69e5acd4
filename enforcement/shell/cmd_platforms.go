package shell

import "strings"

// checkers are linters and formatters: most only read until they are told to
// fix.
func checkers() family {
	f := family{}
	f.add("shellcheck hadolint yamllint actionlint pyflakes pycodestyle jsonlint staticcheck govulncheck cspell typos codespell vale proselint write-good alex htmlhint nilaway errcheck ineffassign gocyclo misspell deadcode",
		command{judge: when(opaque("rewrites its files"), "-w", "--write-changes", "--write", "--fix", "-fix", "-i")})
	f.add("golangci-lint", command{judge: func(c *call) {
		if c.flagged("--fix", "--out-format", "--output") || c.first() == "fmt" || c.first() == "migrate" || c.first() == "custom" {
			c.unsure("may rewrite its files")
		}
	}})
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
		reads:   "ps images logs inspect version info stats top port diff history search events image:ls image:list image:inspect image:history container:ls container:list container:inspect container:logs container:top container:stats container:port network:ls network:list network:inspect volume:ls volume:list volume:inspect context:ls context:show context:inspect system:df system:info compose:ps compose:logs compose:config compose:ls compose:images compose:top compose:version compose:port buildx:ls buildx:inspect buildx:version manifest:inspect node:ls service:ls service:ps stack:ls machine:list",
	}
	f.add("docker podman nerdctl", command{judge: func(c *call) {
		if c.flagged("-o", "--output") && (c.first() == "save" || nextWord(c.args) == "compose") {
			c.unsure("writes a file")
		}
		containers.judge(c)
	}})
	f.add("docker-compose podman-compose", command{judge: subcommands{options: optSpec{short: "fp", long: "--file --project-name"}, reads: "ps logs config images top version port ls"}.judge})
	f.add("kubectl oc k", command{judge: subcommands{
		options: optSpec{short: "ns", long: "--namespace --context --kubeconfig --server --cluster --user"},
		reads:   "get describe logs top version api-resources api-versions cluster-info explain diff events config:view config:current-context config:get-contexts config:get-clusters auth:can-i auth:whoami rollout:status rollout:history wait",
	}.judge})
	f.add("helm", command{judge: subcommands{options: optSpec{short: "n", long: "--namespace --kube-context --kubeconfig"}, reads: "list ls get status history version search show lint env repo:list template", table: map[string]judge{
		"template": when(opaque("writes the result"), "--output-dir"),
	}}.judge})
	f.add("terraform tofu terragrunt", command{judge: subcommands{reads: "version show output validate providers graph state:list state:show workspace:list workspace:show", table: map[string]judge{
		"fmt": unless(rewrites("its files"), "-check", "-diff"),
	}}.judge})
	f.add("aws", command{info: true, judge: awsJudge})
	f.add("gcloud az doctl flyctl fly heroku vercel netlify wrangler firebase supabase pulumi cdk sam serverless",
		command{info: true, judge: opaque("acts on a service")})
	f.add("systemctl", command{judge: subcommands{options: optSpec{short: "tHMnop", long: "--type --state --host --property --lines"}, reads: "status is-active is-enabled is-failed list-units list-unit-files list-timers list-sockets list-dependencies list-jobs show cat get-default show-environment"}.judge})
	f.add("service", command{judge: when(opaque("acts on a service"), "start", "stop", "restart", "reload")})
	f.add("journalctl", command{judge: when(opaque("deletes logs"), "--vacuum-size", "--vacuum-time", "--vacuum-files", "--rotate", "--flush")})
	f.add("crontab", command{judge: unless(opaque("changes the table of jobs"), "-l")})
	f.add("launchctl", command{judge: subcommands{reads: "list print version"}.judge})
	f.add("apt", command{judge: subcommands{reads: "list show search policy depends rdepends"}.judge})
	f.add("apt-cache dpkg-query rpmquery", command{})
	f.add("apt-get aptitude yum dnf zypper apk pacman snap flatpak port", command{info: true, judge: subcommands{reads: "list info search show repolist"}.judge})
	f.add("dpkg", command{judge: unless(opaque("installs packages"), "-l", "-L", "-s", "-S", "--list", "--listfiles", "--status", "--search", "--version", "--print-architecture", "-I", "-c")})
	f.add("rpm", command{judge: func(c *call) {
		if !strings.HasPrefix(c.first(), "-q") && c.first() != "--query" && c.first() != "--version" {
			c.unsure("installs packages")
		}
	}})
	f.add("brew", command{judge: subcommands{reads: "list ls info search --prefix --version --cellar config doctor outdated deps uses leaves home desc cat log"}.judge})
	f.add("gpg gpg2", command{info: true, judge: unless(opaque("works on keys and files"), "--verify", "--list-keys", "-k", "--list-secret-keys", "-K", "--fingerprint")})
	f.add("sysctl", command{judge: when(opaque("sets a value"), "-w", "-p", "--write", "--load")})
	f.add("ip ifconfig route arp iwconfig ethtool nmcli", command{})
	f.add("mount", command{judge: func(c *call) { c.unsureIf(len(c.args) > 0, "changes the file system") }})
	f.add("umount mkfs fdisk parted losetup swapon insmod modprobe reboot shutdown poweroff halt useradd userdel usermod passwd chsh", command{judge: opaque("changes the system")})
	f.add("open xdg-open start notify-send say", command{judge: opaque("starts a program of the desktop")})
	f.add("tmux screen zellij", command{info: true, judge: subcommands{reads: "ls list-sessions list-windows list-panes capture-pane display-message has-session -ls"}.judge})
	f.add("ffprobe identify mediainfo pdfinfo pdffonts", command{})
	f.add("ffmpeg convert magick exiftool pdftotext pdftk qpdf gs inkscape rsvg-convert cwebp optipng jpegoptim svgo dot", command{info: true, judge: opaque("writes the files its options name")})
	f.add("claude codex gemini cursor-agent opencode aider copilot", command{info: true, judge: opaque("starts an agent")})
	f.add("hyperfine", command{judge: func(c *call) {
		p := optSpec{short: "wmMrpcsSNL", long: "--warmup --runs --min-runs --max-runs --prepare --cleanup --setup --shell --export-json --export-markdown --export-csv --parameter-list --parameter-scan"}.parse(c.args)
		c.write(p.values("--export-json", "--export-markdown", "--export-csv")...)
		for _, v := range append(p.operands, p.values("-p", "--prepare", "-c", "--cleanup", "-s", "--setup")...) {
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
