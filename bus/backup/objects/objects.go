// Package objects keeps backups in an object store that speaks S3.
//
// It guarantees that a backup is there once its manifest is, which is written last;
// that a file which the store has already is not sent again, as files are named
// after their digests; and that a file of a backup that stays is never removed, as
// long as only one program at a time writes backups of a data folder.
//
//	PREFIX/FOLDER/files/DIGEST                one file, whichever backups have it
//	PREFIX/FOLDER/TIME/manifest.{sha256,json} one backup
//
// FOLDER stands for a data folder, wherever it runs. One that is restored is another. It does not encrypt: a backup
// holds keys and credentials in the clear.
package objects

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"github.com/writbus/writ/bus/backup"
	"github.com/writbus/writ/schemas/digest"
)

// scheme begins the address of an object store.
const scheme = "s3://"

// tries bounds how often one request is sent: some seconds.
const tries = 4

// Is says whether a place is an object store.
func Is(place string) bool { return strings.HasPrefix(place, scheme) }

// Create writes a backup into a place, a folder or an object store, and removes the
// oldest ones of the data folder there beyond the newest keep; 0 keeps all.
func Create(ctx context.Context, place string, from backup.Source, keep int) (made backup.Backup, removed []string, err error) {
	if !Is(place) {
		if made, err = backup.Create(ctx, place, from); err == nil && keep > 0 {
			removed, err = backup.Prune(place, from, keep)
		}
		return made, removed, err
	}
	s, err := Open(place)
	if err == nil {
		made, err = s.Create(ctx, from)
	}
	if err == nil && keep > 0 {
		removed, err = s.Prune(ctx, from, keep)
	}
	return made, removed, err
}

// Find is a backup in a place as a folder: the oldest that reaches to a moment, the
// newest for the zero moment. What is fetched from an object store lies in a new
// folder in beside, and is gone after done.
func Find(ctx context.Context, place, beside string, at time.Time) (dir string, done func(), err error) {
	if !Is(place) {
		dir, err = backup.FindAt(place, at)
		return dir, func() {}, err
	}
	s, err := Open(place)
	if err == nil {
		err = os.MkdirAll(beside, 0o700)
	}
	if err != nil {
		return "", func() {}, err
	}
	const fetching = ".fetching-"
	if err := backup.Sweep(beside, fetching); err != nil { // of one that was killed
		return "", func() {}, err
	}
	into, err := os.MkdirTemp(beside, fetching+"*")
	if err != nil {
		return "", func() {}, err
	}
	done = func() { _ = os.RemoveAll(into) } // the next one removes what is left
	if dir, err = s.Fetch(ctx, into, at); err != nil {
		done()
	}
	return dir, done, err
}

// Store is a place in a bucket.
type Store struct {
	client         *minio.Client
	bucket, prefix string
	address        string // as it was given, for people
}

// Open opens s3://BUCKET/PREFIX?endpoint=URL&region=NAME. Without an endpoint it is
// AWS_ENDPOINT_URL, else Amazon's. Credentials are those of AWS_ACCESS_KEY_ID and
// AWS_SECRET_ACCESS_KEY, of ~/.aws/credentials, or of the machine's role. It
// returns backup.ErrPlace.
func Open(address string) (*Store, error) {
	at, err := url.Parse(address)
	if err != nil || at.Host == "" || !Is(address) {
		return nil, fmt.Errorf("%w: %s is no address of a bucket. It is s3://BUCKET/PREFIX?endpoint=https://HOST", backup.ErrPlace, address)
	}
	endpoint := cmp.Or(at.Query().Get("endpoint"), os.Getenv("AWS_ENDPOINT_URL"), "https://s3.amazonaws.com")
	host, err := url.Parse(endpoint)
	if err != nil || host.Host == "" || host.Scheme != "http" && host.Scheme != "https" {
		return nil, fmt.Errorf("%w: the endpoint %s of %s is no http or https address", backup.ErrPlace, endpoint, address)
	}
	client, err := minio.New(host.Host, &minio.Options{
		Creds: credentials.NewChainCredentials([]credentials.Provider{
			&credentials.EnvAWS{}, &credentials.FileAWSCredentials{}, &credentials.IAM{Client: &http.Client{Timeout: time.Second}},
		}),
		Secure: host.Scheme == "https", Region: cmp.Or(at.Query().Get("region"), os.Getenv("AWS_REGION")), MaxRetries: tries,
	})
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", backup.ErrPlace, address, err)
	}
	return &Store{client: client, bucket: at.Host, prefix: strings.Trim(at.Path, "/"), address: address}, nil
}

