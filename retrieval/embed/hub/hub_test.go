package hub

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/writbus/writ/schemas/filelock"
)

// contents are the files of a small model.
var contents = map[string]string{
	"config.json":           `{"a":1}`,
	"1_Pooling/config.json": `{"b":2}`,
	"model.safetensors":     strings.Repeat("0123456789abcdef", 20_000),
}

func small() Model {
	m := Model{Name: "small", License: "MIT", URL: "http://127.0.0.1:1/never"}
	for _, path := range []string{"config.json", "1_Pooling/config.json", "model.safetensors"} {
		sum := sha256.Sum256([]byte(contents[path]))
		m.Files = append(m.Files, File{Path: path, Size: int64(len(contents[path])), SHA256: hex.EncodeToString(sum[:])})
	}
	return m
}

// server answers as a well-behaved one does, unless odd answers first.
func server(t *testing.T, odd func(w http.ResponseWriter, r *http.Request) (answered bool)) (url string, asked func() []string) {
	t.Helper()
	var mu sync.Mutex
	var log []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		log = append(log, strings.TrimSpace(strings.TrimPrefix(r.URL.Path, "/mirror/")+" "+r.Header.Get("Range")))
		mu.Unlock()
		if odd != nil && odd(w, r) {
			return
		}
		content, ok := contents[strings.TrimPrefix(r.URL.Path, "/mirror/")]
		if !ok {
			http.NotFound(w, r)
			return
		}
		http.ServeContent(w, r, "", time.Time{}, strings.NewReader(content))
	}))
	t.Cleanup(s.Close)
	return s.URL + "/mirror", func() []string {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(log)
	}
}

func weightsOf(r *http.Request) bool { return strings.HasSuffix(r.URL.Path, "model.safetensors") }

func whole(t *testing.T, dir string) {
	t.Helper()
	path := filepath.Join(dir, "small")
	if err := Check(path, small()); err != nil {
		t.Error(err)
	}
	list, err := os.ReadFile(filepath.Join(path, listFile))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range small().Files {
		if !bytes.Contains(list, []byte(f.SHA256+"  "+f.Path+"\n")) {
			t.Errorf("%s is not in\n%s", f.Path, list)
		}
	}
	absent(t, filepath.Join(dir, ".small.part"), filepath.Join(dir, ".small.old"))
}

func absent(t *testing.T, paths ...string) {
	t.Helper()
	for _, path := range paths {
		if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s is there (%v)", path, err)
		}
	}
}

func TestPull(t *testing.T) {
	url, asked := server(t, nil)
	dir := filepath.Join(t.TempDir(), "models")
	last := int64(0)
	path, already, err := Pull(t.Context(), small(), Options{Dir: dir, From: url + "/", Progress: func(done, total int64) {
		if done < last || total != small().Size() {
			t.Errorf("%d after %d, of %d", done, last, total)
		}
		last = done
	}})
	if err != nil || already || path != filepath.Join(dir, "small") || last != small().Size() {
		t.Fatal(path, already, last, err)
	}
	whole(t, dir)
	if _, already, err := Pull(t.Context(), small(), Options{Dir: dir, From: url}); err != nil || !already {
		t.Error(already, err)
	}
	if got := asked(); len(got) != 3 {
		t.Errorf("asked for %q", got)
	}
}

func TestPullFromADirectory(t *testing.T) {
	from, dir := t.TempDir(), t.TempDir()
	for path, content := range contents {
		put(t, filepath.Join(from, path), content)
	}
	if _, _, err := Pull(t.Context(), small(), Options{Dir: dir, From: from}); err != nil {
		t.Fatal(err)
	}
	whole(t, dir)
	put(t, filepath.Join(from, "config.json"), `{"a":2}`)
	for _, c := range []struct {
		from string
		want error
		word string
	}{
		{from, ErrContent, "config.json"},
		{filepath.Join(from, "config.json"), nil, "is a file"},
		{filepath.Join(from, "none"), fs.ErrNotExist, "none"},
		{t.TempDir(), fs.ErrNotExist, "config.json"},
	} {
		to := t.TempDir()
		_, _, err := Pull(t.Context(), small(), Options{Dir: to, From: c.from})
		if err == nil || c.want != nil && !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.word) {
			t.Errorf("%v, want %v with %q", err, c.want, c.word)
		}
		absent(t, filepath.Join(to, "small"))
	}
}

