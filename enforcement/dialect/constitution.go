package dialect

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// ErrConstitution is wrapped by every error of ParseConstitution.
var ErrConstitution = errors.New("dialect: constitution refused")

// AdvisorMode says when the advisor is asked. Persisted; never change a value.
type AdvisorMode string

// The modes of an advisor.
const (
	AdvisorOff     AdvisorMode = "off"     // never; /advise is refused
	AdvisorConsult AdvisorMode = "consult" // by /advise
	AdvisorGate    AdvisorMode = "gate"    // also before a final answer returns
)

// Advisor is whom an agent asks.
type Advisor struct {
	Model string
	Mode  AdvisorMode // AdvisorOff where it is absent
	// MaxRedirects is how often the advisor may send a final answer back;
	// DefaultRedirects where it is absent.
	MaxRedirects int
	// MalformedHalts says whether an answer of the advisor that cannot be
	// understood halts; it does where it is absent.
	MalformedHalts bool
}

// Delegation bounds whom an agent may ask, and how deep.
type Delegation struct {
	MaxDepth int // DefaultDepth where it is absent
	// AllowedCallees are patterns of ids; nil leaves the choice to the
	// capabilities, an empty list allows nobody.
	AllowedCallees []string
	DeniedCallees  []string // patterns; they win
	MaxTokens      int      // of one child; 0: no bound of its own
}

// Defaults of a constitution.
const (
	DefaultDepth     = 2
	DefaultRedirects = 3
)

// Constitution is what an agent is, and what it may do.
type Constitution struct {
	Name, Role, Goal, Model string
	Rules                   []string // soft: text for the prompt
	Capabilities            []string // hard: as written; nil where absent
	Grant                   Grant    // what they amount to
	Advisor                 Advisor
	Delegation              Delegation
}

// ParseConstitution reads the JSON text of a constitution. Unknown and repeated
// keys, wrong types, null, unknown capabilities and a missing name are errors
// that wrap ErrConstitution and name file and key.
func ParseConstitution(file string, data []byte) (Constitution, error) {
	c := Constitution{
		Advisor:    Advisor{Mode: AdvisorOff, MaxRedirects: DefaultRedirects, MalformedHalts: true},
		Delegation: Delegation{MaxDepth: DefaultDepth},
	}
	if err := c.read(data); err != nil {
		return Constitution{}, fmt.Errorf("%w: %s: %w", ErrConstitution, file, err)
	}
	return c, nil
}

func (c *Constitution) read(data []byte) error {
	if !utf8.Valid(data) {
		return errors.New("the text is no UTF-8")
	}
	err := readObject("", data, fields{
		"name": text(&c.Name), "role": text(&c.Role), "goal": text(&c.Goal), "model": text(&c.Model),
		"rules": texts(&c.Rules), "capabilities": texts(&c.Capabilities),
		"advisor": c.Advisor.read, "delegation": c.Delegation.read,
	})
	switch {
	case err != nil:
		return err
	case c.Name == "":
		return errors.New("name: a name is needed")
	case strings.ContainsFunc(c.Name, func(r rune) bool { return r <= ' ' || r == 0x7f || r == utf8.RuneError }):
		return fmt.Errorf("name: %q is no single word", c.Name)
	case c.Capabilities == nil:
		return nil
	}
	if c.Grant, err = ParseGrant(c.Capabilities); err != nil {
		return fmt.Errorf("capabilities%w", err)
	}
	return nil
}

func (a *Advisor) read(key string, raw json.RawMessage) error {
	return readObject(key, raw, fields{
		"model": text(&a.Model), "max_redirects": count(&a.MaxRedirects), "malformed_halts": flag(&a.MalformedHalts),
		"mode": func(key string, raw json.RawMessage) error {
			var mode string
			if err := text(&mode)(key, raw); err != nil {
				return err
			}
			switch a.Mode = AdvisorMode(mode); a.Mode {
			case AdvisorOff, AdvisorConsult, AdvisorGate:
				return nil
			default:
				return fmt.Errorf("%s: %q is no mode; use off, consult or gate", key, mode)
			}
		},
	})
}

func (d *Delegation) read(key string, raw json.RawMessage) error {
	return readObject(key, raw, fields{
		"max_depth": count(&d.MaxDepth), "max_tokens": count(&d.MaxTokens),
		"allowed_callees": texts(&d.AllowedCallees), "denied_callees": texts(&d.DeniedCallees),
	})
}
