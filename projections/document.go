package projections

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"iter"

	"github.com/writbus/writ/schemas"
)

// getter is the reading half of View and Reader.
type getter interface {
	Get(key []byte) (value []byte, found bool, err error)
}

// scanner is the other.
type scanner interface {
	Scan(prefix []byte) iter.Seq2[Entry, error]
}

// contents is both.
type contents interface {
	getter
	scanner
}

// getDocument reads a JSON value of a view.
func getDocument[T any](from getter, key []byte) (doc T, found bool, err error) {
	value, found, err := from.Get(key)
	if err != nil || !found {
		return doc, false, err
	}
	if err := json.Unmarshal(value, &doc); err != nil {
		return doc, false, fmt.Errorf("projections: value of %q: %w", key, err)
	}
	return doc, true, nil
}

func setDocument(to View, key []byte, doc any) error {
	value, err := json.Marshal(doc)
	if err != nil {
		return fmt.Errorf("projections: value of %q: %w", key, err)
	}
	return to.Set(key, value)
}

// documents reads every JSON value under a prefix, in the order of the keys.
func documents[T any](from scanner, prefix []byte) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for e, err := range from.Scan(prefix) {
			var doc T
			if err == nil {
				if err = json.Unmarshal(e.Value, &doc); err != nil {
					err = fmt.Errorf("projections: value of %q: %w", e.Key, err)
				}
			}
			if !yield(doc, err) || err != nil {
				return
			}
		}
	}
}

func collect[T any](r Reader, prefix []byte) ([]T, error) {
	var all []T
	for doc, err := range documents[T](r, prefix) {
		if err != nil {
			return nil, err
		}
		all = append(all, doc)
	}
	return all, nil
}

// idKey is a key of a view: a letter for the kind of value, then ids. An id is
// written as a subject token, so that any bytes can stand in it and "/" can
// not.
func idKey(kind byte, ids ...string) []byte { return appendIDKey(nil, kind, ids...) }

func appendIDKey(key []byte, kind byte, ids ...string) []byte {
	key = append(key, kind)
	for _, id := range ids {
		key = append(append(key, '/'), schemas.EncodeToken(id)...)
	}
	return key
}

// idPrefix is the prefix of all keys of a kind below some ids.
func idPrefix(kind byte, ids ...string) []byte { return append(idKey(kind, ids...), '/') }

// ordinal appends a number so that keys order as numbers do.
func ordinal(prefix []byte, n uint64) []byte { return binary.BigEndian.AppendUint64(prefix, n) }
