package memory

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/writbus/writ/observer/observation"
	"github.com/writbus/writ/schemas/atomicfile"
)

const (
	// keyHead begins the file. Persisted; never change. An entry of a file
	// without it has no sum.
	keyHead  = "writ keys of observations, sums\n"
	keyName  = 16
	keyBare  = keyName + observation.KeyBytes // an entry without its sum
	keySum   = 8
	keyEntry = keyBare + keySum
	// keysRestore, behind the file's name, is a copy from a backup, from which
	// damaged entries are taken.
	keysRestore = ".restore"
)

// sumOfKey is the beginning of the SHA-256 of an entry's name and key.
func sumOfKey(bare []byte) []byte {
	sum := sha256.Sum256(bare)
	return sum[:keySum]
}

func withSum(bare []byte) []byte { return append(slices.Clone(bare), sumOfKey(bare)...) }

func sumHolds(entry []byte) bool { return bytes.Equal(entry[keyBare:], sumOfKey(entry[:keyBare])) }

// entriesOf are the whole entries in the content of a file, each with a sum,
// and whether they had one there. What a crash tore at the end is left out:
// nothing was sealed with it.
func entriesOf(raw []byte) (entries [][]byte, summed bool) {
	if !hasSums(raw) {
		for ; len(raw) >= keyBare; raw = raw[keyBare:] {
			entries = append(entries, withSum(raw[:keyBare]))
		}
		return entries, false
	}
	for raw = raw[len(keyHead):]; len(raw) >= keyEntry; raw = raw[keyEntry:] {
		entries = append(entries, raw[:keyEntry:keyEntry])
	}
	for len(entries) > 0 && bytes.Equal(entries[len(entries)-1][keyBare:], make([]byte, keySum)) {
		entries = entries[:len(entries)-1]
	}
	return entries, true
}

// hasSums says whether a file's entries have sums: it says so, or, where its
// head is damaged, one of them holds.
func hasSums(raw []byte) bool {
	if bytes.HasPrefix(raw, []byte(keyHead)) {
		return true
	}
	for at := len(keyHead); at+keyEntry <= len(raw); at += keyEntry {
		if sumHolds(raw[at : at+keyEntry]) {
			return true
		}
	}
	return false
}

// mended is an entry with the one byte put right that a flip changed, nil where
// more than one is wrong. The sum is long enough that no other entry holds.
func mended(entry []byte) []byte {
	if right := withSum(entry[:keyBare]); differing(right, entry) == 1 {
		return right
	}
	try := slices.Clone(entry)
	for i := range keyBare {
		for range 256 {
			if try[i]++; sumHolds(try) {
				return try
			}
		}
	}
	return nil
}

func differing(a, b []byte) (n int) {
	for i := range a {
		if a[i] != b[i] {
			n++
		}
	}
	return n
}

// mendKeys puts entries right whose sum does not hold, where one byte is wrong
// or the copy of a backup has them, and writes the file anew if anything in it
// changes. It returns the file's entries, some of which may still be damaged,
// and what a person has to know.
func mendKeys(path string, raw []byte) (entries [][]byte, told []string, err error) {
	entries, summed := entriesOf(raw)
	flipped, damaged := 0, []int{}
	for i, entry := range entries {
		if sumHolds(entry) {
			continue
		}
		if right := mended(entry); right != nil {
			entries[i] = right
			flipped++
		} else {
			damaged = append(damaged, i)
		}
	}
	had := len(entries)
	entries, left, read, told, err := takeKeys(path, entries, damaged)
	if err != nil {
		return nil, nil, err
	}
	if summed && !bytes.HasPrefix(raw, []byte(keyHead)) {
		flipped++
	}
	if flipped > 0 {
		told = append(told, fmt.Sprintf("%s was damaged (wrong bytes: %d) and is mended: nothing of it is lost. Check the disk", path, flipped))
	}
	if !summed || flipped > 0 || left < len(damaged) || len(entries) > had {
		content := append([]byte(keyHead), bytes.Join(entries, nil)...)
		if err := atomicfile.Write(path, content, 0o600); err != nil {
			return nil, nil, err
		}
	}
	if left > 0 {
		told = append(told, fmt.Sprintf("%s has damaged entries (%d of %d): the observations that they seal cannot be read, all others can. Copy memory.keys from a backup to %s and restart the daemon: it takes these entries from there, and no others", path, left, len(entries), path+keysRestore))
	}
	if read {
		err = os.Remove(path + keysRestore) // it holds keys that may have been erased since
	}
	return entries, told, err
}

// takeKeys takes damaged and missing entries from the copy of a backup, and returns how
// many damaged ones are left and whether there is a copy of this file. An entry never
// changes its place, so that the copy is of the same file if all names agree that can be
// read; what is missing is known by its name. A key that was erased here stays erased.
func takeKeys(path string, entries [][]byte, damaged []int) (all [][]byte, left int, read bool, told []string, err error) {
	raw, err := os.ReadFile(path + keysRestore)
	if errors.Is(err, fs.ErrNotExist) {
		return entries, len(damaged), false, nil, nil
	}
	if err != nil {
		return nil, 0, false, nil, err
	}
	backup, _ := entriesOf(raw)
	names, agree := map[[keyName]byte]bool{}, true
	for i, entry := range entries {
		names[[keyName]byte(entry)] = true
		agree = agree && (i >= len(backup) || !sumHolds(backup[i]) || !sumHolds(entry) || bytes.Equal(backup[i][:keyName], entry[:keyName]))
	}
	taken := 0
	for i, entry := range backup {
		if (agree || len(damaged) == 0) && sumHolds(entry) && !wasErased(entry) && !slices.Contains(damaged, i) && !names[[keyName]byte(entry)] {
			entries = append(entries, entry)
			taken++
		}
	}
	if !agree && taken == 0 {
		return entries, len(damaged), false, []string{path + keysRestore + " is no copy of " + path + ": nothing was taken from it"}, nil
	}
	for _, i := range damaged {
		switch {
		case i >= len(backup) || !sumHolds(backup[i]):
			left++
			continue
		case wasErased(entries[i]):
			entries[i] = withSum(append(slices.Clone(backup[i][:keyName]), make([]byte, observation.KeyBytes)...))
		default:
			entries[i] = backup[i]
		}
		taken++
	}
	if taken > 0 {
		told = append(told, fmt.Sprintf("damaged or missing entries of %s were taken from %s (%d)", path, path+keysRestore, taken))
	}
	return entries, left, true, told, nil
}

// wasErased says whether a damaged entry is of an erased key: half of a random one is
// never zeros.
func wasErased(entry []byte) bool {
	return bytes.Count(entry[keyName:keyBare], []byte{0}) > observation.KeyBytes/2
}
