package confine

import (
	"io/fs"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// walkers bounds the folders looked at side by side. The cost is system calls,
// one for each file.
const walkers = 4

// folder visits a folder and what is in it.
func (w *walker) folder(dir string, ignored bool) error {
	p := &parallel{walker: w, free: make(chan struct{}, walkers-1)}
	p.folder(dir, ignored)
	p.running.Wait()
	return p.err
}

// parallel visits folders side by side; visiting itself is one at a time.
type parallel struct {
	*walker
	free    chan struct{}
	running sync.WaitGroup
	lock    sync.Mutex
	err     error
}

func (w *parallel) folder(dir string, ignored bool) {
	for _, next := range w.look(dir, ignored) {
		select {
		case w.free <- struct{}{}:
			w.running.Go(func() {
				defer func() { <-w.free }()
				w.folder(next.path, next.ignored)
			})
		default:
			w.folder(next.path, next.ignored)
		}
	}
}

type subfolder struct {
	path    string
	ignored bool
}

// look visits what is in one folder. Names are looked up from the open folder:
// half the cost is otherwise the way there.
func (w *parallel) look(dir string, ignored bool) []subfolder {
	at := w.root
	if dir != "" {
		at += "/" + dir
	}
	f, err := os.Open(at)
	if err != nil {
		w.fail(dir, err)
		return nil
	}
	defer func() { _ = f.Close() }() // read only
	names, err := f.Readdirnames(-1)
	if err != nil {
		w.fail(dir, err)
	}
	stamps := make([]stamp, len(names))
	fd := int(f.Fd())
	for i, name := range names {
		var stat unix.Stat_t
		if unix.Fstatat(fd, name, &stat, unix.AT_SYMLINK_NOFOLLOW) == nil {
			stamps[i] = stampFrom(&stat)
		}
	}
	w.lock.Lock()
	defer w.lock.Unlock()
	w.tree.ignore.enter(w.root, dir, names)
	var folders []subfolder
	for i, name := range names {
		if stamps[i] == (stamp{}) { // gone since it was listed
			continue
		}
		into, below, err := w.visit(dir, name, stamps[i], ignored)
		if err != nil {
			w.err = err
			return nil
		}
		if into != "" {
			folders = append(folders, subfolder{into, below})
		}
	}
	return folders
}

// fail notes an error of the root. Folders below may be gone since they were
// listed, or not this user's to see.
func (w *parallel) fail(dir string, err error) {
	if dir == "" {
		w.lock.Lock()
		defer w.lock.Unlock()
		w.err = err
	}
}

func stampOf(path string) (stamp, error) {
	var stat unix.Stat_t
	if err := unix.Lstat(path, &stat); err != nil {
		return stamp{}, err
	}
	return stampFrom(&stat), nil
}

func stampFrom(stat *unix.Stat_t) stamp {
	s := stamp{size: stat.Size, mtime: stat.Mtim.Nano(), ctime: stat.Ctim.Nano(), ino: stat.Ino, mode: fs.FileMode(stat.Mode & 0o777)}
	switch stat.Mode & unix.S_IFMT {
	case unix.S_IFREG:
	case unix.S_IFDIR:
		s.mode |= fs.ModeDir
	case unix.S_IFLNK:
		s.mode |= fs.ModeSymlink
	default:
		s.mode |= fs.ModeIrregular
	}
	return s
}
