package daemon

import (
	"context"

	"github.com/writbus/writ/enforcement"
	"github.com/writbus/writ/enforcement/session"
	"github.com/writbus/writ/observer/memory"
	"github.com/writbus/writ/projections/audit/ledger"
	"github.com/writbus/writ/schemas"
)

// forgetSaid erases for good what was said in sessions. Once the log says so it is
// certain: the daemon starts anew, and that start erases it before anything is read,
// however often it is killed.
func forgetSaid(ctx context.Context, d *Daemon, r schemas.ForgetRequest) (reply schemas.ForgetReply, err error) {
	switch {
	case d.server == nil:
		return reply, schemas.Faultf(schemas.CodeRefused, "the log is on somebody else's NATS (%s), whose streams cannot be rewritten from here. What is said in a session stays in them for as long as their retention says", d.settings.NATSURL)
	case !d.backups.Busy.TryLock():
		return reply, schemas.Faultf(schemas.CodeConflict, "a backup is being written. Wait for it to end")
	}
	defer d.backups.Busy.Unlock()
	d.backups.Store.Lock()
	defer d.backups.Store.Unlock()
	f := ledger.Forgetting{Conn: d.conn, Log: d.log, Actor: enforcement.Person(enforcement.ChannelTerminal), ForgetRequest: r}
	if err := f.Choose(ctx); err != nil {
		return reply, err
	}
	reply.Sessions, reply.Started = f.Sessions(), d.started
	for _, id := range reply.Sessions {
		if err := session.Forget(ctx, d.sessions, id, f.Actor); err != nil {
			return reply, err
		}
	}
	reply.Observations, err = memory.ForgetAll(ctx, d.memory, r.Reason, func(o schemas.ObservationKey, from string) bool {
		return r.Project != "" && o.Scope == r.Project || f.Chosen[schemas.Session(from)]
	})
	if err == nil {
		reply.Records, err = f.Record(ctx)
	}
	if err == nil && r.Project != "" {
		err = d.files.Forget(r.Project)
	}
	reply.Still = f.Still(d.backups.Plan().Place)
	if err == nil {
		d.again.Store(true)
		d.stop()
	}
	return reply, err
}
