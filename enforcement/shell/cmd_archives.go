package shell

import (
	"path"
	"slices"
	"strings"
)

// archives are the programs that pack, unpack and compress.
func archives() family {
	f := family{}
	f.add("tar gtar bsdtar", command{judge: tarJudge})
	f.add("unzip", command{judge: unzipJudge})
	f.add("zip", command{judge: zipJudge})
	f.add("zipinfo unrar-free lsar", command{})
	f.add("gzip pigz", command{judge: compress(".gz", "S")})
	f.add("gunzip unpigz", command{judge: expandFile(".gz", "S")})
	f.add("bzip2 pbzip2", command{judge: compress(".bz2", "")})
	f.add("bunzip2", command{judge: expandFile(".bz2", "")})
	f.add("xz", command{judge: compress(".xz", "STMF")})
	f.add("unxz", command{judge: expandFile(".xz", "STMF")})
	f.add("lzma", command{judge: compress(".lzma", "S")})
	f.add("compress", command{judge: compress(".Z", "b")})
	f.add("uncompress", command{judge: expandFile(".Z", "")})
	f.add("zstd lz4 brotli", command{judge: keepingCompressor})
	f.add("unzstd unlz4", command{judge: keepingCompressor})
	f.add("7z 7za 7zz 7zr", command{judge: sevenZip})
	f.add("cpio", command{judge: func(c *call) {
		p := optSpec{short: "CEFHIMORDW", long: "--file --directory --format"}.parse(c.args)
		c.unsureIf(p.has("--rsh-command"), "an option runs a command")
		switch {
		case p.has("-t", "--list"):
		case p.has("-i", "--extract", "-p", "--pass-through"):
			c.extracts(c.folder(p.values("-D", "--directory")))
			c.write(p.operands...)
		default:
			for _, v := range p.values("-O", "-F", "--file") {
				c.writeOut(v)
			}
		}
	}})
	f.add("ar gar llvm-ar", command{judge: func(c *call) {
		mode := strings.TrimPrefix(c.first(), "-")
		c.unsureIf(strings.HasPrefix(mode, "M") || c.given("--plugin"), "does what a script says, or loads code")
		if len(c.args) < 2 || mode == "" {
			return
		}
		switch {
		case strings.ContainsAny(mode[:1], "tp"):
		case strings.HasPrefix(mode, "x"):
			c.extracts(".")
		default:
			c.write(c.args[1])
		}
	}})
	f.add("jar", command{judge: jarJudge})
	f.add("unrar rar", command{judge: func(c *call) {
		switch c.first() {
		case "l", "lb", "lt", "v", "vb", "vt", "t", "p":
		default:
			c.extracts(".")
		}
	}})
	return f
}

// folder is the name of the last folder given, "." without one.
func (c *call) folder(dirs []arg) string {
	if len(dirs) == 0 {
		return "."
	}
	d := dirs[len(dirs)-1]
	if !d.known || d.guess {
		c.unsure("the folder is known only at run time")
		if dir, ok := d.folder(); ok {
			return dir
		}
		return "."
	}
	return d.val
}

// extracts records files whose names are in an archive.
func (c *call) extracts(folder string) {
	c.unsure("the names are in the archive")
	c.writeName(folder)
}

// tarJudge judges tar, whose first word may be options without a dash.
func tarJudge(c *call) {
	args := c.args
	if len(args) > 0 && args[0].known && args[0].val != "" && args[0].val[0] != '-' {
		args = oldTarOptions(args)
	}
	p := optSpec{short: "fCbgTXIFKLNVH", long: `--file --directory --exclude --exclude-from --files-from --transform --strip-components
		--use-compress-program --to-command --checkpoint-action --listed-incremental --volno-file --rsh-command --rmt-command --info-script
		--new-volume-script --owner --group --mode --mtime --format --index-file --newer --blocking-factor --label --warning --one-top-level`}.parse(args)
	for _, o := range p.opts {
		switch {
		case o.is([]string{"--to-command", "--rsh-command", "--rmt-command", "--info-script", "--new-volume-script", "-F", "--checkpoint-action"}):
			c.unsure("an option runs a command")
			c.text(arg{val: strings.TrimPrefix(o.value.val, "exec="), known: o.value.known})
		case o.is([]string{"-I", "--use-compress-program"}):
			c.compressor(o.value)
		case o.is([]string{"-g", "--listed-incremental", "--index-file", "--volno-file"}):
			c.write(o.value)
		}
	}
	if p.unsplit {
		c.unsure("its options are known only at run time")
	}
	switch {
	case p.has("-t", "--list", "-d", "--diff", "--compare", "--help", "--version"):
	case p.has("-x", "--extract", "--get"):
		if !p.has("-O", "--to-stdout", "--to-command") {
			c.extracts(c.folder(p.values("-C", "--directory", "--one-top-level")))
		}
	case p.has("-c", "-r", "-u", "-A", "--create", "--append", "--update", "--catenate", "--concatenate", "--delete"):
		c.readsTrees(append(p.operands, p.values("-C", "--directory")...))
		for _, v := range p.values("-f", "--file") {
			if !remote(v.val) || p.has("--force-local") {
				c.writeOut(v)
			}
		}
		if p.has("--remove-files") {
			c.write(p.operands...)
		}
	default:
		c.unsure("no mode that is known")
	}
}

// oldTarOptions rewrites "xzf a.tar" as "-x -z -f a.tar": the values of old
// options follow in the order of their letters.
func oldTarOptions(args []arg) []arg {
	var out []arg
	rest := args[1:]
	for _, letter := range args[0].val {
		out = append(out, arg{val: "-" + string(letter), known: true})
		if strings.ContainsRune("fCbgTXIFKLNVH", letter) && len(rest) > 0 {
			out = append(out, rest[0])
			rest = rest[1:]
		}
	}
	return append(out, rest...)
}