// explained says what to do about what a store answered.
func (s *Store) explained(what string, err error) error {
	if err == nil || errors.Is(err, backup.ErrBad) || errors.Is(err, context.Canceled) {
		return err
	}
	todo := "Look whether it can be reached from this machine, and repeat the command; what was sent already is not sent again"
	switch minio.ToErrorResponse(err).Code {
	case "AccessDenied", "InvalidAccessKeyId", "SignatureDoesNotMatch", "InvalidSecurity", "ExpiredToken", "AllAccessDisabled":
		todo = "The credentials are those of AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY that this program was started with (for writ backup that is the daemon), else of ~/.aws/credentials: look whether they are right, and may list, read, write and delete there"
	case "NoSuchBucket":
		todo = "Make the bucket, or name another"
	}
	return fmt.Errorf("%w: %s %s: %s. %s", backup.ErrPlace, what, s.address, strings.TrimRight(err.Error(), "."), todo)
}

// folder names a data folder, in which nobody else writes.
func folder(s backup.Source) string {
	return digest.Name(cmp.Or(s.Instance, s.Host) + "\x00" + s.Root)
}

func (s *Store) key(parts ...string) string {
	return path.Join(append([]string{s.prefix}, parts...)...)
}

// list hands over the objects in a folder, whose key ends in a slash, and the folders
// in it, whose keys do.
func (s *Store) list(ctx context.Context, under string, do func(minio.ObjectInfo)) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	for o := range s.client.ListObjects(ctx, s.bucket, minio.ListObjectsOptions{Prefix: under}) {
		if o.Err != nil {
			return s.explained("list", o.Err)
		}
		do(o)
	}
	return ctx.Err()
}

// Create writes a backup of a data folder that is in use. It returns
// backup.ErrPlace for a store that does not take it, with what to do.
func (s *Store) Create(ctx context.Context, from backup.Source) (backup.Backup, error) {
	own := folder(from)
	here, err := os.MkdirTemp("", "writ-backup-")
	if err != nil {
		return backup.Backup{}, err
	}
	defer func() { _ = os.RemoveAll(here) }() // the system removes what is left
	up := upload{store: s, ctx: ctx, here: here, files: s.key(own, "files") + "/", has: map[string]int64{}}
	if err := s.list(ctx, up.files, func(o minio.ObjectInfo) { up.has[strings.TrimPrefix(o.Key, up.files)] = o.Size }); err != nil {
		return backup.Backup{}, err
	}
	for part := range s.client.ListIncompleteUploads(ctx, s.bucket, up.files, false) { // of a backup that was killed
		if part.Err != nil {
			break // not every store can tell
		}
		_ = s.client.RemoveIncompleteUpload(ctx, s.bucket, part.Key) // best-effort: it is no part of any backup
	}
	if err := s.list(ctx, s.key(own)+"/", func(o minio.ObjectInfo) {
		if at, err := time.Parse(backup.Stamp, path.Base(o.Key)); err == nil && at.After(from.After) {
			from.After = at
		}
	}); err != nil {
		return backup.Backup{}, err
	}
	m, err := from.Copy(ctx, up.keep)
	if err != nil {
		return backup.Backup{}, fmt.Errorf("backup of %s: %w", from.Root, err)
	}
	body, sum, err := m.Encode()
	if err != nil {
		return backup.Backup{}, err
	}
	at := s.key(own, m.Time.Format(backup.Stamp))
	for _, f := range []struct {
		name string
		body []byte
	}{{backup.SumFile, sum}, {backup.ManifestFile, body}} { // whose last one makes it a backup
		if err := s.put(ctx, path.Join(at, f.name), bytes.NewReader(f.body), int64(len(f.body))); err != nil {
			return backup.Backup{}, err
		}
	}
	return backup.Backup{Dir: at, Manifest: m, Written: up.sent}, nil
}

// put sends an object; the store compares it with its digest.
func (s *Store) put(ctx context.Context, key string, body io.Reader, size int64) error {
	_, err := s.client.PutObject(ctx, s.bucket, key, body, size, minio.PutObjectOptions{SendContentMd5: true, ContentType: "application/octet-stream"})
	return s.explained("write to", err)
}

// upload keeps the files of one backup.
type upload struct {
	store *Store
	ctx   context.Context
	here  string // a folder of this machine for one file at a time
	files string // where they are
	has   map[string]int64
	sent  int64
}

// keep sends a file that the store has not. It is written here first, since its
// digest is its name.
func (u *upload) keep(name string, write func(io.Writer) error) (f backup.File, err error) {
	temp, err := os.OpenFile(filepath.Join(u.here, "file"), os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return f, err
	}
	defer func() { _ = temp.Close() }() // nobody reads it again
	hash := sha256.New()
	if err := write(io.MultiWriter(temp, hash)); err != nil {
		return f, err
	}
	size, err := temp.Seek(0, io.SeekCurrent)
	if err == nil {
		_, err = temp.Seek(0, io.SeekStart)
	}
	f = backup.File{Name: name, Size: size, SHA256: hex.EncodeToString(hash.Sum(nil))}
	if have, there := u.has[f.SHA256]; err != nil || there && have == size {
		return f, err
	}
	u.has[f.SHA256], u.sent = size, u.sent+size
	return f, u.store.put(u.ctx, u.files+f.SHA256, temp, size)
}