func put(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// A damaged model is replaced, and what does not belong to it is gone.
func TestPullRepairs(t *testing.T) {
	url, _ := server(t, nil)
	dir := t.TempDir()
	put(t, filepath.Join(dir, "small", "config.json"), `{"a":9}`)
	put(t, filepath.Join(dir, "small", "vocab.txt"), "of another")
	put(t, filepath.Join(dir, ".small.part", "stale.txt"), "of an older version")
	put(t, filepath.Join(dir, ".small.old", "x"), "left behind")
	if _, already, err := Pull(t.Context(), small(), Options{Dir: dir, From: url}); err != nil || already {
		t.Fatal(already, err)
	}
	whole(t, dir)
	absent(t, filepath.Join(dir, "small", "vocab.txt"), filepath.Join(dir, "small", "stale.txt"))
}

// What a broken fetch left is gone on from, if it is the model's.
func TestPullResumes(t *testing.T) {
	weights := contents["model.safetensors"]
	for name, c := range map[string]struct {
		part, want string // asked of the weights
		odd        func(http.ResponseWriter, *http.Request) bool
	}{
		"half of it": {weights[:100_000], "model.safetensors bytes=100000-", nil},
		"all of it":  {weights, "", nil},
		"too much":   {weights + "x", "model.safetensors", nil},
		"of another": {strings.Repeat("x", 9), "model.safetensors bytes=9-|model.safetensors", nil},
		"no ranges": {weights[:100_000], "model.safetensors bytes=100000-", func(_ http.ResponseWriter, r *http.Request) bool {
			r.Header.Del("Range")
			return false
		}},
	} {
		t.Run(name, func(t *testing.T) {
			url, asked := server(t, c.odd)
			dir := t.TempDir()
			put(t, filepath.Join(dir, ".small.part", "model.safetensors"), c.part)
			if _, _, err := Pull(t.Context(), small(), Options{Dir: dir, From: url}); err != nil {
				t.Fatal(err)
			}
			whole(t, dir)
			var got []string
			for _, request := range asked() {
				if strings.HasPrefix(request, "model") {
					got = append(got, request)
				}
			}
			if strings.Join(got, "|") != c.want {
				t.Errorf("asked for %q, want %q", got, c.want)
			}
		})
	}
}

// A server that breaks off is asked again for the rest, while each answer brings
// some of it.
func TestPullGoesOnAfterBreaks(t *testing.T) {
	breaks := 0
	url, asked := server(t, func(w http.ResponseWriter, r *http.Request) bool {
		if !weightsOf(r) || breaks == attempts-1 {
			return false
		}
		breaks++
		from := 0
		_, _ = fmt.Sscanf(r.Header.Get("Range"), "bytes=%d-", &from)
		weights := contents["model.safetensors"]
		w.Header().Set("Content-Length", fmt.Sprint(len(weights)-from))
		if from > 0 {
			w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", from, len(weights)-1, len(weights)))
			w.WriteHeader(http.StatusPartialContent)
		}
		_, _ = w.Write([]byte(weights[from : from+50_000]))
		cut(w)
		return true
	})
	dir := t.TempDir()
	if _, _, err := Pull(t.Context(), small(), Options{Dir: dir, From: url}); err != nil {
		t.Fatal(err)
	}
	whole(t, dir)
	if got := asked(); len(got) != 2+attempts {
		t.Errorf("asked %q", got)
	}
}

// cut ends the connection in the middle of the answer.
func cut(w http.ResponseWriter) {
	_ = http.NewResponseController(w).Flush()
	panic(http.ErrAbortHandler)
}

// Whatever a server does wrong: a clear error, and no model.
func TestBadServers(t *testing.T) {
	weights := contents["model.safetensors"]
	for name, c := range map[string]struct {
		odd  func(http.ResponseWriter, *http.Request)
		want error
		word string
	}{
		"not found":    {func(w http.ResponseWriter, r *http.Request) { http.NotFound(w, r) }, ErrServer, "404"},
		"forbidden":    {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) }, ErrServer, "403"},
		"overloaded":   {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) }, ErrServer, "later"},
		"another part": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusPartialContent) }, ErrServer, "bytes from 0"},
		"bytes further on": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Range", fmt.Sprintf("bytes 9-%d/%d", len(weights)-1, len(weights)))
			w.WriteHeader(http.StatusPartialContent)
			_, _ = w.Write([]byte(weights[9:]))
		}, ErrServer, "bytes 9-"},
		"a web page":  {func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>log in</html>")) }, ErrContent, "has 19 bytes"},
		"wrong bytes": {func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(strings.ToUpper(weights))) }, ErrContent, "SHA-256"},
		"too many bytes": {func(w http.ResponseWriter, _ *http.Request) {
			_ = http.NewResponseController(w).Flush() // so that no length is stated
			for range 100 {
				_, _ = w.Write([]byte(weights))
			}
		}, ErrContent, "more than"},
		"too few bytes": {func(w http.ResponseWriter, _ *http.Request) {
			_ = http.NewResponseController(w).Flush()
		}, ErrNetwork, "ended after 0 of"},
		"a length that is a lie": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", fmt.Sprint(len(weights)))
			cut(w)
		}, ErrNetwork, "--from"},
		"some bytes, then nothing": {func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", fmt.Sprint(len(weights)))
			_, _ = w.Write([]byte(weights[:9]))
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		}, ErrNetwork, "no byte came for 50ms"},
		"no answer at all": {func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, ErrNetwork, "no byte came for 50ms"},
		"a circle":         {func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, r.URL.Path, http.StatusFound) }, ErrNetwork, "redirects"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url, asked := server(t, func(w http.ResponseWriter, r *http.Request) bool {
				if weightsOf(r) {
					c.odd(w, r)
				}
				return weightsOf(r)
			})
			dir := t.TempDir()
			opt, most := Options{Dir: dir, From: url}, 3
			if strings.Contains(c.word, "no byte") { // else the machine's speed would count
				opt.Silence, most = 50*time.Millisecond, 1
				for _, f := range small().Files { // those there are no question of time
					if f.Path != "model.safetensors" {
						put(t, filepath.Join(dir, ".small.part", f.Path), contents[f.Path])
					}
				}
			}
			_, _, err := Pull(t.Context(), small(), opt)
			if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.word) {
				t.Errorf("%v, want %v with %q", err, c.want, c.word)
			}
			if got := asked(); len(got) != most && c.word != "redirects" && !strings.HasPrefix(name, "some bytes") {
				t.Errorf("asked again without need: %q", got)
			}
			absent(t, filepath.Join(dir, "small"))
			if errors.Is(c.want, ErrContent) {
				absent(t, filepath.Join(dir, ".small.part", "model.safetensors"))
			}
		})
	}
}

