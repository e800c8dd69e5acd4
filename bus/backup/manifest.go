package backup

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/writbus/writ/bus/embedded"
	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/schemas/atomicfile"
	"github.com/writbus/writ/schemas/digest"
)

var (
	// ErrBad is returned for a backup that is not whole: something of it is
	// missing or damaged, or it is none.
	ErrBad = errors.New("backup: it cannot be restored")
	// ErrPlace is returned for a place that a backup or a restore cannot write to, or
	// read.
	ErrPlace = errors.New("backup: this place cannot be used")
)

// Format is the newest format of backups that this package writes and reads.
const Format = 1

// The files of a backup beside the copied ones. Persisted; never change.
const (
	ManifestFile = "manifest.json"
	SumFile      = "manifest.sha256" // as sha256sum writes it
	contentDir   = "data"
)

// Manifest says what a backup holds.
type Manifest struct {
	Format     int               `json:"format"`
	Writ       string            `json:"writ"`        // version of the program that wrote it
	DataFormat int               `json:"data_format"` // of the data folder
	DataDir    string            `json:"data_dir"`    // that was copied
	Host       string            `json:"host,omitempty"`
	Identity   string            `json:"identity,omitempty"` // of the log
	Instance   string            `json:"instance,omitempty"` // of the data folder
	Time       time.Time         `json:"time"`               // of the cut, in UTC
	Streams    map[string]Stream `json:"streams"`
	Files      []File            `json:"files"`
}

// Stream is how far a stream reaches in a backup.
type Stream struct {
	embedded.Range
	SHA256 string `json:"sha256"` // over the lines "digest  name" of its files
}

// File is one copied file.
type File struct {
	Name   string `json:"name"` // below the data folder, with slashes
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
}

// Bytes is the size of all files together.
func (m *Manifest) Bytes() (n int64) {
	for _, f := range m.Files {
		n += f.Size
	}
	return n
}

// Reached are the streams by name, and how far they reach.
func (m *Manifest) Reached() (all []schemas.StreamStatus) {
	for _, name := range slices.Sorted(maps.Keys(m.Streams)) {
		s := m.Streams[name]
		all = append(all, schemas.StreamStatus{Name: schemas.Stream(name), First: s.First, Last: s.Last, Messages: s.Records(), Bytes: m.bytesOf(name)})
	}
	return all
}

func (m *Manifest) bytesOf(stream string) (n uint64) {
	for _, f := range m.filesOf(stream) {
		n += uint64(f.Size) //nolint:gosec // a size
	}
	return n
}

// describe states the streams with a digest over their files.
func (m *Manifest) describe(streams map[string]embedded.Range) {
	m.Streams = map[string]Stream{}
	for name, r := range streams {
		m.Streams[name] = Stream{Range: r, SHA256: m.digestOf(name)}
	}
}

func (m *Manifest) digestOf(stream string) string {
	var lines strings.Builder
	for _, f := range m.filesOf(stream) {
		fmt.Fprintf(&lines, "%s  %s\n", f.SHA256, f.Name)
	}
	return digest.Hex(lines.String())
}

func (m *Manifest) filesOf(stream string) (all []File) {
	for _, f := range m.Files {
		if strings.Contains(f.Name, "/streams/"+stream+"/") {
			all = append(all, f)
		}
	}
	return all
}

func sumLine(body []byte) []byte { return []byte(digest.Hex(body) + "  " + ManifestFile + "\n") }

// Encode returns the content of [ManifestFile] and of [SumFile].
func (m *Manifest) Encode() (body, sum []byte, err error) {
	if body, err = json.MarshalIndent(m, "", " "); err != nil {
		return nil, nil, err
	}
	body = append(body, '\n')
	return body, sumLine(body), nil
}

func (m *Manifest) write(dir string) error {
	body, sum, err := m.Encode()
	if err != nil {
		return err
	}
	return errors.Join(
		atomicfile.Write(filepath.Join(dir, ManifestFile), body, 0o600),
		atomicfile.Write(filepath.Join(dir, SumFile), sum, 0o600),
	)
}

