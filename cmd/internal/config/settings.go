package config

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/enforcement/dialect"
	"github.com/writbus/writ/observer/observation"
)

// Settings configure the daemon.
type Settings struct {
	DataDir string `yaml:"-"`
	// The comments below are what writ help settings says of each setting.

	// Durability of the log: "power-loss" (fsync before every acknowledgement)
	// or "interval" (fsync every 100 ms: a power cut may take the last 100 ms;
	// a killed process loses nothing in either).
	Durability string `yaml:"durability"`
	// Port the embedded server listens on, loopback only; 0 is any free one.
	Port int `yaml:"port"`
	// NATSURL connects to an existing NATS instead of embedding one; user and
	// password may stand in it (nats://user:password@host:4222).
	NATSURL string `yaml:"nats_url"`
	// NATSCA is a file with the certificates (PEM) that sign that NATS' own; ""
	// trusts those of the system.
	NATSCA string `yaml:"nats_ca"`
	// NATSCert and NATSKey are files with a certificate and its key (PEM) that
	// are shown to a NATS that asks for one.
	NATSCert string `yaml:"nats_cert"`
	// NATSKey is the key of NATSCert.
	NATSKey string `yaml:"nats_key"`
	// Replicas of the streams; more than 1 needs an external cluster.
	Replicas int `yaml:"replicas"`
	// MaxBytes is the size that each stream is to have at most, 0 is any. At four fifths of it the oldest
	// events of sessions leave for the archive, at nine tenths a stream is warned of whose
	// events do not. It refuses and drops nothing: streams grow on while the disk has room.
	MaxBytes int64 `yaml:"max_bytes"`
	// Archive says which old events leave the log for the archive.
	Archive bus.ArchiveSettings `yaml:"archive"`
	// Embedder turns texts into vectors: "minilm" is the encoder in the program,
	// "static" the table, which is faster and finds less; the name of a pulled model, or the absolute path of a folder with one (BERT
	// or Model2Vec) or of the file of a trained table; the URL of an
	// OpenAI-compatible endpoint, whose key is in WRIT_EMBEDDER_KEY; "none" finds
	// rules by their words alone.
	Embedder string `yaml:"embedder"`
	// ShippedRules says whether the rules that come with the program are in the
	// corpus; without them it holds your own alone.
	ShippedRules bool `yaml:"shipped_rules"`
	// EmbedderModel is the model's name at an endpoint.
	EmbedderModel string `yaml:"embedder_model"`
	// Model is the language model that is asked.
	Model Model `yaml:"model"`
	// Memory says how observations are judged.
	Memory observation.Settings `yaml:"memory"`
	// VerbsElsewhere are verbs of the command language, separated by blanks, that
	// this daemon does not handle itself: another one that serves
	// writ.verb.VERB on the same NATS does.
	VerbsElsewhere string `yaml:"verbs_elsewhere"`
	// Neo4jURL is the database that writ graph mirrors into where its command
	// line names none; optional. The password is in WRIT_NEO4J_PASSWORD.
	Neo4jURL string `yaml:"neo4j_url"`
	// Neo4jUser is its user; "" is neo4j.
	Neo4jUser string `yaml:"neo4j_user"`
	// Neo4jDatabase is the database there; "" is the user's own.
	Neo4jDatabase string `yaml:"neo4j_database"`
	// Scripts says whether scripts without a terminal may act for the person on
	// rules and memory: "allow" or "refuse". An agent that left its own processes
	// behind looks like such a script.
	Scripts string `yaml:"scripts"`
	// Approval is the least assurance with which a gate opens, in every project:
	// prompt, terminal, passkey or two-person. A project's own setting may ask for more.
	Approval string `yaml:"approval"`
	// Policy is the released policy, NAME/POLICY, under which agents of this machine
	// work where nobody approves, as in CI; "" for none.
	Policy string `yaml:"policy"`
	// Terminals are programs, by their names, whose terminals a person sits at,
	// beside those that Writ knows.
	Terminals []string `yaml:"terminals"`
	// HTTPHooks is the loopback address, such as 127.0.0.1:7411, at which hooks
	// are served over HTTP to hosts that have no commands, behind the token in
	// credentials/http-hook.token; "" serves none.
	HTTPHooks string `yaml:"http_hooks"`
	// Dashboard is the loopback address of the dashboard; "" is any free port.
	// Nothing listens there before `writ dash` asks for it.
	Dashboard string `yaml:"dashboard"`
	// Metrics is the loopback address of /metrics for Prometheus; "" is any free
	// port, which writ status shows, "off" none.
	Metrics string `yaml:"metrics"`
	// OTLP is the base URL of an OpenTelemetry receiver over HTTP, such as
	// http://127.0.0.1:4318, for traces and metrics; "" sends nothing. The
	// environment's OTEL_EXPORTER_OTLP_ENDPOINT wins.
	OTLP string `yaml:"otlp_endpoint"`
	// Limits bound what a response of the command language may do; what is 0 is
	// the language's own, which writ help verbs states.
	Limits dialect.Limits `yaml:"limits"`
	// HookBudget bounds the daemon's work on one hook call. The hook's process
	// waits 2 s and then fails closed.
	HookBudget time.Duration `yaml:"hook_budget"`
	// AuditEvery is how often checkpoints over the log are signed, where it
	// grew.
	AuditEvery time.Duration `yaml:"audit_every"`
	// AuditWitness is Layout.Witness, "" for none.
	AuditWitness string `yaml:"-"`
	// AuditPublish are second places that get the signed checkpoints: the
	// absolute path of a file that they are appended to, of a folder (ending in a
	// slash) that also gets the hashes of all records, an http or https URL that
	// they are posted to (with WRIT_AUDIT_AUTHORIZATION as its Authorization), or
	// nats://user:password@host:4222/subject where a stream takes that subject.
	AuditPublish []string `yaml:"audit_publish"`
	// MemoryLimit is the soft limit of the daemon's heap, bytes. What is in use
	// has room above it in any case.
	MemoryLimit int64 `yaml:"memory_limit"`
}

