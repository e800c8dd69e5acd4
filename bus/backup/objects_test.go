package backup_test

import (
	"context"
	"errors"
	"io"
	"log"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
	"github.com/rclone/gofakes3"
	"github.com/rclone/gofakes3/s3mem"

	"github.com/writbus/writ/bus/backup"
	"github.com/writbus/writ/bus/backup/objects"
	"github.com/writbus/writ/bus/embedded"
)

// s3 is an object store under test: one in this process, or the one at WRIT_S3, whose
// credentials AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are.
type s3 struct {
	endpoint, bucket string
	client           *minio.Client
}

func newS3(t *testing.T) s3 {
	t.Helper()
	s := s3{endpoint: os.Getenv("WRIT_S3"), bucket: "b" + strings.ToLower(time.Now().Format("150405.000000000")[7:])}
	if s.endpoint == "" {
		t.Setenv("AWS_ACCESS_KEY_ID", "key")
		t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
		t.Setenv("AWS_SHARED_CREDENTIALS_FILE", filepath.Join(t.TempDir(), "none"))
		server := httptest.NewServer(gofakes3.New(s3mem.New(), gofakes3.WithV4Auth(map[string]string{"key": "secret"}), gofakes3.WithLogger(gofakes3.StdLog(log.New(io.Discard, "", 0)))).Server())
		t.Cleanup(server.Close)
		s.endpoint = server.URL
	}
	at, err := url.Parse(s.endpoint)
	must(t, err)
	s.client, err = minio.New(at.Host, &minio.Options{Creds: credentials.NewEnvAWS()})
	must(t, err)
	must(t, s.client.MakeBucket(t.Context(), s.bucket, minio.MakeBucketOptions{}))
	return s
}

func (s s3) address(prefix string) string {
	return "s3://" + s.bucket + "/" + prefix + "?endpoint=" + s.endpoint + "&region=us-east-1"
}

func (s s3) open(t *testing.T, prefix string) *objects.Store {
	t.Helper()
	store, err := objects.Open(s.address(prefix))
	must(t, err)
	return store
}

func objectStore(t *testing.T, prefix string) *objects.Store { return newS3(t).open(t, prefix) }

// keys are the names of all objects.
func (s s3) keys(t *testing.T) (all []string) {
	t.Helper()
	for folders := []string{""}; len(folders) > 0; folders = folders[1:] {
		for o := range s.client.ListObjects(t.Context(), s.bucket, minio.ListObjectsOptions{Prefix: folders[0]}) {
			if must(t, o.Err); strings.HasSuffix(o.Key, "/") {
				folders = append(folders, o.Key)
			} else {
				all = append(all, o.Key)
			}
		}
	}
	return all
}

func TestObjectStore(t *testing.T) {
	s, f := newS3(t), newFolder(t)
	store := s.open(t, "deep/er")
	must(t, os.WriteFile(filepath.Join(f.root, "large"), []byte(strings.Repeat("large", 1<<20)), 0o600))
	source := f.source()
	at := func(second int) {
		source.Now = func() time.Time { return time.Date(2026, 1, 2, 3, 4, second, 0, time.UTC) }
	}
	at(1)
	first, err := store.Create(t.Context(), source)
	must(t, err)
	must(t, f.pair(t.Context(), "one"))
	at(2)
	source.Host = "a-container-later"
	second, err := store.Create(t.Context(), source)
	must(t, err)
	if first.Written < 5<<20 || second.Written == 0 || second.Written > 1<<20 {
		t.Errorf("the first sent %d bytes, the second %d of %d", first.Written, second.Written, second.Bytes())
	}
	other := source
	other.Instance = "of-another-machine"
	at(3)
	other.Now = source.Now
	_, err = store.Create(t.Context(), other)
	must(t, err)
	// One that is called off before its end is none.
	ctx, cancel := context.WithCancel(t.Context())
	broken := source
	broken.Cut = func() (*embedded.Cut, error) { cancel(); return source.Cut() }
	if _, err := store.Create(ctx, broken); !errors.Is(err, context.Canceled) {
		t.Errorf("called off: %v", err)
	}
	all, err := store.List(t.Context())
	must(t, err)
	if len(all) != 3 {
		t.Errorf("there are %d backups", len(all))
	}
	removed, err := store.Prune(t.Context(), f.source(), 1)
	must(t, err)
	if len(removed) != 1 || removed[0] != first.Dir {
		t.Errorf("removed %v", removed)
	}
	for _, name := range []string{"", "large"} {
		if name != "" {
			must(t, os.Remove(filepath.Join(f.root, name)))
			at(1) // the clock went back
			_, err = store.Create(t.Context(), source)
			must(t, err)
			removed, err := store.Prune(t.Context(), f.source(), 1)
			if err != nil || len(removed) != 1 || removed[0] != second.Dir {
				t.Errorf("removed %v, %v; the one before was %s", removed, err, second.Dir)
			}
		}
		into := t.TempDir()
		dir, err := store.Fetch(t.Context(), into, time.Time{})
		must(t, err)
		_, err = backup.Restore(t.Context(), dir, filepath.Join(into, "to"), 1, nil)
		must(t, err)
	}
	if n := strings.Count(strings.Join(s.keys(t), "\n"), "manifest.json"); n != 2 {
		t.Errorf("%d manifests are left", n)
	}
	// A damaged object is named.
	for _, key := range s.keys(t) {
		if !strings.Contains(key, "/files/") {
			continue
		}
		_, err := s.client.PutObject(t.Context(), s.bucket, key, strings.NewReader("damaged"), 7, minio.PutObjectOptions{})
		must(t, err)
	}
	into := t.TempDir()
	dir, err := store.Fetch(t.Context(), into, time.Time{})
	must(t, err)
	if _, err := backup.Restore(t.Context(), dir, filepath.Join(into, "to"), 1, nil); !errors.Is(err, backup.ErrBad) || !strings.Contains(err.Error(), "damaged") {
		t.Errorf("damaged objects: %v", err)
	}
}

func TestObjectStoreSaysWhatToDo(t *testing.T) {
	s, f := newS3(t), newFolder(t)
	for address, want := range map[string]string{
		"s3:///prefix":                    "s3://BUCKET",
		"s3://b?endpoint=ftp://127.0.0.1": "no http",
		strings.Replace(s.address("p"), s.bucket, s.bucket+"none", 1): "Make the bucket",
		"s3://b/p?region=r&endpoint=http://127.0.0.1:1":               "can be reached",
	} {
		store, err := objects.Open(address)
		if err == nil {
			_, err = store.Create(t.Context(), f.source())
		}
		if !errors.Is(err, backup.ErrPlace) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want it to say %q", address, err, want)
		}
	}
	t.Setenv("AWS_SECRET_ACCESS_KEY", "wrong")
	if _, err := s.open(t, "p").Create(t.Context(), f.source()); !errors.Is(err, backup.ErrPlace) || !strings.Contains(err.Error(), "~/.aws/credentials") {
		t.Errorf("wrong credentials: %v", err)
	}
	if left := s.keys(t); len(left) > 0 {
		t.Errorf("%v were left", left)
	}
}
