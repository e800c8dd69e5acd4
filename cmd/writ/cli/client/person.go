package client

import (
	"bufio"
	"strings"

	"github.com/writbus/writ/enforcement/ancestry"
)

// IsPerson returns why whoever runs this command cannot be taken for the user:
// there is no terminal, or an agent is around it.
//
// It keeps agents from approving their own work by the plain command. What it
// cannot see, such as a terminal that an agent made and then drove from
// outside, the policy for agents' commands and the confinement of their
// processes, which cannot read the admin credential, have to stop.
func (a *Client) IsPerson() error {
	if found := a.AgentAround(); found != "" {
		return Refused("this is for the user alone", "the command runs for an agent ("+found+")",
			"Run it in a terminal of your own.")
	}
	if !IsTerminal(a.In) {
		return Refused("this is for the user alone", "standard input is no terminal", "Run it in a terminal of your own.")
	}
	return nil
}

// AgentAround names what shows that an agent runs the command, "" for nothing.
func (a *Client) AgentAround() string { return ancestry.Agent(a.Env.Getenv) }

// NotForAgents refuses what is a person's to do where an agent is around.
// Unlike isPerson it lets scripts of a person through.
func (a *Client) NotForAgents() error {
	if a.AgentAround() == "" {
		return nil
	}
	return a.IsPerson()
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
