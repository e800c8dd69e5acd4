package neo4jmirror

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/neo4j/neo4j-go-driver/v5/neo4j"
	"github.com/neo4j/neo4j-go-driver/v5/neo4j/config"
)

const (
	// connectBudget bounds connecting, and finding out why that failed.
	connectBudget = 10 * time.Second
	// retryBudget is how long a transaction is tried again while the server is
	// away or busy.
	retryBudget = 5 * time.Second
	// oldest is the first major version whose Cypher the mirror speaks. Since
	// 2025 the major version is the year.
	oldest = 5
)

// Target is a database.
type Target struct {
	// URL is bolt:// or neo4j:// with host and port, with +s for TLS and +ssc
	// for TLS with any certificate.
	URL      string
	User     string // "" for a server without authentication
	Password string
	Database string // "" for the user's own
}

// schemes are those the driver knows.
var schemes = []string{"bolt", "bolt+s", "bolt+ssc", "neo4j", "neo4j+s", "neo4j+ssc"}

// Mirror is a connection to a database. It must be closed. Its methods may
// not be called at the same time.
type Mirror struct {
	target  Target
	address *url.URL
	driver  neo4j.DriverWithContext
	batch   batches
}

// Open connects and makes sure that the server is one the mirror can use. It
// writes nothing.
func Open(ctx context.Context, t Target) (*Mirror, error) {
	m := &Mirror{target: t, batch: usualBatches}
	if err := m.parse(); err != nil {
		return nil, err
	}
	auth := neo4j.NoAuth()
	if t.User != "" || t.Password != "" {
		auth = neo4j.BasicAuth(t.User, t.Password, "")
	}
	var err error
	m.driver, err = neo4j.NewDriverWithContext(m.address.String(), auth, func(c *config.Config) {
		c.MaxTransactionRetryTime = retryBudget
		c.SocketConnectTimeout = connectBudget / 2
		c.ConnectionAcquisitionTimeout = connectBudget
		c.MaxConnectionPoolSize = 2
		c.TelemetryDisabled = true
		c.UserAgent = "writ"
	})
	if err != nil {
		return nil, &Error{Kind: ErrBadTarget, Where: m.where(), Detail: shortCause(err), Err: err}
	}
	if err := m.verify(ctx); err != nil {
		return nil, errors.Join(err, m.driver.Close(context.WithoutCancel(ctx)))
	}
	return m, nil
}

// parse takes the address apart, so that no user name or password in it
// reaches an error's text.
func (m *Mirror) parse() error {
	u, err := url.Parse(strings.TrimSpace(m.target.URL))
	bad := func(detail string) error {
		return &Error{Kind: ErrBadTarget, Where: "the Neo4j address", Detail: detail}
	}
	switch {
	case err != nil || u.Host == "" || u.Hostname() == "":
		return bad("it must look like bolt://localhost:7687")
	case u.Scheme == "http" || u.Scheme == "https":
		return bad(fmt.Sprintf("%s:// is the browser's; Writ speaks Bolt, most often bolt://%s:7687", u.Scheme, u.Hostname()))
	case !slices.Contains(schemes, u.Scheme):
		return bad(fmt.Sprintf("it begins with %q, which must be one of %s", u.Scheme, strings.Join(schemes, ", ")))
	case u.User != nil:
		return bad("user and password do not belong into it")
	}
	if u.Port() == "" {
		u.Host = u.Host + ":7687"
	}
	m.address = &url.URL{Scheme: u.Scheme, Host: u.Host, RawQuery: u.RawQuery}
	return nil
}

func (m *Mirror) where() string {
	if m.target.Database == "" {
		return m.address.Scheme + "://" + m.address.Host
	}
	return m.address.Scheme + "://" + m.address.Host + ", database " + m.target.Database
}

// Close ends the connection.
func (m *Mirror) Close(ctx context.Context) error { return m.driver.Close(ctx) }

// agents is how Neo4j introduces itself. Servers that merely speak its
// protocol say something else.
var agents = regexp.MustCompile(`^Neo4j/(\d+)\.\d`)

func (m *Mirror) verify(ctx context.Context) error {
	bounded, cancel := context.WithTimeout(ctx, connectBudget)
	defer cancel()
	info, err := m.driver.GetServerInfo(bounded)
	if err != nil {
		return m.diagnose(ctx, err)
	}
	found := agents.FindStringSubmatch(info.Agent())
	if found == nil {
		return m.fail(ErrUnsupported, nil, "the server calls itself %q, which is no Neo4j", info.Agent())
	}
	if major, err := strconv.Atoi(found[1]); err != nil || major < oldest {
		return m.fail(ErrUnsupported, err, "the server is %s; the mirror needs Neo4j %d or newer", info.Agent(), oldest)
	}
	// The default database is only opened by the first query.
	_, err = m.read(ctx, "RETURN 1", nil)
	return err
}

// diagnose finds out why no connection came about: the driver's own error
// tells a refusal of the server apart, and nothing else.
func (m *Mirror) diagnose(ctx context.Context, err error) error {
	var refused *neo4j.Neo4jError
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.As(err, &refused):
		return m.refusal(refused)
	}
	detail, kind := probe(ctx, m.address)
	if kind == nil {
		kind, detail = ErrUnreachable, "the server answers and then breaks off ("+shortCause(err)+")"
	}
	return m.fail(kind, err, "%s", detail)
}

func (m *Mirror) session(ctx context.Context, mode neo4j.AccessMode) neo4j.SessionWithContext {
	return m.driver.NewSession(ctx, neo4j.SessionConfig{DatabaseName: m.target.Database, AccessMode: mode})
}

// read runs one query and collects what it answers.
func (m *Mirror) read(ctx context.Context, query string, params map[string]any) ([]*neo4j.Record, error) {
	s := m.session(ctx, neo4j.AccessModeRead)
	defer func() { _ = s.Close(ctx) }() // a reading session has nothing left to lose
	records, err := s.ExecuteRead(ctx, func(tx neo4j.ManagedTransaction) (any, error) {
		result, err := tx.Run(ctx, query, params)
		if err != nil {
			return nil, err
		}
		return result.Collect(ctx)
	})
	if err != nil {
		return nil, m.explain(ctx, err)
	}
	return records.([]*neo4j.Record), nil
}

// run executes a schema command, which takes a transaction of its own.
func (m *Mirror) run(ctx context.Context, command string) error {
	s := m.session(ctx, neo4j.AccessModeWrite)
	defer func() { _ = s.Close(ctx) }() // the command's own error counts
	result, err := s.Run(ctx, command, nil)
	if err == nil {
		_, err = result.Consume(ctx)
	}
	return m.explain(ctx, err)
}
