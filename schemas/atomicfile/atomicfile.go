// Package atomicfile replaces the content of a file as a whole: the new
// content is written beside the file, synced, and renamed to its name, and the
// folder is synced.
//
// It guarantees that whoever opens the file, even after the process was killed
// or the machine lost its power at any moment, finds the old content or the new
// one; that the new one is on the disk when [File.Commit] returns nil, unless
// Options.Volatile was asked for; and that what an interrupted write leaves
// behind has a name that [Temporary] recognises. An error leaves the file as it
// was, with one exception: where the folder alone could not be synced, the new
// content is in place and may be lost with the machine's power.
//
// It makes no folders, takes no locks (of two writers the later rename counts)
// and follows no link at the file's own name: the link is replaced. Windows
// offers no way to sync a folder, so there the rename may come later than the
// return.
package atomicfile

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// Options say how a file is replaced.
type Options struct {
	// Mode is the permission of the file, less the umask.
	Mode fs.FileMode
	// Keep leaves a file that is there its own permission.
	Keep bool
	// Volatile syncs nothing. It is for what is checked on reading and can be
	// made again, such as a cache.
	Volatile bool
}

// Write replaces the content of a file.
func Write(path string, content []byte, mode fs.FileMode) error {
	return WriteWith(path, content, Options{Mode: mode})
}

// WriteWith replaces the content of a file.
func WriteWith(path string, content []byte, options Options) error {
	return WriteFunc(path, options, func(f *File) error { _, err := f.Write(content); return err })
}

// WriteIn replaces the content of a file below a root, without leaving it.
func WriteIn(root *os.Root, name string, content []byte, options Options) error {
	f, err := create(root, name, options)
	return put(f, err, func(f *File) error { _, err := f.Write(content); return err })
}

// WriteFunc replaces the content of a file by what a function writes. Where the
// function fails, its error is returned as it is.
func WriteFunc(path string, options Options, write func(*File) error) error {
	f, err := Create(path, options)
	return put(f, err, write)
}

func put(f *File, err error, write func(*File) error) error {
	if err != nil {
		return err
	}
	defer f.Discard()
	if err := write(f); err != nil {
		return err
	}
	return f.Commit()
}

// File is new content for a file that has yet to take its place.
type File struct {
	file    *os.File
	folder  *os.Root
	own     bool   // whether the folder is closed with the file
	temp    string // the name it has until then, in the folder
	name    string // the name it gets, in the folder
	path    string // of the name, for errors
	mode    fs.FileMode
	exact   bool // whether the umask must not count
	options Options

	finished, done bool
}

// Create begins new content for a file. Commit puts it in place, Discard gives
// it up; after either, Discard does nothing.
func Create(path string, options Options) (*File, error) {
	folder, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return nil, &fs.PathError{Op: "write", Path: path, Err: cause(err)}
	}
	f, err := create(folder, filepath.Base(path), options)
	if err != nil {
		_ = folder.Close() // nothing is buffered in it
		return nil, err
	}
	f.own = true
	return f, nil
}

func create(folder *os.Root, name string, options Options) (*File, error) {
	random := make([]byte, 8)
	_, _ = rand.Read(random) // never fails: the program ends where there is no randomness
	f := &File{
		folder: folder, name: name, path: filepath.Join(folder.Name(), name), mode: options.Mode, options: options,
		temp: filepath.Join(filepath.Dir(name), prefix+hex.EncodeToString(random)+suffix),
	}
	if options.Keep {
		if info, err := folder.Lstat(name); err == nil && info.Mode().IsRegular() {
			f.mode, f.exact = info.Mode().Perm(), true
		}
	}
	err := f.step("create", func() (err error) {
		f.file, err = folder.OpenFile(f.temp, os.O_RDWR|os.O_CREATE|os.O_EXCL, f.mode)
		return err
	})
	if err != nil {
		return nil, err
	}
	return f, nil
}

// Write adds to the new content.
func (f *File) Write(p []byte) (int, error) {
	n, err := f.file.Write(p)
	return n, f.failed(err)
}