const (
	// HookBudgetVar names the environment variable that gives hooks more time
	// on a slow machine, as a duration between 500ms and 9s.
	HookBudgetVar = "WRIT_HOOK_BUDGET"
	// DefaultHookBudget is all the time a hook takes, daemon start included.
	// Hosts let the action proceed when a hook times out (10 s where Writ
	// installs it), so Writ answers long before.
	DefaultHookBudget = 2 * time.Second
	// hookTravel is the part of a hook's budget that the daemon leaves for the
	// way there and back.
	hookTravel = 200 * time.Millisecond
)

// HookBudget reads HookBudgetVar's value; "" is the default. It returns
// ErrSettings for what is no duration, too short to answer in, or so long that
// the host would stop waiting first.
func HookBudget(value string) (time.Duration, error) {
	if value == "" {
		return DefaultHookBudget, nil
	}
	budget, err := time.ParseDuration(value)
	if err != nil || budget < 500*time.Millisecond || budget > 9*time.Second {
		return 0, fmt.Errorf("%w: %s is %q, must be a duration from 500ms to 9s", ErrSettings, HookBudgetVar, value)
	}
	return budget, nil
}

// EmbedderKey names the environment variable that holds the key of an
// embeddings endpoint: secrets stay out of files.
const EmbedderKey = "WRIT_EMBEDDER_KEY"

// AuditAuthorization names the environment variable with the Authorization
// header for places that checkpoints are posted to.
const AuditAuthorization = "WRIT_AUDIT_AUTHORIZATION"

// Environment variables about Neo4j, for the daemon and the client.
const (
	Neo4jURL      = "WRIT_NEO4J_URL"
	Neo4jUser     = "WRIT_NEO4J_USER"
	Neo4jPassword = "WRIT_NEO4J_PASSWORD"
	Neo4jDatabase = "WRIT_NEO4J_DATABASE"
)

