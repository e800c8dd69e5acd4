// Package cosign is what waits for a second person's approval, as a file that travels
// to a machine which has neither the project nor its log.
//
// It guarantees that who signs it signs what they were shown: the fingerprint is
// computed from the contents in the file, and it holds no other. It signs nothing
// itself.
package cosign

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/schemas/digest"
)

// ErrForm is returned for what is no such file.
var ErrForm = errors.New("no request of writ approve second ask")

// Request is what waits in a session, with all that would be approved.
type Request struct {
	Session string `json:"session"`
	Gate    string `json:"gate"`
	Wish    string `json:"wish,omitempty"`
	Second  string `json:"second,omitempty"` // who approved it, and whose approval it waits for
	Files   []File `json:"files"`
}

// File is a file as it would be approved.
type File struct {
	Path    string `json:"path"`
	Content string `json:"content"`
}

// Of is the request for an offer, whose files read reads. What changed since it was
// offered is an error.
func Of(o schemas.GateOffer, read func(path string) ([]byte, error)) (Request, error) {
	r := Request{Session: o.Session, Gate: o.Gate, Wish: o.Wish, Second: o.Second}
	for _, f := range o.Files {
		content, err := read(f.Path)
		if err != nil {
			return r, err
		}
		if !utf8.Valid(content) {
			return r, fmt.Errorf("%s is no text, and nobody can be shown it", f.Path)
		}
		r.Files = append(r.Files, File{f.Path, string(content)})
	}
	if len(r.Files) == 0 || r.Fingerprint() != o.Fingerprint {
		return r, errors.New("the files changed since they were read; ask again")
	}
	return r, nil
}

// Read reads a request.
func Read(raw []byte) (r Request, err error) {
	if err := json.Unmarshal(raw, &r); err != nil {
		return r, fmt.Errorf("%w: %w", ErrForm, err)
	}
	if r.Session == "" || len(r.Files) == 0 || !slices.Contains([]string{"plan", "tests", "implementation"}, r.Gate) {
		return r, ErrForm
	}
	return r, nil
}

// Fingerprint is that of the contents in it.
func (r Request) Fingerprint() string {
	var states []schemas.FileState
	for _, f := range r.Files {
		states = append(states, schemas.FileState{Path: f.Path, SHA256: digest.Hex(f.Content)})
	}
	return schemas.Fingerprint(states)
}

// Act is what is signed.
func (r Request) Act() schemas.GateApproved {
	return schemas.GateApproved{Gate: r.Gate, Fingerprint: r.Fingerprint()}
}

// Text is the whole of it for people.
func (r Request) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "The %s of session %s, fingerprint %.13s\n", r.Gate, r.Session, r.Fingerprint())
	for _, line := range []string{r.Wish, r.Second} {
		if line != "" {
			fmt.Fprintf(&b, "%s\n", line)
		}
	}
	for _, f := range r.Files {
		fmt.Fprintf(&b, "\n== %s ==\n%s\n", f.Path, strings.TrimSuffix(f.Content, "\n"))
	}
	return b.String()
}