// List returns the backups in the store, the oldest first. What has no sound
// manifest is none.
func (s *Store) List(ctx context.Context) (all []backup.Backup, err error) {
	below := func(folders []string) (found []string) {
		for _, f := range folders {
			err = errors.Join(err, s.list(ctx, f, func(o minio.ObjectInfo) {
				if strings.HasSuffix(o.Key, "/") {
					found = append(found, o.Key)
				}
			}))
		}
		return found
	}
	top := ""
	if s.prefix != "" {
		top = s.prefix + "/"
	}
	folders := below([]string{top})
	// The address is that of several data folders, of one, or of a backup itself.
	for _, at := range slices.Concat(below(folders), folders, []string{top}) {
		if err != nil {
			break
		}
		at = path.Clean(at)
		if _, other := time.Parse(backup.Stamp, path.Base(at)); other != nil {
			continue
		}
		var m backup.Manifest
		m, err = s.manifest(ctx, at)
		if errors.Is(err, backup.ErrBad) {
			err = nil
			continue
		}
		all = append(all, backup.Backup{Dir: at, Manifest: m})
	}
	slices.SortStableFunc(all, func(a, b backup.Backup) int { return a.Time.Compare(b.Time) })
	return all, err
}

func (s *Store) manifest(ctx context.Context, at string) (m backup.Manifest, err error) {
	var body, sum bytes.Buffer
	if err := errors.Join(s.get(ctx, path.Join(at, backup.ManifestFile), &body), s.get(ctx, path.Join(at, backup.SumFile), &sum)); err != nil {
		return m, err
	}
	return backup.Decode(at, body.Bytes(), sum.Bytes())
}

// get reads an object. It returns backup.ErrBad for one that is not there.
func (s *Store) get(ctx context.Context, key string, to io.Writer) error {
	from, err := s.client.GetObject(ctx, s.bucket, key, minio.GetObjectOptions{})
	if err == nil {
		defer func() { _ = from.Close() }() // read only
		_, err = io.Copy(to, from)
	}
	if minio.ToErrorResponse(err).Code == "NoSuchKey" {
		return fmt.Errorf("%w: %s lacks %s", backup.ErrBad, s.address, key)
	}
	return s.explained("read from", err)
}

// Fetch brings a backup into an empty folder, the oldest that reaches to a moment,
// the newest for the zero moment, and returns its folder there, from which
// backup.Restore takes it.
func (s *Store) Fetch(ctx context.Context, into string, at time.Time) (dir string, err error) {
	all, err := s.List(ctx)
	if err != nil {
		return "", err
	}
	if len(all) == 0 {
		return "", fmt.Errorf("%w: there is no whole backup in %s", backup.ErrBad, s.address)
	}
	b, err := backup.Reaching(all, at)
	if err != nil {
		return "", err
	}
	dir = filepath.Join(into, path.Base(b.Dir))
	files := map[string]string{backup.ManifestFile: path.Join(b.Dir, backup.ManifestFile), backup.SumFile: path.Join(b.Dir, backup.SumFile)}
	for _, f := range b.Files {
		if !filepath.IsLocal(filepath.FromSlash(f.Name)) {
			return "", fmt.Errorf("%w: %s leads out of the folder", backup.ErrBad, f.Name)
		}
		files[filepath.Join(filepath.Base(backup.Content(dir)), filepath.FromSlash(f.Name))] = path.Join(path.Dir(b.Dir), "files", f.SHA256)
	}
	for name, key := range files {
		if err := s.fetch(ctx, key, filepath.Join(dir, name)); err != nil {
			return "", err
		}
	}
	return dir, nil
}

func (s *Store) fetch(ctx context.Context, key, to string) error {
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(s.get(ctx, key, f), f.Close())
}

// Prune removes the oldest backups of a data folder beyond the newest keep ones,
// which is at least 1, with the files that none of the others has, and returns what
// it removed.
func (s *Store) Prune(ctx context.Context, from backup.Source, keep int) (removed []string, err error) {
	all, err := s.List(ctx)
	if err != nil {
		return nil, err
	}
	own := s.key(folder(from))
	all = slices.DeleteFunc(all, func(b backup.Backup) bool { return path.Dir(b.Dir) != own })
	old := backup.Old(all, from, keep)
	if len(old) == 0 {
		return nil, nil
	}
	needed := map[string]bool{}
	for _, b := range all[len(old):] {
		for _, f := range b.Files {
			needed[f.SHA256] = true
		}
	}
	var useless []string
	for _, b := range old {
		removed = append(removed, b.Dir)
		// Without its manifest it is no backup, wherever the removal is cut off.
		useless = append(useless, path.Join(b.Dir, backup.ManifestFile), path.Join(b.Dir, backup.SumFile))
	}
	files := path.Join(own, "files") + "/"
	err = s.list(ctx, files, func(o minio.ObjectInfo) {
		if !needed[strings.TrimPrefix(o.Key, files)] {
			useless = append(useless, o.Key)
		}
	})
	for _, key := range useless {
		if err == nil {
			err = s.explained("remove from", s.client.RemoveObject(ctx, s.bucket, key, minio.RemoveObjectOptions{}))
		}
	}
	return removed, err
}
