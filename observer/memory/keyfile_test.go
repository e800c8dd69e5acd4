package memory

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/writbus/writ/observer/observation"
	"github.com/writbus/writ/schemas"
)

// keyFile is a file with keys of three observations, one of them erased.
func keyFile(t *testing.T) (path string, all []schemas.ObservationKey, made [][]byte) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "memory.keys")
	k, err := openKeys(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		all = append(all, schemas.ObservationKey{Scope: "s", ID: fmt.Sprint(i)})
	}
	if made, err = k.make(all); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(k.erase(all[1]), k.close()); err != nil {
		t.Fatal(err)
	}
	return path, all, made
}

// reopened are the keys of a file that holds a content, and what is told of it.
func reopened(t *testing.T, path string, content []byte) (*keys, string) {
	t.Helper()
	put(t, path, string(content))
	k, err := openKeys(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = k.file.Close() })
	return k, strings.Join(k.told, "; ")
}

// holds reports whether the keys are those of keyFile.
func holds(k *keys, all []schemas.ObservationKey, made [][]byte) bool {
	for i, o := range all {
		key, err := k.get(o)
		if i == 1 && !errors.Is(err, errForgotten) || i != 1 && !bytes.Equal(key, made[i]) {
			return false
		}
	}
	return true
}

func TestOneWrongByteOfTheKeysIsMended(t *testing.T) {
	path, all, made := keyFile(t)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for at := range whole {
		content := bytes.Clone(whole)
		content[at] ^= 1 << (at % 8)
		k, told := reopened(t, path, content)
		if !holds(k, all, made) || !strings.Contains(told, "is mended") {
			t.Fatalf("byte %d: told %q, keys %v", at, told, holds(k, all, made))
		}
		if after, err := os.ReadFile(path); !bytes.Equal(after, whole) {
			t.Fatalf("byte %d: the file is not what it was: %v", at, err)
		}
	}
	if k, told := reopened(t, path, whole); told != "" || !holds(k, all, made) {
		t.Errorf("a whole file: %q", told)
	}
}

func TestDamagedKeysAreToldAndTakenFromABackup(t *testing.T) {
	path, all, made := keyFile(t)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	last := len(keyHead) + 2*keyEntry
	damaged := bytes.Clone(whole)
	for i := range keyBare {
		damaged[last+i] ^= byte(i) // the name partly, the key wholly
	}
	k, told := reopened(t, path, damaged)
	if _, err := k.get(all[0]); err != nil || !strings.Contains(told, "(1 of 3)") || !strings.Contains(told, path+".restore") {
		t.Fatalf("told %q; another key: %v", told, err)
	}
	if _, err := k.get(schemas.ObservationKey{Scope: "s", ID: "none"}); !errors.Is(err, errNoKey) {
		t.Errorf("a key that nobody made: %v", err)
	}
	fresh := schemas.ObservationKey{Scope: "s", ID: "fresh"}
	if _, err := k.make([]schemas.ObservationKey{fresh}); err != nil {
		t.Errorf("beside a damaged key none is made: %v", err)
	}
	grown, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}

	other, _, _ := keyFile(t)
	foreign, err := os.ReadFile(other)
	if err != nil {
		t.Fatal(err)
	}
	foreign[len(keyHead)] ^= 0xff
	copy(foreign[len(keyHead):], withSum(foreign[len(keyHead):len(keyHead)+keyBare]))
	put(t, path+".restore", string(foreign))
	if _, told := reopened(t, path, grown); !strings.Contains(told, "is no copy of") || !strings.Contains(told, "(1 of 4)") {
		t.Errorf("a copy of another file: %q", told)
	}

	put(t, path+".restore", string(whole))
	k, told = reopened(t, path, grown)
	if !holds(k, all, made) || !strings.Contains(told, ".restore (1)") || strings.Contains(told, "cannot be read") {
		t.Errorf("after the remedy: %q", told)
	}
	if _, err := k.get(fresh); err != nil {
		t.Errorf("the remedy cost a younger key: %v", err)
	}
	if _, err := os.Stat(path + ".restore"); err == nil {
		t.Error("the copy is still there, with keys that may be erased")
	}
}

