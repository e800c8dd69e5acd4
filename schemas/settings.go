package schemas

// SvcSettings is the subject about settings that wait for a person. Persisted;
// never change.
const SvcSettings = "writ.svc.settings" // SettingsRequest → SettingsReply; admin

// AcceptedSettings is the aggregate of what persons accepted, of all projects.
func AcceptedSettings() Aggregate { return Aggregate{KindArtifact, "settings"} }

// SettingsAccepted records that a project's settings may take effect.
type SettingsAccepted struct {
	Project    string            `json:"project"`              // the folder that has the settings
	Repository string            `json:"repository,omitempty"` // its place in its repository, of all work trees
	Digest     string            `json:"digest"`               // of what the settings mean
	Settings   map[string]string `json:"settings"`             // what is not the default, as JSON by its field
	First      bool              `json:"first,omitempty"`      // what stood there when nothing had been accepted
}

// EventType names the event "settings.accepted".
func (SettingsAccepted) EventType() Type { return "settings.accepted" }

// Check requires project and digest.
func (p SettingsAccepted) Check() error { return require("project", p.Project, "digest", p.Digest) }

// SettingsRequest asks what of a project's settings waits, or accepts exactly that.
type SettingsRequest struct {
	Project string `json:"project"`           // absolute
	Digest  string `json:"digest,omitempty"`  // accept what has this digest
	Channel string `json:"channel,omitempty"` // of the act: dashboard, "" for the terminal
}

// SettingsReply is what a project's settings ask for beyond what was accepted.
type SettingsReply struct {
	Project  string   `json:"project"`
	Digest   string   `json:"digest"`
	Waits    []string `json:"waits,omitempty"` // "key: was → is"
	Accepted bool     `json:"accepted"`
}