// DefaultSettings is what an empty file means.
func DefaultSettings() Settings {
	return Settings{
		Durability: "power-loss", Scripts: "refuse", Approval: Approvals[0], Replicas: 1, Embedder: "minilm", ShippedRules: true, Model: DefaultModel(), Memory: observation.DefaultSettings(),
		HookBudget: DefaultHookBudget - hookTravel, AuditEvery: time.Minute, MemoryLimit: 512 << 20,
	}
}

// Load reads the settings of a data directory: defaults, its config.yaml, then
// the environment. Flags are the caller's to apply, followed by Check.
func Load(dataDir string) (Settings, error) {
	s := DefaultSettings()
	if err := readYAML(Layout{dataDir}.Settings(), &s); err != nil {
		return Settings{}, err
	}
	s.DataDir, s.AuditWitness = dataDir, Layout{dataDir}.Witness()
	if dir, ok := (Layout{dataDir}).Model(s.Embedder); ok && s.Embedder != "minilm" && s.Embedder != "static" && s.Embedder != "none" {
		s.Embedder = dir
	}
	for name, setting := range map[string]*string{
		"WRIT_DURABILITY": &s.Durability, "WRIT_NATS_URL": &s.NATSURL, "OTEL_EXPORTER_OTLP_ENDPOINT": &s.OTLP,
		Neo4jURL: &s.Neo4jURL, Neo4jUser: &s.Neo4jUser, Neo4jDatabase: &s.Neo4jDatabase,
	} {
		if v := os.Getenv(name); v != "" {
			*setting = v
		}
	}
	if v := os.Getenv(HookBudgetVar); v != "" {
		budget, err := HookBudget(v)
		if err != nil {
			return Settings{}, err
		}
		s.HookBudget = budget - hookTravel
	}
	s.Model.modelFromEnvironment()
	if v := os.Getenv("WRIT_PORT"); v != "" {
		port, err := strconv.Atoi(v)
		if err != nil {
			return Settings{}, fmt.Errorf("%w: WRIT_PORT is %q, must be a number", ErrSettings, v)
		}
		s.Port = port
	}
	if err := s.Check(); err != nil {
		return s, fmt.Errorf("%w. Mend it in %s, or in the environment where it is set there", err, Layout{dataDir}.Settings())
	}
	return s, nil
}

// Check returns ErrSettings naming the first setting that cannot be.
func (s Settings) Check() error {
	switch {
	case s.Durability != "power-loss" && s.Durability != "interval":
		return fmt.Errorf("%w: durability is %q, must be power-loss or interval", ErrSettings, s.Durability)
	case s.Scripts != "allow" && s.Scripts != "refuse":
		return fmt.Errorf("%w: scripts is %q, must be allow or refuse", ErrSettings, s.Scripts)
	case !slices.Contains(Approvals, s.Approval):
		return fmt.Errorf("%w: approval is %q, must be one of %q", ErrSettings, s.Approval, Approvals)
	case s.Port < 0 || s.Port > 65535:
		return fmt.Errorf("%w: port is %d, must be 0 to 65535", ErrSettings, s.Port)
	case s.Replicas < 1 || s.Replicas > 5:
		return fmt.Errorf("%w: replicas is %d, must be 1 to 5", ErrSettings, s.Replicas)
	case s.Replicas > 1 && s.NATSURL == "":
		return fmt.Errorf("%w: %d replicas need a cluster: set nats_url", ErrSettings, s.Replicas)
	case s.HookBudget <= 0:
		return fmt.Errorf("%w: hook_budget is %s, must be a duration such as 1800ms", ErrSettings, s.HookBudget)
	case s.AuditEvery < time.Second:
		return fmt.Errorf("%w: audit_every is %s, must be a duration of at least 1s, such as 1m", ErrSettings, s.AuditEvery)
	case s.MaxBytes < 0:
		return fmt.Errorf("%w: max_bytes is %d, must not be negative", ErrSettings, s.MaxBytes)
	}
	for i, err := range []error{s.Limits.Check(), s.Memory.Check(), s.Archive.Check(s.NATSURL != "")} {
		if err != nil {
			return fmt.Errorf("%w: %s.%w", ErrSettings, []string{"limits", "memory", "archive"}[i], err)
		}
	}
	return s.Model.check()
}
