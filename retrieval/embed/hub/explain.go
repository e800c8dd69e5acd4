package hub

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/writbus/writ/schemas/disk"
)

// ErrDisk is returned when there is no room for the model.
var ErrDisk = errors.New("hub: the disk is full")

// explain adds to an error what to do about it.
func (p *puller) explain(err error) error {
	switch {
	case disk.Full(err):
		return fmt.Errorf("%w: %s needs %d MB in %s; free some and run it again, it goes on where it stopped: %w",
			ErrDisk, p.model.Name, (p.model.Size()+1<<20-1)>>20, p.opt.Dir, err)
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("%w; nothing of it is in use, and the same command goes on where it stopped", err)
	case errors.Is(err, ErrNetwork):
		return fmt.Errorf("%w; pulling needs the network: run it again, or copy the files from another machine or a mirror with --from", err)
	case errors.Is(err, ErrContent):
		return fmt.Errorf("%w; nothing of it is kept: if a mirror or a proxy sends it, ask another one with --from", err)
	case errors.Is(err, os.ErrPermission):
		return fmt.Errorf("%w; make %s writable for you", err, p.opt.Dir)
	}
	return err
}
