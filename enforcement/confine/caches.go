package confine

import (
	"os"
	"slices"
)

// cache is a folder in which a build tool keeps what it can make again.
type cache struct {
	name string // relative to the home folder
	env  string // variable that puts the folder, or its root, elsewhere; "" for none
	sub  string // below the folder that env names
	sign string // file at a root of the project that shows the tool is used; "" never makes the folder
}

// toolCaches keep out what tools read as settings or run at their start, such
// as ~/.gradle/init.d, ~/.m2/settings.xml and ~/.cargo/bin.
var toolCaches = []cache{
	{name: "go/pkg", env: "GOPATH", sub: "pkg", sign: "go.mod"},
	{name: ".config/go/telemetry", sign: "go.mod"},
	{name: ".npm", env: "npm_config_cache", sign: "package.json"},
	{name: ".yarn/berry"},
	{name: ".yarn-cache", env: "YARN_CACHE_FOLDER"},
	{name: ".local/share/pnpm/store", sign: "pnpm-lock.yaml"},
	{name: ".pnpm-store"},
	{name: ".bun/install/cache", env: "BUN_INSTALL_CACHE_DIR", sign: "bun.lock"},
	{name: ".node-gyp"},
	{name: ".cargo/registry", env: "CARGO_HOME", sub: "registry", sign: "Cargo.toml"},
	{name: ".cargo/git", env: "CARGO_HOME", sub: "git", sign: "Cargo.toml"},
	{name: ".cargo/.package-cache", env: "CARGO_HOME", sub: ".package-cache"},
	{name: ".cargo/.package-cache-mutate", env: "CARGO_HOME", sub: ".package-cache-mutate"},
	{name: ".cargo/.global-cache", env: "CARGO_HOME", sub: ".global-cache"},
	{name: ".gradle/caches", env: "GRADLE_USER_HOME", sub: "caches", sign: "settings.gradle"},
	{name: ".gradle/daemon", env: "GRADLE_USER_HOME", sub: "daemon", sign: "settings.gradle"},
	{name: ".gradle/native", env: "GRADLE_USER_HOME", sub: "native", sign: "settings.gradle"},
	{name: ".gradle/wrapper", env: "GRADLE_USER_HOME", sub: "wrapper", sign: "settings.gradle"},
	{name: ".gradle/workers", env: "GRADLE_USER_HOME", sub: "workers", sign: "settings.gradle"},
	{name: ".gradle/.tmp", env: "GRADLE_USER_HOME", sub: ".tmp", sign: "settings.gradle"},
	{name: ".gradle/kotlin", env: "GRADLE_USER_HOME", sub: "kotlin"},
	{name: ".m2/repository", sign: "pom.xml"},
	{name: ".ivy2/cache"},
	{name: ".sbt/boot", sign: "build.sbt"},
	{name: ".konan"},
	{name: ".nuget/packages", env: "NUGET_PACKAGES"},
	{name: ".local/share/NuGet"},
	{name: ".bundle/cache"},
	{name: ".composer/cache"},
	{name: ".hex/packages"},
	{name: ".cabal/packages"},
	{name: ".pub-cache/hosted", env: "PUB_CACHE", sub: "hosted", sign: "pubspec.yaml"},
	{name: ".pub-cache/hosted-hashes", env: "PUB_CACHE", sub: "hosted-hashes", sign: "pubspec.yaml"},
	{name: ".pub-cache/git", env: "PUB_CACHE", sub: "git", sign: "pubspec.yaml"},
	{name: ".pub-cache/_temp", env: "PUB_CACHE", sub: "_temp", sign: "pubspec.yaml"},
	{name: ".ccache", env: "CCACHE_DIR"},
	{name: ".hypothesis"},
}

// CacheNames are where tools and desktops keep caches in a home, whatever is there.
func CacheNames(home string) []string {
	if !absolute(home) {
		return nil
	}
	dirs := []string{join(home, ".cache")}
	for _, c := range toolCaches {
		dirs = append(dirs, join(home, c.name))
	}
	return dirs
}

// projectCaches are folders of the project that hold nothing but what tools
// make again. Names that people also give to sources are not among them.
var projectCaches = []cache{
	{name: ".pytest_cache"},
	{name: ".mypy_cache"},
	{name: ".ruff_cache"},
	{name: ".hypothesis"},
	{name: ".tox"},
	{name: ".nox"},
	{name: ".nyc_output"},
	{name: ".turbo"},
	{name: ".parcel-cache"},
	{name: ".next/cache"},
	{name: ".gradle", sign: "settings.gradle"},
	{name: ".gradle", sign: "settings.gradle.kts"},
	{name: "node_modules/.cache"},
	{name: "node_modules/.vite"},
	{name: "node_modules/.vitest"},
	{name: "target", sign: "Cargo.toml"},
	{name: "target", sign: "pom.xml"},
	{name: "build", sign: "build.gradle"},
	{name: "build", sign: "build.gradle.kts"},
	{name: "build", sign: "build/CMakeCache.txt"},
}

