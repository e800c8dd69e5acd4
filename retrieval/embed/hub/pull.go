package hub

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/writbus/writ/schemas/filelock"
)

// DefaultSilence is how long a server may say nothing.
const DefaultSilence = 30 * time.Second

// ErrBusy is returned while another process pulls the same model.
var ErrBusy = errors.New("hub: it is being pulled already")

// attempts is how often a file that breaks off is taken up again.
const attempts = 5

// listFile holds the checksums beside the files, in the form of sha256sum.
const listFile = "checksums.txt"

// Options say where a model is put and comes from.
type Options struct {
	Dir     string        // the folder of models; made if it does not exist
	From    string        // a URL or a directory with the model's files; its own URL if empty
	Silence time.Duration // 0 is [DefaultSilence]
	Client  *http.Client  // nil is one that obeys the proxy variables of the environment
	// Progress is told, often, how many bytes of the model are there.
	Progress func(done, total int64)
}

// Pull puts a model into the folder, from which it cannot be had half: its files
// are gathered beside it first. already says that it was there, whole. What was
// gathered stays when it fails or ctx ends, and the next Pull goes on from it.
func Pull(ctx context.Context, m Model, opt Options) (path string, already bool, err error) {
	opt.Silence = cmp.Or(opt.Silence, DefaultSilence)
	if opt.Client == nil {
		opt.Client = &http.Client{Transport: http.DefaultTransport}
	}
	if opt.Progress == nil {
		opt.Progress = func(int64, int64) {}
	}
	if len(m.Files) == 0 {
		return "", false, fmt.Errorf("%w: fetch all files of %s into a folder (git with LFS, or the hub's own client), then: writ model use FOLDER", ErrUnpinned, m.URL)
	}
	path = filepath.Join(opt.Dir, m.Name)
	if Check(path, m) == nil {
		return path, true, nil
	}
	from, err := newSource(m, opt)
	if err != nil {
		return "", false, err
	}
	if err := os.MkdirAll(opt.Dir, 0o700); err != nil {
		return "", false, fmt.Errorf("hub: %w", err)
	}
	lock, err := filelock.Take(filepath.Join(opt.Dir, "."+m.Name+".lock"))
	if errors.Is(err, filelock.ErrHeld) {
		err = ErrBusy
	}
	if err != nil {
		return "", false, fmt.Errorf("%s: %w", m.Name, err)
	}
	defer lock.Release()
	p := &puller{model: m, opt: opt, from: from, parts: filepath.Join(opt.Dir, "."+m.Name+".part")}
	if err := p.gather(ctx); err != nil {
		return "", false, p.explain(err)
	}
	if err := p.install(path); err != nil {
		return "", false, p.explain(err)
	}
	return path, false, nil
}

// Check compares the files in a model's folder with the known ones. It returns
// an error that names the first that differs.
func Check(path string, m Model) error {
	for _, f := range m.Files {
		if err := check(filepath.Join(path, filepath.FromSlash(f.Path)), f); err != nil {
			return err
		}
	}
	return nil
}

func check(path string, f File) error {
	file, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("hub: %w", err)
	}
	defer func() { _ = file.Close() }()
	sum := sha256.New()
	n, err := io.Copy(sum, io.LimitReader(file, f.Size+1))
	switch got := hex.EncodeToString(sum.Sum(nil)); {
	case err != nil:
		return fmt.Errorf("hub: %w", err)
	case n != f.Size:
		return fmt.Errorf("%w: %s has not the %d bytes of the model's", ErrContent, path, f.Size)
	case got != f.SHA256:
		return fmt.Errorf("%w: %s has SHA-256 %s, the model's has %s", ErrContent, path, got, f.SHA256)
	}
	return nil
}

// puller is one call of Pull.
type puller struct {
	model Model
	opt   Options
	from  source
	parts string // the folder where files are gathered
	done  int64  // bytes of the files before the present one
}

// gather completes every file in the folder of parts.
func (p *puller) gather(ctx context.Context) error {
	for _, f := range p.model.Files {
		path := filepath.Join(p.parts, filepath.FromSlash(f.Path))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return fmt.Errorf("hub: %w", err)
		}
		if err := p.file(ctx, f, path); err != nil {
			return err
		}
		p.done += f.Size
		p.opt.Progress(p.done, p.model.Size())
	}
	return nil
}

// file completes one file. What an earlier pull left of it may be of another
// version: if the whole is wrong, it is fetched once more from its beginning.
func (p *puller) file(ctx context.Context, f File, path string) error {
	resumed := size(path) > 0
	err := p.fetch(ctx, f, path)
	if err == nil {
		err = check(path, f)
	}
	if !errors.Is(err, ErrContent) {
		return err
	}
	if e := os.Remove(path); e != nil && !errors.Is(e, fs.ErrNotExist) {
		return errors.Join(err, fmt.Errorf("hub: %w", e))
	}
	if resumed {
		return p.file(ctx, f, path)
	}
	return fmt.Errorf("%s: %w", p.from.where(f), err)
}