// compressor judges the program that tar packs with.
func (c *call) compressor(a arg) {
	name, _, _ := strings.Cut(a.val, " ")
	switch name {
	case "gzip", "pigz", "bzip2", "pbzip2", "xz", "zstd", "lz4", "zstdmt", "brotli", "lzma", "lzop":
		return
	}
	c.unsure("an option runs a command")
	c.text(a)
}

func unzipJudge(c *call) {
	p := optSpec{short: "dxP"}.parse(c.args)
	if p.has("-l", "-v", "-t", "-p", "-z", "-Z", "-c") {
		return
	}
	c.extracts(c.folder(p.values("-d")))
}

func zipJudge(c *call) {
	p := optSpec{short: "bntxiO", long: "--output-file --exclude --include --temp-path --suffixes"}.parse(c.args)
	c.unsureIf(p.has("-T", "--test", "--unzip-command"), "may run a command")
	c.unsureIf(slices.ContainsFunc(c.args, func(a arg) bool {
		return strings.HasPrefix(a.val, "-lf") || strings.HasPrefix(a.val, "-la") || strings.HasPrefix(a.val, "--log")
	}), "keeps a log")
	if p.has("-sf", "--show-files", "-T", "-h", "-v") && !p.has("-r") {
		return
	}
	if v, ok := p.last("-O", "--output-file"); ok {
		c.write(v)
		return
	}
	if len(p.operands) == 0 {
		return
	}
	c.readsTrees(p.operands[1:])
	target := p.operands[0]
	if target.known && target.val != "-" && path.Ext(target.val) == "" {
		target.val += ".zip"
	}
	c.writeOut(target)
	if p.has("-m", "--move") {
		c.write(p.operands[1:]...)
	}
}

func (c *call) unsureIf(cond bool, text string) {
	if cond {
		c.unsure(text)
	}
}

// compress is a program that replaces FILE by FILE with a suffix.
func compress(suffix, values string) judge {
	return func(c *call) {
		p := optSpec{short: values}.parse(c.args)
		c.unsureIf(p.has("--files", "--files0"), "its names are in a file")
		switch {
		case p.has("-c", "--stdout", "--to-stdout", "-t", "--test", "-l", "--list"):
		case p.has("-d", "--decompress", "--uncompress"):
			replaced(c, p, suffix, true)
		default:
			replaced(c, p, suffix, false)
		}
	}
}

// expandFile is a program that replaces a compressed FILE by FILE without its
// suffix.
func expandFile(suffix, values string) judge {
	return func(c *call) {
		p := optSpec{short: values}.parse(c.args)
		c.unsureIf(p.has("--files", "--files0"), "its names are in a file")
		if !p.has("-c", "--stdout", "--to-stdout", "-t", "--test", "-l", "--list") {
			replaced(c, p, suffix, true)
		}
	}
}

func replaced(c *call, p parsed, suffix string, expands bool) {
	if v, ok := p.last("-S"); ok {
		suffix = v.val
	}
	for _, a := range p.operands {
		if a.val == "-" {
			continue
		}
		if !p.has("-k", "--keep") || !a.known {
			c.write(a)
		}
		if !a.known {
			continue
		}
		name := a.val + suffix
		if expands {
			name = strings.TrimSuffix(a.val, path.Ext(a.val))
			if path.Ext(a.val) == ".tgz" {
				name += ".tar"
			}
		}
		c.write(arg{val: name, known: true, guess: a.guess})
	}
}

// keepingCompressor is zstd and its like: the input stays, -o names the output.
func keepingCompressor(c *call) {
	p := optSpec{short: "oDTM"}.parse(c.args)
	c.unsureIf(p.has("--filelist", "--output-dir-flat", "--output-dir-mirror", "--train*"), "its names are in a file, or made up")
	if p.has("-c", "--stdout", "-t", "--test", "-l", "--list", "-b") {
		return
	}
	if v, ok := p.last("-o"); ok {
		c.writeOut(v)
		return
	}
	for _, a := range p.operands {
		c.write(a)
	}
	if len(p.operands) > 0 {
		c.unsure("makes up the name of its output")
		c.writeName(parent(p.operands[0].val))
	}
}

func sevenZip(c *call) {
	folder := "."
	for _, a := range c.args {
		if v, ok := strings.CutPrefix(a.val, "-o"); ok && v != "" && a.known {
			folder = v
		}
		if a.val == "-so" {
			return
		}
	}
	switch c.first() {
	case "l", "t", "i", "h", "b", "":
	case "a", "u", "d", "rn":
		if c.flagged("-sdel") {
			c.write(c.args[1:]...)
			return
		}
		for _, a := range c.args[1:] {
			if !strings.HasPrefix(a.val, "-") {
				c.write(a)
				return
			}
		}
	default:
		c.extracts(folder)
	}
}

func jarJudge(c *call) {
	mode := strings.TrimPrefix(c.first(), "-")
	switch {
	case strings.Contains(mode, "t") && !strings.HasPrefix(mode, "-"):
	case strings.HasPrefix(mode, "x"):
		c.extracts(".")
	case strings.HasPrefix(mode, "c") || strings.HasPrefix(mode, "u"):
		if strings.Contains(mode, "f") && len(c.args) > 1 {
			c.write(c.args[1])
		}
	default:
		c.unsure("no mode that is known")
	}
}
