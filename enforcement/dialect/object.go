package dialect

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// fields reads the keys of an object; each gets the key's full name and value.
type fields map[string]func(key string, raw json.RawMessage) error

// readObject reads one JSON object strictly: each key is known, stands once, and
// nothing follows. key is the object's own full name, "" for the outermost.
func readObject(key string, raw json.RawMessage, known fields) error {
	dec := json.NewDecoder(bytes.NewReader(raw))
	if token, err := dec.Token(); err != nil || token != json.Delim('{') {
		return wrong(key, "an object", raw)
	}
	seen := map[string]bool{}
	for dec.More() {
		token, err := dec.Token()
		if err != nil {
			return malformed(key, err)
		}
		name, _ := token.(string)
		full := name
		if key != "" {
			full = key + "." + name
		}
		read := known[name]
		switch {
		case read == nil:
			return fmt.Errorf("%s: unknown key; take it out", full)
		case seen[name]:
			return fmt.Errorf("%s: stands twice; keep one", full)
		}
		seen[name] = true
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return malformed(full, err)
		}
		if err := read(full, value); err != nil {
			return err
		}
	}
	if _, err := dec.Token(); err != nil {
		return malformed(key, err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return errors.New("something follows the object; take it out")
	}
	return nil
}

func malformed(key string, err error) error {
	if key == "" {
		return fmt.Errorf("no JSON: %w", err)
	}
	return fmt.Errorf("%s: no JSON: %w", key, err)
}

func wrong(key, want string, raw json.RawMessage) error {
	if key == "" {
		return fmt.Errorf("%s is needed", want)
	}
	return fmt.Errorf("%s: %s is needed, not %s", key, want, kindOf(raw))
}

func kindOf(raw json.RawMessage) string {
	if len(raw) == 0 {
		return "nothing"
	}
	switch raw[0] {
	case '{':
		return "an object"
	case '[':
		return "an array"
	case '"':
		return "a string"
	case 't', 'f':
		return "a boolean"
	case 'n':
		return "null"
	default:
		return "a number"
	}
}

// into reads a value of one JSON type; want names it. encoding/json lets null
// pass as any of them.
func into[T any](to *T, want string) func(string, json.RawMessage) error {
	return func(key string, raw json.RawMessage) error {
		if kindOf(raw) == "null" || json.Unmarshal(raw, to) != nil {
			return wrong(key, want, raw)
		}
		return nil
	}
}

func text(to *string) func(string, json.RawMessage) error { return into(to, "a string") }

func flag(to *bool) func(string, json.RawMessage) error { return into(to, "a boolean") }

// count reads a whole number that is not negative.
func count(to *int) func(string, json.RawMessage) error {
	return func(key string, raw json.RawMessage) error {
		const limit = 1 << 31
		if kindOf(raw) != "a number" || json.Unmarshal(raw, to) != nil || *to < 0 || *to > limit {
			return wrong(key, "a whole number from 0 to 2147483648", raw)
		}
		return nil
	}
}

// texts reads an array of strings; the result is never nil.
func texts(to *[]string) func(string, json.RawMessage) error {
	return func(key string, raw json.RawMessage) error {
		var values []json.RawMessage
		if kindOf(raw) == "null" || json.Unmarshal(raw, &values) != nil {
			return wrong(key, "an array of strings", raw)
		}
		*to = make([]string, len(values))
		for i, value := range values {
			if err := text(&(*to)[i])(fmt.Sprintf("%s[%d]", key, i), value); err != nil {
				return err
			}
		}
		return nil
	}
}
