package team

import (
	"bufio"
	"cmp"
	"errors"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/writbus/writ/bus/rights"
	"github.com/writbus/writ/cmd/writ/cli/client"
	"github.com/writbus/writ/projections/hub"
	"github.com/writbus/writ/projections/hubcopies"
	"github.com/writbus/writ/schemas"
)

// act is a command without a flag.
func (a *app) act(act, short string) *cobra.Command {
	return &cobra.Command{
		Use: act, Short: short, Example: "  writ team " + act, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.ask(cmd, schemas.TeamRequest{Act: act}) },
	}
}

func (a *app) ask(cmd *cobra.Command, r schemas.TeamRequest) error {
	return client.AskThen(cmd.Context(), a.Client, client.RoleAdmin, "team "+r.Act, schemas.SvcTeam, r, func(reply schemas.TeamReply) error {
		return errors.Join(a.Print(reply, func() { a.Printf("%s", hub.Told(r.Act, reply)) }), hub.Wrong(reply))
	})
}

func (a *app) joinCommand() *cobra.Command {
	r, creds, yes := schemas.TeamRequest{Act: schemas.TeamJoin, List: hubcopies.ListDigest()}, "", false
	c := &cobra.Command{
		Use: "join URL --creds FILE", Short: "Bring what may leave to a hub, after showing what that is",
		Long:    hub.JoinWords,
		Example: "  writ team join tls://hub.example.org:7422 --creds alice.creds --ca hub.pem",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			raw, err := a.credential("team join", creds)
			if err != nil {
				return err
			}
			r.URL, r.Credential, r.Member = args[0], raw, cmp.Or(r.Member, hub.NameIn(raw))
			if r.CA != "" {
				r.CA = a.Env.Absolute(r.CA)
			}
			if !yes || !a.JSON {
				a.Printf("%s", hub.WhatLeaves(r))
			}
			if !yes {
				if answer, err := a.AskLine(bufio.NewReader(a.In), "Join? (yes/no) "); err != nil || strings.TrimSpace(answer) != "yes" {
					return client.Refused("team join", "nothing was joined, and nothing leaves", "Answer yes, or say --yes.")
				}
			}
			return a.ask(cmd, r)
		},
	}
	c.Flags().StringVar(&creds, "creds", "", "`file` with what this machine signs in with at the hub")
	c.Flags().StringVar(&r.CA, "ca", "", "`file` with the authorities of the hub's certificate, PEM; else the system's")
	c.Flags().StringVar(&r.Member, "as", "", "`name` of this machine at the hub; else the one in the credential")
	c.Flags().StringVar(&r.Witness, "witness", "", "public `key` of the hub's witness; else the first that speaks is pinned")
	c.Flags().BoolVar(&yes, "yes", false, "do not ask")
	return c
}

// credential reads the file that --creds names.
func (a *app) credential(what, name string) (string, error) {
	if name == "" {
		return "", client.Usage(what+": --creds is missing", "Name the file that the hub's administrator gave you.")
	}
	raw, err := client.ReadBounded(a.Env.Absolute(name), maxCredential)
	return string(raw), client.Explain(what, err)
}

// reach has a command read how to reach a hub as somebody other than a member.
func (a *app) reach(c *cobra.Command, to *hub.Access) (read func(what, url string) error) {
	var creds string
	c.Flags().StringVar(&creds, "creds", "", "`file` with what is signed in with at the hub")
	c.Flags().StringVar(&to.CA, "ca", "", "`file` with the authorities of the hub's certificate, PEM; else the system's")
	return func(what, url string) error {
		raw, err := a.credential(what, creds)
		if err != nil {
			return err
		}
		to.URL, to.Credential = url, raw
		if to.CA != "" {
			to.CA = a.Env.Absolute(to.CA)
		}
		return nil
	}
}

func (a *app) witnessCommand() *cobra.Command {
	var o hub.WitnessOptions
	var read func(what, url string) error
	c := &cobra.Command{
		Use: "witness URL --creds FILE --dir DIR", Short: "Look at what members bring to a hub, and cosign what holds",
		Long:    hub.WitnessWords,
		Example: "  writ team witness tls://hub.example.org:4222 --creds witness.creds --dir /srv/writ-witness",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.Folder == "" {
				return client.Usage("team witness: it needs --dir", "Name a folder for what it keeps.")
			}
			if err := read("team witness", args[0]); err != nil {
				return err
			}
			o.Folder, o.Now, o.Out = a.Env.Absolute(o.Folder), a.Env.Now, a.Err
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			all, err := hub.Watch(ctx, o)
			if err != nil {
				return client.Refused("team witness", client.OneLine(err.Error()), "")
			}
			return errors.Join(client.Each(a.Client, all, "", func() error { a.Printf("%s", hub.Witnessed(all)); return nil }), hub.Found(all))
		},
	}
	read = a.reach(c, &o.Access)
	c.Flags().StringVar(&o.Folder, "dir", "", "`folder` for its key and for what it cosigned; keep it away from the hub")
	c.Flags().BoolVar(&o.Replace, "replace", false, "take the place of a witness whose folder is lost")
	c.Flags().BoolVar(&o.Once, "once", false, "end when all that is there was looked at")
	return c
}

func (a *app) manifestCommand() *cobra.Command {
	var m rights.Manifest
	var to hub.Access
	var apply string
	var read func(what, url string) error
	c := &cobra.Command{
		Use: "manifest --member NAME…", Short: "Write what a NATS' administrator applies to make a hub of it",
		Long:    hub.ManifestWords,
		Example: "  writ team manifest --member alice --member bob --replicas 3 > writ.conf\n  writ team manifest --member alice --member bob --replicas 3 --apply tls://hub.example.org:4222 --creds hub-admin.creds",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := m.Check(); err != nil {
				return client.Usage("team manifest: "+err.Error(), "Give each member a name of its own.")
			}
			if apply == "" {
				return a.Print(m, func() { a.Printf("%s", m) })
			}
			err := read("team manifest", apply)
			if err == nil {
				if err = hub.Apply(cmd.Context(), m, to); err != nil {
					return client.Refused("team manifest", client.OneLine(err.Error()), "")
				}
				a.Printf("The streams %s and %s are there.\n", rights.Copies, rights.Seen)
			}
			return err
		},
	}
	c.Flags().StringArrayVar(&m.Members, "member", nil, "`name` of a member; repeat it")
	c.Flags().StringArrayVar(&m.Direct, "direct", nil, "`name` of a daemon whose log lies there, in accounts of its own; repeat it")
	c.Flags().IntVar(&m.Replicas, "replicas", 1, "copies of each record in the hub's cluster")
	read = a.reach(c, &to)
	c.Flags().StringVar(&apply, "apply", "", "make the streams of the hub at `URL`, its port for clients, with --creds")
	c.Flags().BoolVar(&m.Operator, "operator", false, "as calls of nsc, for a NATS in operator mode")
	return c
}
