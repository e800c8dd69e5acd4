package worktree

import (
	"bytes"
	"encoding/binary"
	"io/fs"
	"os"
	"path/filepath"
)

// indexed is what git's index says about a file: its content, and how the file
// looked when git last compared the two.
type indexed struct {
	oid          oid
	size         uint32
	mtime, ctime int64 // nanoseconds
	racy         bool  // written as late as the index itself: it may have changed since
}

// clean reports whether a file is as git knows it.
func (e indexed) clean(s stamp) bool {
	return !e.racy && e.size == uint32(s.size) && e.mtime == s.mtime && (s.ctime == 0 || e.ctime == s.ctime)
}

// Sizes in git's index, see gitformat-index.
const (
	indexHeader   = 12
	indexFixed    = 62 // of an entry with SHA-1 names, before its path
	indexMaxCount = 5_000_000
)

// readIndex reads git's index. One that is missing, of a form not known here,
// or damaged, tells nothing about any file, so that contents count instead.
func readIndex(gitDir string) map[string]indexed {
	entries, _ := readWholeIndex(gitDir)
	return entries
}

// readWholeIndex also returns what follows the entries: the index's extensions.
func readWholeIndex(gitDir string) (entries map[string]indexed, extensions []byte) {
	file := filepath.Join(gitDir, "index")
	raw, err := os.ReadFile(file)
	if err != nil {
		return nil, nil
	}
	info, err := os.Stat(file)
	if err != nil {
		return nil, nil
	}
	if config, err := os.ReadFile(filepath.Join(gitDir, "config")); err == nil && bytes.Contains(bytes.ToLower(config), []byte("objectformat")) {
		return nil, nil
	}
	entries, extensions, ok := parseIndex(raw, info.ModTime().UnixNano())
	if !ok {
		return nil, nil
	}
	return entries, extensions
}

// parseIndex reads an index of version 2 to 4. written is when the file was,
// in nanoseconds; what follows the entries is returned as it is.
func parseIndex(raw []byte, written int64) (entries map[string]indexed, extensions []byte, ok bool) {
	if len(raw) < indexHeader || !bytes.HasPrefix(raw, []byte("DIRC")) {
		return nil, nil, false
	}
	version, count := binary.BigEndian.Uint32(raw[4:]), binary.BigEndian.Uint32(raw[8:])
	if version < 2 || version > 4 || count > indexMaxCount || int(count) > len(raw)/indexFixed {
		return nil, nil, false
	}
	entries = make(map[string]indexed, count)
	rest := raw[indexHeader:]
	var last []byte
	for range count {
		if len(rest) < indexFixed {
			return nil, nil, false
		}
		u32 := func(at int) int64 { return int64(binary.BigEndian.Uint32(rest[at:])) }
		e := indexed{ctime: u32(0)*1e9 + u32(4), mtime: u32(8)*1e9 + u32(12), size: uint32(u32(36)), oid: oid(rest[40:60])}
		e.racy = e.mtime >= written
		flags, fixed := binary.BigEndian.Uint16(rest[60:]), indexFixed
		if flags&0x4000 != 0 {
			fixed += 2
		}
		if len(rest) < fixed {
			return nil, nil, false
		}
		name, next, ok := indexName(rest, fixed, version, last)
		if !ok {
			return nil, nil, false
		}
		// Entries of an unsettled merge stand for no one content.
		if stage := flags >> 12 & 3; stage == 0 && fs.ValidPath(string(name)) {
			entries[string(name)] = e
		}
		last, rest = name, rest[next:]
	}
	return entries, rest, true
}

// indexName reads the path of an entry and where the next one begins. Version 4
// gives what to cut off the last path and what to add; older ones pad entries
// to eight bytes.
func indexName(entry []byte, fixed int, version uint32, last []byte) (name []byte, next int, ok bool) {
	at := fixed
	if version == 4 {
		cut, n := offset(entry[at:])
		if n == 0 || cut > len(last) {
			return nil, 0, false
		}
		at += n
		name = last[:len(last)-cut]
	}
	end := bytes.IndexByte(entry[at:], 0)
	if end < 0 {
		return nil, 0, false
	}
	name = append(name[:len(name):len(name)], entry[at:at+end]...)
	next = at + end + 1
	if version < 4 {
		next = (at + end + 8) &^ 7
	}
	return name, next, next <= len(entry)
}

// offset reads git's variable-length number and its length, 0 for none.
func offset(raw []byte) (value, n int) {
	for i, b := range raw {
		if i > 4 {
			return 0, 0
		}
		if i > 0 {
			value++
		}
		value = value<<7 | int(b&0x7f)
		if b&0x80 == 0 {
			return value, i + 1
		}
	}
	return 0, 0
}