func TestADamagedKeyIsForgottenAndNotReplaced(t *testing.T) {
	path, all, made := keyFile(t)
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	raw[len(keyHead)] ^= 1 // in the name of the first
	raw[len(keyHead)+1] ^= 1
	k, _ := reopened(t, path, raw)
	if _, err := k.get(all[0]); !errors.Is(err, errDamagedKey) || !unreadable(err) {
		t.Errorf("read: %v", err)
	}
	if _, err := k.make(all[:1]); !errors.Is(err, errDamagedKey) {
		t.Errorf("another key is made: %v", err)
	}
	if err := k.erase(all[0]); err != nil {
		t.Fatal(err)
	}
	after, err := os.ReadFile(path)
	if err != nil || bytes.Contains(after, made[0]) || len(after) != len(raw) {
		t.Errorf("the key that is forgotten is still there: %v", err)
	}
	if k, told := reopened(t, path, after); told != "" || !errors.Is(second(k.get(all[0])), errForgotten) {
		t.Errorf("after that: %q", told)
	}
}

func second(_ []byte, err error) error { return err }

func TestKeysWithoutSumsAreBroughtForward(t *testing.T) {
	path, all, made := keyFile(t)
	var bare []byte
	for i, o := range all {
		name, key := nameOfKey(o), made[i]
		if i == 1 {
			key = make([]byte, observation.KeyBytes)
		}
		bare = append(append(bare, name[:]...), key...)
	}
	k, told := reopened(t, path, append(bare, "torn"...))
	if !holds(k, all, made) || told != "" {
		t.Fatalf("told %q", told)
	}
	after, err := os.ReadFile(path)
	if err != nil || !bytes.HasPrefix(after, []byte(keyHead)) {
		t.Errorf("the file has no sums: %v", err)
	}
	if k, told := reopened(t, path, after); !holds(k, all, made) || told != "" {
		t.Errorf("opened again: %q", told)
	}
	// What a power cut left of entries that were never durable.
	if k, told := reopened(t, path, append(after, make([]byte, 2*keyEntry)...)); !holds(k, all, made) || told != "" {
		t.Errorf("after a power cut: %q", told)
	}
}

func TestAnErasedKeyIsNotTakenFromABackup(t *testing.T) {
	path, all, made := keyFile(t)
	erased, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	at := -1 // of the erased one
	for i := len(keyHead); i < len(erased); i += keyEntry {
		if wasErased(erased[i : i+keyEntry]) {
			at = i
		}
	}
	if at < 0 {
		t.Fatal("none is erased")
	}
	older := slices.Clone(erased)
	copy(older[at:], withSum(append(slices.Clone(erased[at:at+keyName]), bytes.Repeat([]byte{7}, keyBare-keyName)...)))
	damaged := slices.Clone(erased)
	damaged[at+keyName] ^= 0x55
	damaged[at+keyName+1] ^= 0x55
	put(t, path+".restore", string(older))
	k, told := reopened(t, path, damaged)
	if !holds(k, all, made) {
		t.Errorf("the keys are not as they were: %q", told)
	}
	after, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(after, erased) {
		t.Errorf("the file holds an erased key: %v", err)
	}
	put(t, path+".restore", string(older))
	reopened(t, path, erased)
	if _, err := os.Stat(path + ".restore"); err == nil {
		t.Error("a copy that nothing is taken from is still there, with an erased key")
	}
}

func TestMissingKeysAreTakenFromABackup(t *testing.T) {
	path, all, made := keyFile(t)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(t.TempDir(), "memory.keys")
	k, err := openKeys(other)
	if err == nil {
		_, err = k.make([]schemas.ObservationKey{{Scope: "other", ID: "a"}, {Scope: "other", ID: "b"}, {Scope: "other", ID: "c"}, {Scope: "other", ID: "d"}})
	}
	if err := errors.Join(err, k.close()); err != nil {
		t.Fatal(err)
	}
	foreign, err := os.ReadFile(other)
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{"none": nil, "one": whole[:len(keyHead)+keyEntry], "those of another log": foreign} {
		put(t, path+".restore", string(whole))
		k, told := reopened(t, path, content)
		if !strings.Contains(told, ".restore (") {
			t.Errorf("%s: told %q", name, told)
		}
		for i, o := range all {
			if key, err := k.get(o); i != 1 && !bytes.Equal(key, made[i]) || i == 1 && !errors.Is(err, errNoKey) {
				t.Errorf("%s: key %d: %v", name, i, err)
			}
		}
		if _, err := os.Stat(path + ".restore"); err == nil {
			t.Errorf("%s: the copy is still there", name)
		}
	}
}