func TestNoNetwork(t *testing.T) {
	dir := t.TempDir()
	_, _, err := Pull(t.Context(), small(), Options{Dir: dir})
	if !errors.Is(err, ErrNetwork) || !strings.Contains(err.Error(), "needs the network") || !strings.Contains(err.Error(), "--from") {
		t.Error(err)
	}
}

// Ended in the middle, nothing is half there, and the next pull goes on.
func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	interrupted := false
	url, asked := server(t, func(w http.ResponseWriter, r *http.Request) bool {
		if !weightsOf(r) || interrupted {
			return false
		}
		interrupted = true
		weights := contents["model.safetensors"]
		w.Header().Set("Content-Length", fmt.Sprint(len(weights)))
		_, _ = w.Write([]byte(weights[:100_000]))
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
		return true
	})
	dir := t.TempDir()
	_, _, err := Pull(ctx, small(), Options{Dir: dir, From: url, Progress: func(done, _ int64) {
		if done > 50_000 {
			cancel()
		}
	}})
	if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "interrupted") || !strings.Contains(err.Error(), "goes on") {
		t.Fatal(err)
	}
	absent(t, filepath.Join(dir, "small"))
	if _, _, err := Pull(t.Context(), small(), Options{Dir: dir, From: url}); err != nil {
		t.Fatal(err)
	}
	whole(t, dir)
	if got := asked(); !strings.Contains(got[len(got)-1], "bytes=") {
		t.Errorf("asked %q", got)
	}
}