// Read reads a backup's manifest and compares it with its digest. It returns
// ErrBad.
func Read(dir string) (m Manifest, err error) {
	body, err := os.ReadFile(filepath.Join(dir, ManifestFile))
	if err != nil {
		return m, fmt.Errorf("%w: %s holds no whole backup: %w", ErrBad, dir, err)
	}
	sum, err := os.ReadFile(filepath.Join(dir, SumFile))
	if err != nil {
		return m, fmt.Errorf("%w: %s holds no whole backup: %w", ErrBad, dir, err)
	}
	return Decode(dir, body, sum)
}

// Decode is the manifest that Encode wrote in a place. It returns ErrBad.
func Decode(place string, body, sum []byte) (m Manifest, err error) {
	if string(sum) != string(sumLine(body)) {
		return m, fmt.Errorf("%w: %s and %s in %s do not agree: one of them is damaged", ErrBad, ManifestFile, SumFile, place)
	}
	if err := json.Unmarshal(body, &m); err != nil {
		return m, fmt.Errorf("%w: %s in %s: %w", ErrBad, ManifestFile, place, err)
	}
	if m.Format > Format {
		return m, fmt.Errorf("%w: %s has format %d, and this program knows none above %d: a newer Writ wrote it. Install that version", ErrBad, place, m.Format, Format)
	}
	return m, nil
}

// Digest is the digest of a backup's manifest, which stands for the backup.
func Digest(dir string) (string, error) {
	body, err := os.ReadFile(filepath.Join(dir, ManifestFile))
	return digest.Hex(body), err
}

// Check compares every file of a backup with its digest. The ErrBad it returns
// names what is missing or damaged.
func Check(dir string) (Manifest, error) { return check(dir, nil) }

// check is Check but for the files that somebody compared already.
func check(dir string, compared map[string]bool) (Manifest, error) {
	m, err := Read(dir)
	if err != nil {
		return m, err
	}
	var wrong []string
	for _, f := range m.Files {
		if compared[f.Name] {
			continue
		}
		if problem := f.problem(dir); problem != "" {
			wrong = append(wrong, f.Name+" "+problem)
		}
	}
	if len(wrong) > 0 {
		return m, fmt.Errorf("%w: of the %d files in %s, %d are missing or damaged: %s", ErrBad, len(m.Files), dir, len(wrong), some(wrong))
	}
	return m, nil
}

// some joins the first of many.
func some(all []string) string {
	const most = 10
	if len(all) > most {
		return strings.Join(all[:most], ", ") + fmt.Sprintf(" and %d more", len(all)-most)
	}
	return strings.Join(all, ", ")
}

// problem says what is wrong with a file of a backup, "" for nothing.
func (f File) problem(dir string) string {
	if !filepath.IsLocal(filepath.FromSlash(f.Name)) {
		return "leads out of the folder"
	}
	file, err := os.Open(f.in(dir))
	if errors.Is(err, fs.ErrNotExist) {
		return "is missing"
	}
	if err != nil {
		return "cannot be read: " + err.Error()
	}
	defer func() { _ = file.Close() }() // read only
	sum := sha256.New()
	switch size, err := io.Copy(sum, file); {
	case err != nil:
		return "cannot be read: " + err.Error()
	case size != f.Size:
		return fmt.Sprintf("has %d of %d bytes", size, f.Size)
	case hex.EncodeToString(sum.Sum(nil)) != f.SHA256:
		return "is damaged"
	}
	return ""
}

// of says whether a backup is of a data folder: of one log in one place. Those of
// earlier programs name the machine instead, or not even that.
func (m *Manifest) of(s Source) bool {
	if m.Identity != "" && s.Identity != "" {
		return m.DataDir == s.Root && m.Identity == s.Identity
	}
	return m.DataDir == s.Root && (m.Host == "" || m.Host == s.Host)
}

// source is the data folder that a backup is of.
func (m *Manifest) source() Source {
	return Source{Root: m.DataDir, Host: m.Host, Identity: m.Identity}
}

func (f File) in(dir string) string {
	return filepath.Join(dir, contentDir, filepath.FromSlash(f.Name))
}
