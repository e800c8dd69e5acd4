package history

import (
	"encoding/json"
	"io"

	"github.com/spf13/cobra"

	"github.com/writbus/writ/cmd/writ/cli/client"
	"github.com/writbus/writ/schemas"
)

func (a *app) emitCommand() *cobra.Command {
	var request schemas.EmitRequest
	var session, data string
	c := &cobra.Command{
		Use:   "emit TYPE",
		Short: "Publish one event; it is validated, and durable when the command ends",
		Long: `Publishes one event. TYPE is an event type such as proposal.made; the data
is checked against its schema. What opens gates or records decisions is written
by Writ itself and cannot be emitted.`,
		Example: `  writ log emit proposal.made --id global --data '{"proposal_id":"p1","text":"tests need -race"}'
  make report | writ log emit hook.observed --session S --data -`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			request.Type = args[0]
			if request.ID != "" && session != "" {
				return client.Usage("emit: --id and --session name the same thing", "Give one of them.")
			}
			if request.ID == "" {
				request.ID = a.SessionOr(session)
			}
			if request.ID == "" {
				return client.Usage("emit: whose event it is, is missing", "Give --session, or --id for what is not a session's.")
			}
			raw, err := a.data(data)
			if err != nil {
				return err
			}
			request.Data = raw
			return client.Show(cmd.Context(), a.Client, client.RoleHook, "emit "+request.Type, schemas.SvcEmit, request, func(reply schemas.EmitReply) {
				a.Printf("%s  %s %d\n", reply.EventID, reply.Position.Stream, reply.Position.Seq)
			})
		},
	}
	flags := c.Flags()
	flags.StringVar(&data, "data", "{}", "the event's body as JSON, or - to read it from standard input")
	flags.StringVar(&session, "session", "", "the session it belongs to (default $CLAUDE_CODE_SESSION_ID)")
	flags.StringVar(&request.ID, "id", "", "the id of the rule, memory scope, … it belongs to")
	flags.StringVar(&request.EventID, "event-id", "", "the event's own id, so that a repeated emit is stored once")
	flags.StringVar(&request.Actor, "actor", "", "who did it")
	return c
}

// data is the flag's JSON, or standard input's for "-".
func (a *app) data(flag string) (json.RawMessage, error) {
	raw := []byte(flag)
	if flag == "-" {
		var err error
		if raw, err = io.ReadAll(io.LimitReader(a.In, client.MaxPayload+1)); err != nil {
			return nil, &client.Fault{What: "emit: standard input", Why: err.Error()}
		}
		if len(raw) > client.MaxPayload {
			return nil, &client.Fault{What: "emit: the data", Why: client.ErrPayloadTooLarge.Error()}
		}
	}
	if problem := jsonProblem(raw); problem != "" {
		return nil, client.Usage("emit: the data is not JSON: "+problem, "Quote it for the shell, or pass it with --data - on standard input.")
	}
	return raw, nil
}

// jsonProblem says where text stops being JSON, "" when it does not.
func jsonProblem(raw []byte) string {
	var any json.RawMessage
	if err := json.Unmarshal(raw, &any); err != nil {
		return err.Error()
	}
	return ""
}