// fetch brings a file to its full length, taking it up again where it breaks off.
func (p *puller) fetch(ctx context.Context, f File, path string) error {
	for attempt := 1; ; attempt++ {
		had := size(path)
		if had == f.Size {
			return nil
		}
		if had > f.Size {
			had = 0
		}
		err := p.once(ctx, f, path, had)
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return fmt.Errorf("%s: interrupted: %w", p.from.where(f), ctx.Err())
		case !errors.Is(err, ErrNetwork) || attempt == attempts || size(path) <= had:
			return err
		}
	}
}

// once writes what one request gives from a byte on.
func (p *puller) once(ctx context.Context, f File, path string, from int64) (err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	timer := time.AfterFunc(p.opt.Silence, func() { cancel(errSilent) })
	defer timer.Stop()
	body, at, err := p.from.open(ctx, f, from)
	if err != nil {
		return p.silent(ctx, err)
	}
	defer func() { _ = body.Close() }()
	file, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("hub: %w", err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if info, err := file.Stat(); err == nil && info.Mode().IsRegular() {
		if err := file.Truncate(at); err != nil {
			return fmt.Errorf("hub: %w", err)
		}
	}
	if _, err := file.Seek(at, io.SeekStart); err != nil {
		return fmt.Errorf("hub: %w", err)
	}
	to := &counter{file: file, at: at, told: func(n int64) { p.opt.Progress(p.done+n, p.model.Size()) }}
	_, err = io.Copy(to, io.LimitReader(watch{Reader: body, timer: timer, limit: p.opt.Silence}, f.Size-at+1))
	switch {
	case to.err != nil:
		return fmt.Errorf("hub: %w", to.err)
	case err != nil:
		return p.silent(ctx, fmt.Errorf("%w: %s broke off after %d of %d bytes: %w", ErrNetwork, p.from.where(f), to.at, f.Size, err))
	case to.at > f.Size:
		return fmt.Errorf("%w: there are more than the %d bytes of the model's", ErrContent, f.Size)
	case to.at < f.Size:
		return fmt.Errorf("%w: %s ended after %d of %d bytes", ErrNetwork, p.from.where(f), to.at, f.Size)
	}
	if err := file.Sync(); err != nil {
		return fmt.Errorf("hub: %w", err)
	}
	return nil
}

// silent puts the reason into an error for which the watch is to blame.
func (p *puller) silent(ctx context.Context, err error) error {
	if errors.Is(context.Cause(ctx), errSilent) {
		return fmt.Errorf("%w: %w for %s", ErrNetwork, errSilent, p.opt.Silence)
	}
	return err
}

// counter writes, and keeps a failure to write apart from one to read.
type counter struct {
	file *os.File
	at   int64
	told func(int64)
	err  error
}

func (c *counter) Write(b []byte) (int, error) {
	n, err := c.file.Write(b)
	c.at, c.err = c.at+int64(n), err
	c.told(c.at)
	return n, err
}

// install moves the gathered files to their name. Each step leaves either the
// old model or the new one, or neither and all parts.
func (p *puller) install(path string) error {
	var list strings.Builder
	fmt.Fprintf(&list, "# %s, %s, published at %s\n", p.model.Name, p.model.License, p.model.URL)
	for _, f := range p.model.Files {
		fmt.Fprintf(&list, "%s  %s\n", f.SHA256, f.Path)
	}
	if err := p.tidy(); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(p.parts, listFile), []byte(list.String()), 0o600); err != nil {
		return fmt.Errorf("hub: %w", err)
	}
	old := filepath.Join(p.opt.Dir, "."+p.model.Name+".old")
	if err := os.RemoveAll(old); err != nil {
		return fmt.Errorf("hub: %w", err)
	}
	if err := os.Rename(path, old); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("hub: %w", err)
	}
	if err := os.Rename(p.parts, path); err != nil {
		return fmt.Errorf("hub: %w", err)
	}
	if err := os.RemoveAll(old); err != nil {
		return fmt.Errorf("hub: %w", err)
	}
	return nil
}

// tidy removes what another version of the table may have left among the parts.
func (p *puller) tidy() error {
	ours := map[string]bool{}
	for _, f := range p.model.Files {
		ours[filepath.FromSlash(f.Path)] = true
	}
	return filepath.WalkDir(p.parts, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		if rel, err := filepath.Rel(p.parts, path); err != nil || ours[rel] {
			return err
		}
		return os.Remove(path)
	})
}

func size(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}
