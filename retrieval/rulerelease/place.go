package rulerelease

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/writbus/writ/schemas/atomicfile"
)

// Extension ends the name of a file that holds a release.
const Extension = ".release"

// maxFile bounds a release, in bytes, below what one message carries.
const maxFile = 24 << 20

// fetchTime bounds a download.
const fetchTime = time.Minute

// Fetch reads a release from where it is kept: a file, a folder, of whose *.release
// files of that name the one of the highest number counts, or an http(s) URL. The name
// may be empty where all files of the folder are of one. It checks nothing.
func Fetch(ctx context.Context, place, name string) ([]byte, error) {
	if at, err := url.Parse(place); err == nil && at.Host != "" {
		return download(ctx, at)
	}
	info, err := os.Stat(place)
	switch {
	case err != nil:
		return nil, err
	case !info.IsDir():
		return readFile(place)
	}
	entries, err := os.ReadDir(place)
	if err != nil {
		return nil, err
	}
	var newest []byte
	any, last := name == "", 0
	for _, e := range entries {
		if filepath.Ext(e.Name()) != Extension {
			continue
		}
		raw, err := readFile(filepath.Join(place, e.Name()))
		if err != nil {
			return nil, err
		}
		claim, _, _ := Open(raw, nil) // only which one is looked at
		if any && name == "" {
			name = claim.Name
		} else if any && claim.Name != "" && claim.Name != name {
			return nil, fmt.Errorf("%s holds releases of %s and of %s: name the file", place, name, claim.Name)
		}
		if claim.Name == name && claim.Number > last {
			newest, last = raw, claim.Number
		}
	}
	if newest == nil {
		return nil, fmt.Errorf("there is no release in %s: their files end in %s", place, Extension)
	}
	return newest, nil
}

// Write writes a release to a file that is not there yet, or into a folder under its
// name and number. It returns the file.
func Write(path string, raw []byte) (string, error) {
	r, _, err := Open(raw, nil)
	if !errors.Is(err, ErrSignature) {
		return "", err
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		path = filepath.Join(path, fmt.Sprintf("%s-%d%s", r.Name, r.Number, Extension))
	}
	if _, err := os.Lstat(path); err == nil {
		return "", fmt.Errorf("%s is there already: a number says one thing alone; take another, or another file", path)
	}
	return path, atomicfile.Write(path, append(raw, '\n'), 0o644)
}

func readFile(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	return bounded(f, name)
}

func bounded(r io.Reader, name string) ([]byte, error) {
	raw, err := io.ReadAll(io.LimitReader(r, maxFile+1))
	if err == nil && len(raw) > maxFile {
		err = fmt.Errorf("%s has more than %d MiB, which no release has", name, maxFile>>20)
	}
	return raw, err
}

func download(ctx context.Context, at *url.URL) ([]byte, error) {
	if at.Scheme != "https" && at.Scheme != "http" || at.User != nil {
		return nil, errors.New("a URL of releases begins with https:// or http:// and holds no password")
	}
	ctx, cancel := context.WithTimeout(ctx, fetchTime)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, at.String(), nil)
	if err != nil {
		return nil, err
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, err
	}
	defer func() { _ = answer.Body.Close() }()
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s answers %s", at, answer.Status)
	}
	return bounded(answer.Body, at.String())
}
