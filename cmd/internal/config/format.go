package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/writbus/writ/schemas/digest"

	"github.com/writbus/writ/schemas/atomicfile"
)

// ErrFormat is returned by Upgrade for a data directory of which this program
// cannot tell, or cannot read, the format. Nothing was changed then.
var ErrFormat = errors.New("config: the format of the data directory")

// Format is the format of the data directories that this program writes: what
// lies where, how each part is laid out, and which events its log may hold. It
// grows by one with each step.
func Format() int { return len(steps()) }

// step takes a data directory from one format to the next. It may have been
// interrupted before, at any moment.
type step func(Layout) error

// steps take a data directory from the format of their index to the next one.
// Persisted; never change or remove one.
func steps() []step {
	return []step{
		// Directories without a number. Their views kept the checkpoints beside
		// the data, under keys that no program reads any more.
		func(l Layout) error { return os.RemoveAll(l.Views()) },
		// Directories whose memory.keys may have no sums. The memory adds them
		// when it opens the file, which older programs cannot read then.
		func(Layout) error { return nil },
		// Directories whose log holds events that programs before this step put
		// into the quarantine, and decide without. Every new type or version of an
		// event needs such a step: TestNewEventsRaiseTheFormat says so.
		func(Layout) error { return nil },
		// The same, for starts of sessions that name their repository and acts that
		// persons signed; and for records whose texts are forgotten, of which older
		// programs would take what is left for records that somebody altered.
		func(Layout) error { return nil },
		// The same, for releases of rules that are followed: older programs would give
		// a rule of theirs that the person here replaced; for gates that two persons
		// open; and for streams whose first records stand in the archive, which they
		// would take for lost.
		func(Layout) error { return nil },
		// The same, for runs of tests that say what could not be run: older programs
		// would take one in which no test began for one that passed.
		func(Layout) error { return nil },
	}
}

// FormatFile is the file with the format's number and a digest over it.
func (l Layout) FormatFile() string { return filepath.Join(l.Root, "FORMAT") }

// Upgrade brings a data directory to this program's format, one step after the
// other, and returns the format that it had. One that is newer, or whose number
// cannot be read, is left as it is: the error says what to do. The caller holds
// the directory's lock.
func Upgrade(l Layout) (was int, err error) {
	return upgrade(l, steps())
}

func upgrade(l Layout, steps []step) (was int, err error) {
	if was, err = readFormat(l, len(steps)); err != nil {
		return was, err
	}
	for at := was; at < len(steps); at++ {
		if err := steps[at](l); err != nil {
			return was, fmt.Errorf("config: bring %s from format %d to %d: %w", l.Root, at, at+1, err)
		}
		if err := atomicfile.Write(l.FormatFile(), formatLine(at+1), 0o600); err != nil {
			return was, fmt.Errorf("config: note format %d of %s: %w", at+1, l.Root, err)
		}
	}
	return was, nil
}

// readFormat is the number in the file, at most the newest that is known. A
// directory without one has the format 0, whether it is old or empty.
func readFormat(l Layout, newest int) (format int, err error) {
	raw, err := os.ReadFile(l.FormatFile())
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	if _, err := fmt.Sscanf(string(raw), "writ data directory, format %d\n", &format); err != nil || format < 1 || string(raw) != string(formatLine(format)) {
		return 0, fmt.Errorf("%w: %s is damaged. Restore that file from a backup; or, if this version of Writ was the last that used the folder, delete it, and the next start writes it anew. Nothing was changed", ErrFormat, l.FormatFile())
	}
	if format > newest {
		return format, fmt.Errorf("%w: %s has format %d, and this program, %s, knows none above %d: a newer Writ wrote it. Install that version again, or set WRIT_HOME to another folder; nothing was changed", ErrFormat, l.Root, format, Version, newest)
	}
	return format, nil
}

// formatLine is the content of the file: the number, and a digest of its line.
func formatLine(format int) []byte {
	line := fmt.Sprintf("writ data directory, format %d\n", format)
	return []byte(line + digest.Hex(line)[:16] + "\n")
}