// WriteAt overwrites part of the new content.
func (f *File) WriteAt(p []byte, at int64) (int, error) {
	n, err := f.file.WriteAt(p, at)
	return n, f.failed(err)
}

// Finish ends the new content and syncs it, so that little is left that can fail
// when Commit puts it in place. A failure discards the content.
func (f *File) Finish() (err error) {
	if f.finished {
		return nil
	}
	f.finished = true
	defer func() {
		if err != nil {
			f.Discard()
		}
	}()
	if f.exact {
		if err := f.step("chmod", func() error { return f.file.Chmod(f.mode) }); err != nil {
			return err
		}
	}
	if !f.options.Volatile {
		if err := f.step("sync", f.file.Sync); err != nil {
			return err
		}
	}
	return f.step("close", f.file.Close)
}

// Commit puts the new content in the place of the old.
func (f *File) Commit() error {
	defer f.Discard()
	if err := f.Finish(); err != nil {
		return err
	}
	if err := f.step("rename", func() error { return f.folder.Rename(f.temp, f.name) }); err != nil || f.options.Volatile {
		return err
	}
	return f.step("sync folder", f.syncFolder)
}

func (f *File) step(name string, do func() error) error {
	err := fault(name)
	if err == nil {
		err = do()
	}
	return f.failed(err)
}

// Discard gives up new content that Commit has not put in place.
func (f *File) Discard() {
	if f.done {
		return
	}
	f.done = true
	_ = f.file.Close()
	_ = f.folder.Remove(f.temp) // it is gone after a rename
	if f.own {
		_ = f.folder.Close()
	}
}

// syncFolder makes the rename durable.
func (f *File) syncFolder() error {
	if !foldersSync {
		return nil
	}
	folder, err := f.folder.Open(filepath.Dir(f.name))
	if err != nil {
		return err
	}
	defer func() { _ = folder.Close() }() // nothing is buffered in it
	return syncOpen(folder)
}

// foldersSync is false where the names in a folder cannot be synced.
const foldersSync = runtime.GOOS != "windows"

// Sync writes a file that somebody else wrote, or the names in a folder, to the
// disk.
func Sync(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if info.IsDir() && !foldersSync {
		return nil
	}
	mode := os.O_RDONLY
	if !info.IsDir() {
		mode = os.O_RDWR // which Windows asks for
	}
	f, err := os.OpenFile(path, mode, 0)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // nothing is buffered in it
	return syncOpen(f)
}

// syncOpen takes no for an answer: file systems that cannot sync a folder say
// so with EINVAL or ENOTSUP.
func syncOpen(f *os.File) error {
	err := f.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported) {
		return nil
	}
	return err
}

// failed names the file instead of the temporary one.
func (f *File) failed(err error) error {
	if err == nil {
		return nil
	}
	return &fs.PathError{Op: "write", Path: f.path, Err: cause(err)}
}

func cause(err error) error {
	var path *fs.PathError
	var link *os.LinkError
	switch {
	case errors.As(err, &path):
		return path.Err
	case errors.As(err, &link):
		return link.Err
	}
	return err
}

const (
	prefix = ".writ-"
	suffix = ".tmp"
)

// Temporary says whether a file's name is one that a write gives to content
// that is not in place yet. What has such a name and is older than any write
// takes may be removed.
func Temporary(name string) bool {
	middle, ours := strings.CutPrefix(filepath.Base(name), prefix)
	middle, ends := strings.CutSuffix(middle, suffix)
	_, err := hex.DecodeString(middle)
	return ours && ends && len(middle) == 16 && err == nil
}

// Sweep removes what interrupted writes left below a folder before a time. What
// cannot be looked at or removed stays.
func Sweep(dir string, before time.Time) {
	_ = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || !Temporary(e.Name()) {
			return nil //nolint:nilerr // the rest is looked at all the same
		}
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() && info.ModTime().Before(before) {
			_ = os.Remove(path) // it only takes room
		}
		return nil
	})
}

// fault is called before each step; a test makes one fail.
var fault = func(step string) error { return nil }
