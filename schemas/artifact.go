package schemas

import "time"

func registerArtifact(add func(Type, definition)) {
	add(define[ArtifactIndexed](KindArtifact, unchanged))
	add(define[ArtifactRemoved](KindArtifact))
	add(define[IndexBuilt](KindArtifact))
	add(define[ArtifactShown](KindArtifact))
	add(define[SettingsAccepted](KindArtifact))
	add(define[PasskeyEnrolled](KindArtifact))
	add(define[PasskeyRemoved](KindArtifact))
	add(define[PasskeyUsed](KindArtifact))
}

// Artifact returns the aggregate of one project's index. The id is the
// project's folder, absolute.
func Artifact(project string) Aggregate { return Aggregate{KindArtifact, project} }

// ArtifactIndexed records a project file as the index took it in. It holds no
// text: that is the file's, and the hash says whether the file still has it.
type ArtifactIndexed struct {
	File FileState `json:"file"`
	Kind string    `json:"kind,omitempty"` // requirement, architecture, test, code, documentation, research
	// Modified is when the file was changed last, as its folder has it.
	Modified time.Time `json:"modified,omitzero"`
	// From is the path that the same bytes left in the same change: the file
	// was renamed. The old path is no longer in the index.
	From string `json:"from,omitempty"`
}

// EventType names the event "artifact.indexed".
func (ArtifactIndexed) EventType() Type { return "artifact.indexed" }

// Check requires the path.
func (p ArtifactIndexed) Check() error { return require("file.path", p.File.Path) }

// ArtifactRemoved records that a file left the index.
type ArtifactRemoved struct {
	Path string `json:"path"`
}

// EventType names the event "artifact.removed".
func (ArtifactRemoved) EventType() Type { return "artifact.removed" }

// Check requires the path.
func (p ArtifactRemoved) Check() error { return require("path", p.Path) }

// IndexBuilt records what an index covers, and ends the build that found it:
// the events before it, in its own message too, brought the index there.
type IndexBuilt struct {
	// Globs say which files are looked at; empty is the defaults.
	Globs     []string `json:"globs,omitempty"`
	Documents int      `json:"documents"`
	Bytes     int64    `json:"bytes,omitempty"` // of the documents, on disk
	// Left counts the files that were looked at and left out, by reason.
	Left map[string]int `json:"left,omitempty"`
}

// EventType names the event "index.built".
func (IndexBuilt) EventType() Type { return "index.built" }

// Check accepts everything: an index may be empty.
func (IndexBuilt) Check() error { return nil }

// ArtifactShown records which chunks a session was given unasked, so that none
// is given to it twice.
type ArtifactShown struct {
	Session string        `json:"session"`
	Shown   []ArtifactHit `json:"shown"`
	Trigger string        `json:"trigger,omitempty"` // prompt
	Tokens  int           `json:"tokens,omitempty"`  // of the block
}

// ArtifactHit names a chunk that was shown.
type ArtifactHit struct {
	Path   string  `json:"path"`
	First  int     `json:"first"` // line, counted from 1
	Last   int     `json:"last"`  // line, included
	SHA256 string  `json:"sha256,omitempty"`
	Score  float64 `json:"score,omitempty"`
}

// EventType names the event "artifact.shown".
func (ArtifactShown) EventType() Type { return "artifact.shown" }

// Check requires the session.
func (p ArtifactShown) Check() error { return require("session", p.Session) }
