package hubcopies

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/writbus/writ/projections/audit/evidence"
	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/schemas/lazyregexp"
)

// Copy is what leaves of an event.
type Copy struct {
	Stream schemas.Stream `json:"stream"`
	Seq    uint64         `json:"seq"`            // of its record
	Part   int            `json:"part,omitempty"` // of a record with several events
	Event  string         `json:"event"`
	Type   schemas.Type   `json:"type"`
	On     string         `json:"on"` // session or rule
	Time   time.Time      `json:"time"`
	Who    string         `json:"who,omitempty"` // person, agent, writ or import
	Data   any            `json:"data"`
	// Nonce keeps the hash of a copy from being guessed: only who has the copy has it.
	Nonce string `json:"nonce"`
}

// Copier draws copies. It is not safe for concurrent use.
type Copier struct {
	// Clean takes secrets out of a text.
	Clean func(text string) string
	// Secret is what nonces are drawn with; nobody else has it.
	Secret []byte
	// fields of each kind
	fields map[schemas.Type][]string
}

// What stands for a path that lies in no project, and for a text that is not of the
// form that its field has.
const (
	outside = "(outside of the project)"
	unlike  = "(left out)"
)

// forms are what texts of a field look like, by the last part of its name. Those of
// others are ids, and paths within a repository.
var forms = func() map[string]*lazyregexp.Regexp {
	all := map[string]*lazyregexp.Regexp{}
	for form, fields := range map[*lazyregexp.Regexp]string{
		lazyregexp.New(`^[0-9a-f]{7,64}$`):              "sha256 fingerprint result was is first_commit",
		lazyregexp.New(`^[A-Z][A-Z0-9]*(-[A-Z0-9]+)+$`): "rule",
		lazyregexp.New(`^[a-z][a-z_-]{0,31}$`):          "mode phase next_phase verdict gate channel assurance class effect from to change kind trigger outcome source subagents confidence host",
	} {
		for field := range strings.FieldsSeq(fields) {
			all[field] = form
		}
	}
	return all
}()

// Copies appends what leaves of a record's events.
func (c *Copier) Copies(to []Copy, r schemas.Record) ([]Copy, error) {
	if c.fields == nil {
		c.fields = map[schemas.Type][]string{}
		for _, k := range Kinds() {
			c.fields[k.Type] = k.Fields
		}
	}
	events, err := r.Events()
	if err != nil {
		return to, err
	}
	for part, e := range events {
		fields, leaves := c.fields[e.Type()]
		if !leaves {
			continue
		}
		one, err := c.copyOf(e, part, fields)
		if err != nil {
			return to, err
		}
		to = append(to, one)
	}
	return to, nil
}

func (c *Copier) copyOf(e schemas.Event, part int, fields []string) (Copy, error) {
	raw, err := json.Marshal(e.Data)
	if err != nil {
		return Copy{}, fmt.Errorf("hubcopies: %s: %w", e.ID, err)
	}
	var value any
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	if err := decoder.Decode(&value); err != nil {
		return Copy{}, fmt.Errorf("hubcopies: %s: %w", e.ID, err)
	}
	for at, acts := range signedIn(e.Data) {
		if slices.ContainsFunc(acts, func(act schemas.PersonAct) bool { _, err := evidence.Person(e.Aggregate, act); return err != nil }) { // it proves nothing
			fields = slices.DeleteFunc(slices.Clone(fields), func(f string) bool { return strings.HasPrefix(f, at) })
		}
	}
	data, _ := pick(value, fields, c.text)
	one := Copy{
		Stream: e.Position.Stream, Seq: e.Position.Seq, Part: part, Event: c.text("event", e.ID), Type: e.Type(),
		On:   string(e.Aggregate.Kind) + ":" + c.text("on", e.Aggregate.ID),
		Time: e.Time.UTC(), Who: string(e.Actor.Kind()), Data: data,
	}
	mac := hmac.New(sha256.New, c.Secret)
	fmt.Fprintf(mac, "%s %d %d %s", one.Stream, one.Seq, one.Part, e.ID)
	one.Nonce = base64.RawStdEncoding.EncodeToString(mac.Sum(nil))
	return one, nil
}

// signedIn are the acts that a payload has signatures of, by where those are.
func signedIn(data schemas.Payload) map[string][]schemas.PersonAct {
	all := map[string][]schemas.PersonAct{}
	switch p := data.(type) {
	case schemas.ApprovalGiven:
		all["signed."] = []schemas.PersonAct{p.Act()}
	case schemas.GateApproved:
		all["signed."] = []schemas.PersonAct{p}
		for _, one := range p.With {
			by := p
			by.Signed = &one
			all["with."] = append(all["with."], by)
		}
	case schemas.PersonAct:
		all["signed."] = []schemas.PersonAct{p}
	}
	return all
}

// text is a text of a field as it leaves. Of a signature that holds nothing is
// changed: it is over what it is over.
func (c *Copier) text(field, text string) string {
	form := forms[field[strings.LastIndexByte(field, '.')+1:]]
	switch {
	case text == "", strings.HasPrefix(field, "signed."), strings.HasPrefix(field, "with."):
		return text
	case form != nil && !form.MatchString(text):
		return unlike
	case strings.HasPrefix(text, "/"), strings.HasPrefix(text, "~"), strings.HasPrefix(text, `\`), len(text) > 1 && text[1] == ':', strings.HasPrefix(text, "../"):
		return outside
	}
	return c.Clean(text)
}
