package glyph

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// slow is what a block has to say, byte by byte.
func slow(text string) (b Block) {
	for i := range min(len(text), BlockBytes) {
		bit := uint64(1) << i
		for set, has := range map[*uint64]bool{
			&b.Letter:     strings.IndexByte("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ", text[i]) >= 0,
			&b.Number:     strings.IndexByte("0123456789", text[i]) >= 0,
			&b.Wide:       text[i] >= 0x80,
			&b.Underscore: text[i] == '_',
		} {
			if has {
				*set |= bit
			}
		}
	}
	return b
}

func check(t interface{ Fatalf(string, ...any) }, text string) {
	for at := 0; at < len(text); at += 7 {
		var b Block
		if b.Read(text, at); b != slow(text[at:]) {
			t.Fatalf("the block at %d of %q is\n%b, not\n%b", at, text, b, slow(text[at:]))
		}
	}
}

func TestEveryByteIsOfItsKind(t *testing.T) {
	all := make([]byte, 256)
	for b := range all {
		all[b] = byte(b)
	}
	check(t, string(all))
	rapid.Check(t, func(t *rapid.T) {
		check(t, string(rapid.SliceOfN(rapid.Byte(), 0, 200).Draw(t, "text")))
	})
}