// TestLostKeysAreToldAndComeBack: a file of keys that was removed is told of, with a remedy
// that brings back all but what was forgotten since the copy was made.
func TestLostKeysAreToldAndComeBack(t *testing.T) {
	data := t.TempDir()
	path := filepath.Join(data, "memory.keys")
	d, shut := inside(t, data)
	observed(t, d, schemas.Observation{ID: "kept", Scope: "s", Input: []byte("[gate=allow] the build needs Go 1.26")},
		schemas.Observation{ID: "forgotten", Scope: "s", Input: []byte("[gate=allow] the tests need Node 22")})
	copied, err := os.ReadFile(path)
	check(t, err)
	_, err = d.forget(t.Context(), schemas.MemoryForgetRequest{ID: "forgotten", Scope: "s", Reason: "a test"})
	check(t, err)
	shut()
	check(t, os.Remove(path))
	d, shut = inside(t, data)
	if said := <-d.warned; !strings.Contains(said, "(1)") || !strings.Contains(said, path+".restore") {
		t.Errorf("told %q", said)
	}
	shut()
	put(t, path+".restore", string(copied))
	d, _ = inside(t, data)
	page, err := d.export(t.Context(), schemas.MemoryExportRequest{})
	check(t, err)
	_, err = d.upToDate(t.Context())
	check(t, err)
	for _, item := range page.Items {
		if (item.Text == "") == (item.ObservationID == "kept") {
			t.Errorf("%s says %q", item.ObservationID, item.Text)
		}
	}
	if _, err := d.kept.keys.get(schemas.ObservationKey{Scope: "s", ID: "forgotten"}); !errors.Is(err, errForgotten) {
		t.Errorf("the key of what was forgotten: %v", err)
	}
}

// TestForgottenKeysOfACopyAreErasedAgain: a copy from before something was forgotten, in
// one of two scopes and by session, that is put back again and again, whether or not the
// daemon ended before it looked, leaves no key of it in any file.
func TestForgottenKeysOfACopyAreErasedAgain(t *testing.T) {
	data := t.TempDir()
	path := filepath.Join(data, "memory.keys")
	d, shut := inside(t, data)
	observed(t, d, schemas.Observation{ID: "same", Scope: "one", Input: []byte("[gate=allow] the build needs Go 1.26")},
		schemas.Observation{ID: "same", Scope: "two", Input: []byte("[gate=allow] the tests need Node 22")},
		schemas.Observation{ID: "third", Scope: "two", Input: []byte("[gate=allow] the linter needs a cache")})
	copied, err := os.ReadFile(path)
	check(t, err)
	_, err = d.forget(t.Context(), schemas.MemoryForgetRequest{ID: "same", Scope: "one", Reason: "a test"})
	check(t, err)
	n, err := ForgetAll(t.Context(), d.Service, "a test", func(o schemas.ObservationKey, _ string) bool { return o.ID == "third" })
	check(t, err)
	if n != 1 {
		t.Fatalf("%d forgotten", n)
	}
	shut()
	for _, mendedOnly := range []bool{true, false} {
		check(t, os.Remove(path))
		put(t, path+".restore", string(copied))
		if mendedOnly { // and killed before the index was read
			k, err := openKeys(path)
			check(t, errors.Join(err, k.close()))
		}
		d, shut := inside(t, data)
		_, err = d.upToDate(t.Context())
		check(t, err)
		for o, kept := range map[schemas.ObservationKey]bool{{Scope: "one", ID: "same"}: false, {Scope: "two", ID: "same"}: true, {Scope: "two", ID: "third"}: false} {
			if _, err := d.kept.keys.get(o); kept && err != nil || !kept && !errors.Is(err, errForgotten) {
				t.Errorf("the key of %v: %v", o, err)
			}
		}
		shut()
		now, err := os.ReadFile(path)
		check(t, err)
		old, _ := entriesOf(copied)
		for i, entry := range old {
			if o := nameOfKey(schemas.ObservationKey{Scope: "two", ID: "same"}); bytes.Equal(entry[:keyName], o[:]) {
				continue
			}
			if bytes.Contains(now, entry[keyName:keyBare]) {
				t.Errorf("key %d is back", i)
			}
		}
		if _, err := os.Stat(path + ".restore"); err == nil {
			t.Error("the copy is still there")
		}
	}
}
