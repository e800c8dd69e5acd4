package hub

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"
)

var (
	// ErrNetwork is returned when the server cannot be reached, falls silent or
	// breaks off again and again.
	ErrNetwork = errors.New("hub: the network failed")
	// ErrServer is returned for an answer that is no file.
	ErrServer = errors.New("hub: the server has no such file")
	// ErrContent is returned for a file that is not the model's.
	ErrContent = errors.New("hub: not the file that was asked for")
)

// source is where a model's files come from.
type source interface {
	// open returns a file's bytes, from the given one if the source can, and
	// where they begin.
	open(ctx context.Context, f File, from int64) (body io.ReadCloser, at int64, err error)
	// where names a file for people.
	where(f File) string
}

// newSource is the directory or the URL that from names, or the model's own.
func newSource(m Model, opt Options) (source, error) {
	from := cmp.Or(opt.From, m.URL)
	if strings.HasPrefix(from, "https://") || strings.HasPrefix(from, "http://") {
		return web{base: strings.TrimRight(from, "/"), client: opt.Client}, nil
	}
	info, err := os.Stat(from)
	switch {
	case err != nil:
		return nil, fmt.Errorf("hub: the directory to copy from: %w", err)
	case !info.IsDir():
		return nil, fmt.Errorf("hub: %s is a file; name the directory with the model's files, or a URL", from)
	}
	return folder(from), nil
}

type folder string

func (d folder) where(f File) string { return filepath.Join(string(d), filepath.FromSlash(f.Path)) }

func (d folder) open(_ context.Context, f File, from int64) (io.ReadCloser, int64, error) {
	path := d.where(f)
	file, err := os.Open(path)
	if err != nil {
		return nil, 0, fmt.Errorf("hub: %w", err)
	}
	info, err := file.Stat()
	if err == nil && info.Size() != f.Size {
		err = fmt.Errorf("%w: %s has %d bytes, the model's has %d", ErrContent, path, info.Size(), f.Size)
	}
	if err == nil {
		_, err = file.Seek(from, io.SeekStart)
	}
	if err != nil {
		return nil, 0, errors.Join(err, file.Close())
	}
	return file, from, nil
}

type web struct {
	base   string
	client *http.Client
}

func (w web) where(f File) string { return w.base + "/" + f.Path }

func (w web) open(ctx context.Context, f File, from int64) (io.ReadCloser, int64, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, w.where(f), nil)
	if err != nil {
		return nil, 0, fmt.Errorf("hub: %w", err)
	}
	request.Header.Set("User-Agent", "writ")
	request.Header.Set("Accept-Encoding", "identity") // a file's length is then the answer's
	if from > 0 {
		request.Header.Set("Range", fmt.Sprintf("bytes=%d-", from))
	}
	answer, err := w.client.Do(request)
	if err != nil {
		return nil, 0, fmt.Errorf("%w: %w", ErrNetwork, err)
	}
	at, err := begins(answer, from)
	if err == nil && answer.ContentLength >= 0 && at+answer.ContentLength != f.Size {
		err = fmt.Errorf("%w: %s has %d bytes, the model's has %d", ErrContent, w.where(f), at+answer.ContentLength, f.Size)
	}
	if err != nil {
		return nil, 0, errors.Join(err, answer.Body.Close())
	}
	return answer.Body, at, nil
}

// begins tells which byte of the file an answer begins with.
func begins(answer *http.Response, asked int64) (int64, error) {
	url := answer.Request.URL.Redacted()
	switch answer.StatusCode {
	case http.StatusOK:
		return 0, nil
	case http.StatusPartialContent:
		var at int64
		if _, err := fmt.Sscanf(answer.Header.Get("Content-Range"), "bytes %d-", &at); err != nil || at != asked {
			return 0, fmt.Errorf("%w: %s: asked for the bytes from %d, got %q", ErrServer, url, asked, answer.Header.Get("Content-Range"))
		}
		return at, nil
	case http.StatusTooManyRequests, http.StatusInternalServerError, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return 0, fmt.Errorf("%w: %s: %s; try again later", ErrServer, url, answer.Status)
	}
	return 0, fmt.Errorf("%w: %s: %s", ErrServer, url, answer.Status)
}

// errSilent ends a request whose server says nothing.
var errSilent = errors.New("no byte came")

// watch ends a request when no byte came for a while; the body tells it of each.
type watch struct {
	io.Reader
	timer *time.Timer
	limit time.Duration
}

func (w watch) Read(p []byte) (int, error) {
	n, err := w.Reader.Read(p)
	if n > 0 {
		w.timer.Reset(w.limit)
	}
	return n, err
}
