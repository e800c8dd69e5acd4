package daemon

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/cmd/internal/config"
	"github.com/writbus/writ/enforcement"
	"github.com/writbus/writ/schemas"
)

// acceptTime bounds reading and recording what was accepted.
const acceptTime = 5 * time.Second

// acceptedSettings are the settings that take effect: by a person's act, not by
// being there. The log is the state.
type acceptedSettings struct {
	dataDir string
	least   string // the person's own approval, which no project's file is below

	mu    sync.Mutex
	state bus.Kept[config.Accepted]
}

// rule says what rules a project. What stands where nothing was ever accepted is
// taken as accepted, once.
func (a *acceptedSettings) rule(root string) (ruling config.Ruling, err error) {
	defer func() { ruling.Approval = enforcement.Stricter(ruling.Approval, a.least) }()
	ctx, cancel := context.WithTimeout(context.Background(), acceptTime)
	defer cancel()
	a.mu.Lock()
	defer a.mu.Unlock()
	accepted, _, err := a.state.Refresh(ctx)
	if err != nil {
		return config.Ruling{Project: config.DefaultProject()}, fmt.Errorf("which settings were accepted cannot be read: %w", err)
	}
	file, fault := config.LoadProject(root)
	ruling = accepted.Rule(root, file, fault)
	if ruling.First {
		ruling.Entry.First = true
		if err := a.record(ctx, schemas.Writ("settings"), ruling.Entry); err != nil {
			return config.Ruling{Project: config.DefaultProject()}, fmt.Errorf("settings cannot be accepted: %w", err)
		}
	}
	return ruling, errors.Join(fault, config.NoteOpen(a.dataDir, root, ruling.Fail == "open"))
}

// record appends an acceptance. The caller holds the lock.
func (a *acceptedSettings) record(ctx context.Context, actor schemas.Actor, entry schemas.SettingsAccepted) error {
	_, err := a.state.Decide(ctx, actor, func(config.Accepted) ([]schemas.Payload, error) { return []schemas.Payload{entry}, nil })
	return err
}

// acceptSettings shows what of a project's settings waits, or accepts exactly that. Only
// the admin credential reaches it.
func (d *Daemon) acceptSettings(ctx context.Context, r schemas.SettingsRequest) (schemas.SettingsReply, error) {
	if !filepath.IsAbs(r.Project) {
		return schemas.SettingsReply{}, schemas.Faultf(schemas.CodeBadRequest, "a project is named by its absolute path, not %q", r.Project)
	}
	ruling, err := d.accepted.rule(r.Project)
	if err != nil {
		return schemas.SettingsReply{}, schemas.Faultf(schemas.CodeBadRequest, "%v", err)
	}
	reply := schemas.SettingsReply{Project: ruling.Entry.Project, Digest: ruling.Entry.Digest, Waits: ruling.Waits}
	switch {
	case r.Digest == "":
		return reply, nil
	case r.Digest != reply.Digest:
		return reply, schemas.Faultf(schemas.CodeConflict, "the settings were changed meanwhile; look at them again")
	}
	channel := cmp.Or(r.Channel, enforcement.ChannelTerminal)
	if weak := enforcement.TooWeakToLoosen(channel, ruling.Approval); weak != "" {
		return reply, schemas.Faultf(schemas.CodeRefused, "%s: writ approve settings", weak)
	}
	d.accepted.mu.Lock()
	defer d.accepted.mu.Unlock()
	if err := d.accepted.record(ctx, enforcement.Person(channel), ruling.Entry); err != nil {
		return reply, err
	}
	d.projects.Forget()
	reply.Waits, reply.Accepted = nil, true
	return reply, nil
}
