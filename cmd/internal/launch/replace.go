package launch

import (
	"context"
	"fmt"
	"os/exec"

	"github.com/writbus/writ/cmd/internal/config"
)

// replace ends an older daemon so that the writd that was found can take its
// place. goesOn says that the daemon stays, since that writd is no newer or this
// program may not end it, and answers.
func replace(ctx context.Context, o Options, at config.Endpoint, binary string) (goesOn bool, err error) {
	if !held(o) {
		return false, nil // it ended by itself
	}
	version, protocol := binaryVersion(ctx, binary)
	newer := at.Older(version, protocol)
	if newer && o.Stop != nil && o.Stop(ctx, at) == nil {
		for held(o) {
			if err := rest(ctx, o); err != nil {
				return false, err
			}
		}
		return false, nil
	}
	if at.Protocol < config.Protocol {
		todo := binary + " is no newer. Install both programs of one version: `writ upgrade` says how"
		if newer {
			todo = "it could not be asked to end. End it: `writ down`; `writ up` starts the newer one"
		}
		return true, fmt.Errorf("%w: the daemon, process %d, is Writ %s and speaks protocol %d, this program Writ %s and protocol %d; %s",
			ErrOldBinary, at.PID, at.Version, at.Protocol, config.Version, config.Protocol, todo)
	}
	return true, o.Probe(ctx, at)
}

// binaryVersion asks a writd what it is. One that cannot tell is older than the
// question.
func binaryVersion(ctx context.Context, binary string) (version string, protocol int) {
	out, err := exec.CommandContext(ctx, binary, "--version").Output()
	if _, read := fmt.Sscanf(string(out), "writd %s protocol %d", &version, &protocol); err != nil || read != nil {
		return "", 0
	}
	return version, protocol
}