func TestOnePullAtATime(t *testing.T) {
	dir := t.TempDir()
	lock, err := filelock.Take(filepath.Join(dir, ".small.lock"))
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := Pull(t.Context(), small(), Options{Dir: dir}); !errors.Is(err, ErrBusy) {
		t.Error(err)
	}
	lock.Release()
	url, _ := server(t, nil)
	if _, _, err := Pull(t.Context(), small(), Options{Dir: dir, From: url}); err != nil {
		t.Error(err)
	}
}

func TestFullDisk(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs Linux's /dev/full, a file on a disk that is full")
	}
	url, _ := server(t, nil)
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, ".small.part"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/dev/full", filepath.Join(dir, ".small.part", "model.safetensors")); err != nil {
		t.Fatal(err)
	}
	_, _, err := Pull(t.Context(), small(), Options{Dir: dir, From: url})
	if !errors.Is(err, ErrDisk) || !strings.Contains(err.Error(), dir) || !strings.Contains(err.Error(), "1 MB") {
		t.Error(err)
	}
	absent(t, filepath.Join(dir, "small"))
}

func TestFoldersThatCannotBeWritten(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	put(t, file, "")
	if _, _, err := Pull(t.Context(), small(), Options{Dir: filepath.Join(file, "models")}); err == nil || !strings.Contains(err.Error(), file) {
		t.Error(err)
	}
}

// The table says of each model what it takes to fetch and to check it.
func TestKnownModels(t *testing.T) {
	for _, m := range Known() {
		found, err := Find(strings.ToUpper(m.Name))
		if err != nil || found.Name != m.Name || m.License == "" || m.Summary == "" || m.Dim < 1 || !strings.HasPrefix(m.URL, "https://") {
			t.Errorf("%+v, %v", m, err)
		}
		if (m.About == 0) != (len(m.Files) > 0) {
			t.Errorf("%s has %d files, and about %d bytes", m.Name, len(m.Files), m.About)
		}
		for _, f := range m.Files {
			if sum, err := hex.DecodeString(f.SHA256); err != nil || len(sum) != sha256.Size || f.Size < 1 || !filepath.IsLocal(f.Path) {
				t.Errorf("%s: %+v, %v", m.Name, f, err)
			}
		}
	}
	leaf, err := Find("mdbr-leaf-ir")
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := Pull(t.Context(), leaf, Options{Dir: t.TempDir()}); !errors.Is(err, ErrUnpinned) || !strings.Contains(err.Error(), "writ model use FOLDER") || !strings.Contains(err.Error(), leaf.URL) {
		t.Error(err)
	}
	if _, err := Find("nothing-such"); !errors.Is(err, ErrUnknown) || !strings.Contains(err.Error(), "potion-base-8M") {
		t.Error(err)
	}
}

// The sums in the table are those of the files that the encoder is tested with.
func TestKnownSums(t *testing.T) {
	dir := os.Getenv("WRIT_MINILM_DIR")
	if dir == "" {
		t.Skip("WRIT_MINILM_DIR names no directory with all-MiniLM-L6-v2; test/ci/minilm-weights.sh fetches it")
	}
	m, err := Find("all-MiniLM-L6-v2")
	if err != nil {
		t.Fatal(err)
	}
	if err := Check(dir, m); err != nil {
		t.Error(err)
	}
}