// caches lists the caches that there are, and makes those of tools that the
// project uses: a command that may not write the folder around one could not.
// loose are the other folders that commands may write.
func caches(o Options, project string, loose []string) []string {
	type candidate struct {
		dir    string
		make   bool
		shared bool // by all programs of a home, shells among them
	}
	var all []candidate
	exists := func(path string) bool {
		_, err := os.Lstat(path)
		return err == nil
	}
	add := func(dir string, make bool) {
		if make || exists(dir) {
			all = append(all, candidate{dir: dir, make: make})
		}
	}
	// What a tool takes for its project may be a folder of it, in a repository of several.
	roots := []string{project}
	at := o.Dir
	if at == "" {
		at, _ = os.Getwd()
	}
	for at = real(at); at != project && within(project, at); at = parent(at) {
		roots = append(roots, at)
	}
	uses := func(file string) bool {
		return file != "" && slices.ContainsFunc(roots, func(root string) bool { return exists(join(root, file)) })
	}
	home := ""
	if absolute(o.Home) && o.Home != "/" {
		home = real(o.Home)
	}
	for _, c := range toolCaches {
		dir := join(home, c.name)
		if at := o.getenv(c.env); c.env != "" && absolute(at) {
			dir = join(lists(at)[0], c.sub)
		} else if home == "" {
			continue
		}
		if c.sub != "daemon" || o.Profile == Implementation {
			add(dir, uses(c.sign))
		}
	}
	for i, dir := range general(o, home, loose) {
		add(dir, true)
		all[len(all)-1].shared = i == 0
	}
	loose = slices.Clone(loose)
	for _, c := range all {
		loose = append(loose, clean(c.dir), real(c.dir))
	}
	var dirs []string
	for _, c := range all {
		dir, ok := steady(c.dir, loose)
		if !ok || tooMuch(dir, home, project) {
			continue
		}
		if c.make {
			_ = os.MkdirAll(dir, 0o755)
		}
		switch _, err := os.Lstat(dir); {
		case err != nil:
		case c.shared:
			dirs = append(dirs, spread(dir, sourced(dir))...)
		default:
			dirs = append(dirs, dir)
		}
	}
	own := func(dir string, make bool) {
		if make {
			_ = os.MkdirAll(dir, 0o755)
		}
		if isDir(dir) && real(dir) == dir && !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	for _, root := range roots {
		for _, c := range projectCaches {
			if c.sign == "" || exists(join(root, c.sign)) {
				own(join(root, c.name), c.sign != "")
			}
		}
		for _, of := range moduleOutputs {
			if exists(join(root, of.top)) {
				for _, module := range modules(root, of.sign, maxModuleDepth) {
					own(join(module, of.name), true)
				}
			}
		}
	}
	return dirs
}

// sourcing begin the names of what shells and editors run from the caches of a home when
// they start, and of where earlier releases kept the programs that hooks run.
var sourcing = []string{"p10k-", "gitstatus", "zsh", ".zcompdump", "zcompdump", "oh-my-zsh", "prezto", "antidote", "antigen", "zinit", "znap", "fish", "nvim", "vim", "emacs", "wal", "bash", "starship", "carapace", "writ"}

// sourced lists what there is of that: who writes it gets the user's next shell to do
// anything, and no hold is around that one. Where there is some, no new folder is made
// beside it.
func sourced(dir string) (paths []string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	for _, e := range entries {
		if slices.ContainsFunc(sourcing, func(begin string) bool { return hasPrefix(e.Name(), begin) }) {
			paths = append(paths, join(dir, e.Name()))
		}
	}
	return paths
}

// moduleOutputs are where the modules of a project put what they make: top shows that
// it may have modules, and sign is in each.
var moduleOutputs = []struct{ top, sign, name string }{
	{"pom.xml", "pom.xml", "target"},
	{"settings.gradle", "build.gradle", "build"},
	{"settings.gradle.kts", "build.gradle.kts", "build"},
}

// maxModuleDepth is how far below a project's root the modules of a build are looked
// for, each of which has a target of its own.
const maxModuleDepth = 3

// modules are the folders below one that hold a file, each below others that do.
func modules(dir, sign string, depth int) (found []string) {
	entries, err := os.ReadDir(dir)
	if err != nil || depth == 0 {
		return nil
	}
	for _, e := range entries {
		at := join(dir, e.Name())
		if _, err := os.Lstat(join(at, sign)); err == nil && e.IsDir() {
			found = append(append(found, at), modules(at, sign, depth-1)...)
		}
	}
	return found
}

// general are the caches that many tools share, and Go's, which its own
// settings file may put elsewhere.
func general(o Options, home string, loose []string) []string {
	base := o.getenv("XDG_CACHE_HOME")
	if !absolute(base) && home != "" {
		base = join(home, ".cache")
	}
	dirs := []string{base}
	config := o.getenv("XDG_CONFIG_HOME")
	if !absolute(config) && home != "" {
		config = join(home, ".config")
	}
	var file []byte
	if at, ok := steady(join(config, "go", "env"), loose); ok && !among(loose, at) {
		file, _ = os.ReadFile(at)
	}
	for _, name := range []string{"GOCACHE", "GOMODCACHE"} {
		at := o.getenv(name)
		for _, line := range split(string(file), '\n') {
			if value, ok := cutPrefix(line, name+"="); ok && at == "" {
				at = trimmed(value)
			}
		}
		dirs = append(dirs, at)
	}
	kept := dirs[:0]
	for _, dir := range dirs {
		if absolute(dir) {
			kept = append(kept, dir)
		}
	}
	return kept
}

// tooMuch reports what a variable or a link makes too much of: a cache that is or
// holds the home folder or the project, or lies in the project.
func tooMuch(dir, home, project string) bool {
	return dir == "/" || home != "" && within(dir, home) || within(dir, project) || within(project, dir)
}
