package config

import (
	"errors"
	"fmt"
	"runtime/debug"
	"strings"

	"golang.org/x/mod/semver"
)

// untagged is the version of a build that no tag names.
const untagged = "0.1.0"

// Version is the version of this build, of the daemon and the client alike: that
// of the module's tag, as `go install` and a release note it.
var Version = versionOf(debug.ReadBuildInfo)

// Protocol is the number of how clients and the daemon speak. It grows where one
// side would misunderstand the other: a subject, a header, or what one of them
// means, is another than before. What is added leaves it as it is.
const Protocol = 1

func versionOf(build func() (*debug.BuildInfo, bool)) string {
	info, ok := build()
	if !ok {
		return untagged
	}
	version, _, _ := strings.Cut(info.Main.Version, "+")
	if !semver.IsValid(version) || strings.HasPrefix(version, "v0.0.0-") {
		return untagged // built in a checkout without tags
	}
	return strings.TrimPrefix(version, "v")
}

var (
	// ErrNewerDaemon is returned for a daemon that speaks in a way that this
	// program does not know.
	ErrNewerDaemon = errors.New("config: the daemon is newer than this program")
	// ErrOlderDaemon is returned for a daemon that this program's would replace.
	ErrOlderDaemon = errors.New("config: the daemon is older than this program")
)

// Understood returns ErrNewerDaemon for a daemon whose protocol this program does
// not know, with what to do.
func (e Endpoint) Understood() error {
	if e.Protocol <= Protocol {
		return nil
	}
	return fmt.Errorf("%w: process %d, Writ %s, speaks protocol %d, and this program, Writ %s, knows none above %d. Bring this program up to date: `writ upgrade` says how",
		ErrNewerDaemon, e.PID, e.Version, e.Protocol, Version, Protocol)
}

// Older reports whether a daemon is of an earlier version than a program's. One
// that does not say what it is is taken as it is.
func (e Endpoint) Older(version string, protocol int) bool {
	return e.Version != "" && (e.Protocol < protocol || semver.Compare("v"+e.Version, "v"+version) < 0)
}
