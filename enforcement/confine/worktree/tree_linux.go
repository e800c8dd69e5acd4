package worktree

import (
	"errors"
	"io/fs"
	"slices"
	"sync"

	"golang.org/x/sys/unix"
)

// walkers bounds the folders looked at side by side. The cost is system calls,
// one for each file.
const walkers = 4

// folder visits a folder and what is in it.
func (w *walker) folder(at subfolder) error {
	p := &parallel{walker: w, free: make(chan struct{}, walkers-1)}
	p.folder(at)
	p.running.Wait()
	return p.err
}

// parallel visits folders side by side.
type parallel struct {
	*walker
	free    chan struct{}
	running sync.WaitGroup
	lock    sync.RWMutex // of the tree and its ignore rules
	err     error
}

func (w *parallel) folder(at subfolder) {
	for _, next := range w.look(at) {
		select {
		case w.free <- struct{}{}:
			w.running.Go(func() {
				defer func() { <-w.free }()
				w.folder(next)
			})
		default:
			w.folder(next)
		}
	}
}

// look visits what is in one folder.
func (w *parallel) look(at subfolder) []subfolder {
	dir := at.path
	f, err := list(w.root, dir)
	if err != nil {
		w.fail(dir, err)
		return nil
	}
	if slices.Contains(f.names, ".gitignore") && !w.tree.ignore.closed {
		w.lock.Lock()
		w.tree.ignore.enter(w.root, dir, f.names)
		w.lock.Unlock()
	}
	w.lock.RLock()
	into, err := w.decide(at, f)
	w.lock.RUnlock()
	w.lock.Lock()
	defer w.lock.Unlock()
	if err != nil {
		w.err = err
		return nil
	}
	w.keep(dir, f)
	return into
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

var listings = sync.Pool{New: func() any { return new([32 << 10]byte) }}

// list reads a folder and the stamps of what is in it. Names are looked up from
// the open folder: half the cost is otherwise the way there.
func list(root, dir string) (*folder, error) {
	at, follow := root, 0
	if dir != "" {
		at, follow = root+"/"+dir, unix.O_NOFOLLOW
	}
	fd, err := openFolder(at, follow)
	if err != nil {
		return nil, err
	}
	defer func() { _ = unix.Close(fd) }() // read only
	buffer := listings.Get().(*[32 << 10]byte)
	defer listings.Put(buffer)
	f := &folder{}
	for {
		n, err := unix.ReadDirent(fd, buffer[:])
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if n <= 0 {
			break
		}
		_, _, f.names = unix.ParseDirent(buffer[:n], -1, f.names)
	}
	f.stamps = make([]stamp, len(f.names))
	gone := 0
	for i, name := range f.names {
		var stat unix.Stat_t
		if unix.Fstatat(fd, name, &stat, unix.AT_SYMLINK_NOFOLLOW) != nil {
			gone++ // since it was listed
			continue
		}
		f.names[i-gone], f.stamps[i-gone] = name, stampFrom(&stat)
	}
	f.names, f.stamps = f.names[:len(f.names)-gone], f.stamps[:len(f.stamps)-gone]
	return f, nil
}

func openFolder(path string, flags int) (fd int, err error) {
	for {
		fd, err = unix.Open(path, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC|flags, 0)
		if !errors.Is(err, unix.EINTR) {
			return fd, err
		}
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
		s.linked = stat.Nlink > 1
	case unix.S_IFDIR:
		s.mode |= fs.ModeDir
	case unix.S_IFLNK:
		s.mode |= fs.ModeSymlink
	default:
		s.mode |= fs.ModeIrregular
	}
	return s
}
