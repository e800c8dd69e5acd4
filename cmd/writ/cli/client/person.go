package client

import (
	"bufio"
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/cmd/internal/config"
	"github.com/writbus/writ/enforcement/processtree"
	"github.com/writbus/writ/projections/audit/evidence"
	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/schemas/atomicfile"
)

// IsPerson returns why whoever runs this command cannot be taken for the user:
// an agent is around it, or there is no terminal that a person sits at.
//
// It keeps agents from approving their own work by the plain command, also by
// processes that they left behind. What it cannot see, such as a window that an
// agent opened and types into, the policy for agents' commands and the
// confinement of their processes, which cannot read the admin credential, have
// to stop.
func (a *Client) IsPerson() error {
	if err := a.NotAgents(); err != nil {
		return err
	}
	if !IsTerminal(a.In) {
		return Refused("this is for the user alone", "standard input is no terminal", "Run it in a terminal of your own.")
	}
	if why := a.unattended(a.settings()); why != "" {
		return Refused("this is for the user alone", why, "Run it in a terminal of your own; `terminals` in "+a.settingsFile()+" names programs whose terminals count.")
	}
	return nil
}

func (a *Client) unattended(s config.Settings) string {
	if a.Env.Unattended != nil {
		return a.Env.Unattended(s.Terminals)
	}
	return processtree.Unattended(s.Terminals)
}

// settings are those of the data directory, the strict ones where they cannot be
// read.
func (a *Client) settings() config.Settings {
	dir, err := a.Env.DataDir()
	if err != nil {
		return config.DefaultSettings()
	}
	s, err := config.Load(dir)
	if err != nil {
		return config.DefaultSettings()
	}
	return s
}

func (a *Client) settingsFile() string {
	dir, err := a.Env.DataDir()
	if err != nil {
		return "config.yaml"
	}
	return config.Layout{Root: dir}.Settings()
}

// AgentAround names what shows that an agent runs the command, "" for nothing.
func (a *Client) AgentAround() string { return processtree.Agent(a.Env.Getenv) }

// NotAgents refuses what is not on the list for agents where one is around.
func (a *Client) NotAgents() error {
	if found := a.AgentAround(); found != "" {
		return Refused("this is for the user alone", "the command runs for an agent ("+found+")",
			"Run it in a terminal of your own.")
	}
	return nil
}

// NotForAgents refuses what is a person's to do on rules and memory where an
// agent is around, and without a terminal that a person sits at, unless the
// settings let scripts do it.
func (a *Client) NotForAgents() error {
	if err := a.NotAgents(); err != nil {
		return err
	}
	s := a.settings()
	if s.Scripts == "allow" {
		return nil
	}
	if why := a.unattended(s); why != "" {
		return Refused("this is for the user alone", why,
			"Run it in a terminal of your own. For scripts of yours, set `scripts: allow` in "+a.settingsFile()+"; `terminals` there names programs whose terminals count.")
	}
	return nil
}

// personKey is the file with the key that signs what the person here approves.
func (a *Client) personKey() (string, error) {
	dir, err := a.Env.DataDir()
	return filepath.Join(config.Layout{Root: dir}.Credentials(), "person.key"), err
}

// KeepPersonKey keeps a key, in the place of an earlier one.
func (a *Client) KeepPersonKey(key string) error {
	path, err := a.personKey()
	if err == nil {
		err = os.MkdirAll(filepath.Dir(path), 0o700)
	}
	return cmp.Or(err, atomicfile.Write(path, []byte(key), 0o600))
}

// PersonKey is the key that signs what the person here approves, and its public part;
// where there is none it is "" for who can do without.
func (a *Client) PersonKey(what string, must bool) (key, public, place string, err error) {
	const draw = "writ approve key --new NAME."
	if place, err = a.personKey(); err != nil {
		return "", "", "", Explain(what, err)
	}
	raw, err := bus.ReadSecret(place)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	if key = string(raw); err == nil && key == "" && must {
		return "", "", place, Refused(what, "you have no key here", "Draw one: "+draw)
	}
	if err == nil && key != "" {
		_, public, err = evidence.ReadKey(key)
	}
	if err != nil {
		return "", "", place, Refused(what, "your key, in "+place+", cannot be used: "+OneLine(err.Error()), "Restore it, or draw another: "+draw)
	}
	return key, public, place, nil
}

// Sign signs an act with the person's key; nil where the person has none.
func (a *Client) Sign(what string, on schemas.Aggregate, act schemas.PersonAct, s schemas.Signed) (*schemas.Signed, error) {
	key, _, _, err := a.PersonKey(what, false)
	if err != nil || key == "" {
		return nil, err
	}
	s.Time = a.Env.Now()
	if s, err = evidence.SignAct(key, on, act, s); err != nil {
		return nil, Refused(what, OneLine(err.Error()), "")
	}
	return &s, nil
}

// AskLine asks the person at the terminal for a line.
func (a *Client) AskLine(in *bufio.Reader, prompt string) (string, error) {
	a.Printf("%s", prompt)
	line, err := in.ReadString('\n')
	if err != nil {
		a.Printf("\n")
		return "", err
	}
	return strings.TrimSpace(line), nil
}
