package shell

import (
	"path"
	"strings"
)

// tarJudge judges tar, whose first word may be options without a dash.
func tarJudge(r *reading) {
	c := r.call
	args := c.args
	if len(args) > 0 && args[0].known && args[0].val != "" && args[0].val[0] != '-' {
		args = oldTarOptions(args)
	}
	p := r.entry.takes.parse(args)
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
	c.unsureIf(p.unsplit, "its options are known only at run time")
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

// zippedJudge records the archive that zip writes.
func zippedJudge(r *reading) {
	target := r.p.operands[0]
	if target.known && target.val != "-" && path.Ext(target.val) == "" {
		target.val += ".zip"
	}
	r.writeOut(target)
}

// sevenZipJudge records the archive that 7z changes.
func sevenZipJudge(r *reading) {
	for _, a := range r.args[1:] {
		if !strings.HasPrefix(a.val, "-") {
			r.write(a)
			return
		}
	}
}
