package app

import (
	"errors"
	"fmt"
	"io"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/coursebridge/coursebridge/internal/cabinet"
	"github.com/coursebridge/coursebridge/internal/delivery"
	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/server"
	"github.com/coursebridge/coursebridge/internal/service"
	"github.com/coursebridge/coursebridge/internal/store/db"
)

// Config is what every command needs.
type Config struct {
	Database string
	// Create lets Open create or migrate the database.
	Create bool
	// DatabaseWait is how long Open waits for a database that cannot be reached.
	DatabaseWait time.Duration
	// DatabaseConnections bounds the pool; 0 means the default.
	DatabaseConnections int
	// TransactionPooler means that the address leads to a pooler in transaction mode.
	TransactionPooler bool
	// DatabaseDirect is PostgreSQL's own address behind the pooler; it may be empty.
	DatabaseDirect string
	// DatabaseRead is the address of a streaming standby that serves reads; it may be empty.
	DatabaseRead string
	SecretKey    string
	// LostKey lets Open open a database whose secrets the key does not decrypt. Nothing
	// that needs secrets may be called then.
	LostKey bool
	// PasswordCost is what a password hash costs; service.DefaultPasswordCost if it is zero.
	PasswordCost service.PasswordCost
	PublicURL    string
	Version      string
	LogTo        io.Writer
	LogLevel     string
	LogFormat    string
}

// ServeConfig is what the server needs beyond the database.
type ServeConfig struct {
	Listen         []string // see server.Options
	TLSCert        string   // a file; empty for plain HTTP
	TLSKey         string
	Webhooks       WebhookConfig
	RateLimit      float64
	RateBurst      int
	ReportLimit    int
	ReportTimeout  time.Duration
	TrustedProxies []string
	Stop           StopConfig
	Inspect        InspectConfig
	Retention      Retention
	// MemoryLimit is in bytes; 0 leaves the memory unlimited.
	MemoryLimit int64
	// Confirm accepts changes that delete data, such as a much shorter retention.
	Confirm bool
	// Ready is called once the port is open; it may be nil.
	Ready func(Serving) error
	// extra adds pages to the server's own; it may be nil.
	extra func(*cabinet.Cabinet) []server.Mount
}

// StopConfig configures how the server stops.
type StopConfig struct {
	Delay time.Duration // serving goes on with /readyz red
	Drain time.Duration // requests may finish; 0 means 10 s
}

// InspectConfig configures who may look into the process.
type InspectConfig struct {
	MetricsListen string   // an address of its own for /metrics
	MetricsAllow  []string // networks that may read /metrics on the main listener
	DebugListen   string   // an address for pprof
}

// Serving holds the addresses of a server: where it listens and where people reach it.
type Serving struct {
	Address string `json:"address"`
	URL     string `json:"url"`
}

// WebhookConfig is how webhooks are sent.
type WebhookConfig struct {
	AllowPrivate bool
	AllowHTTP    bool
	RetryDelays  string
	Timeout      time.Duration
	UseProxy     bool
	MaxDueAge    time.Duration
	// Off sends nothing: for copies of a database.
	Off bool
}

func (wc WebhookConfig) guard() delivery.Guard {
	return delivery.Guard{AllowPrivate: wc.AllowPrivate, AllowHTTP: wc.AllowHTTP}
}

func (wc WebhookConfig) schedule() (delivery.Schedule, error) {
	s, err := delivery.ParseSchedule(wc.RetryDelays)
	if err != nil {
		return nil, fmt.Errorf("read --webhook-retry-delays: %w", err)
	}
	return s, nil
}

// prefixes parses the networks of a flag.
func prefixes(flag string, texts []string) ([]netip.Prefix, error) {
	p, err := domain.ParsePrefixes(texts)
	if err != nil {
		return nil, fmt.Errorf("read --%s: %w", flag, err)
	}
	return p, nil
}

func (c Config) validate() error {
	return errors.Join(
		c.checkPublicURL(),
		c.checkDirect(),
		c.checkRead(),
		checkConnections(c.DatabaseConnections),
		between("database-wait", c.DatabaseWait, 0, 24*time.Hour),
	)
}

// databaseOptions returns how the database is opened.
func (c Config) databaseOptions() db.Options {
	return db.Options{MaxConnections: c.DatabaseConnections, TransactionPooler: c.TransactionPooler, DirectAddress: c.DatabaseDirect, ReadAddress: c.DatabaseRead, Traced: tracingOn()}
}

func (c Config) checkDirect() error {
	switch {
	case c.DatabaseDirect == "":
		return nil
	case !c.TransactionPooler:
		return errors.New("--database-direct is for a database behind a pooler: add --database-pooler transaction, or leave it out")
	case !isPostgres(c.DatabaseDirect):
		return errors.New("--database-direct must begin with postgres://")
	}
	return nil
}

func (c Config) checkRead() error {
	switch {
	case c.DatabaseRead == "":
		return nil
	case !isPostgres(c.Database):
		return errors.New("--database-read is for PostgreSQL: SQLite has no standbys, so leave it out")
	case !isPostgres(c.DatabaseRead):
		return errors.New("--database-read must begin with postgres://")
	}
	return nil
}

func isPostgres(address string) bool {
	return strings.HasPrefix(address, "postgres://") || strings.HasPrefix(address, "postgresql://")
}

// checkConnections refuses a pool in which a report and a request could block
// each other. 0 means the default.
func checkConnections(n int) error {
	if n == 0 {
		return nil
	}
	return between("database-connections", n, 4, 10_000)
}

func (c Config) checkPublicURL() error {
	if c.PublicURL == "" {
		return nil
	}
	return checkPublicURL(c.PublicURL)
}

func checkPublicURL(text string) error {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.User != nil ||
		u.Path != "" && u.Path != "/" || u.RawQuery != "" || u.Fragment != "" {
		return fmt.Errorf("the public address (--public-url) must be a scheme and a host, such as https://learning.example.com, not %q", text)
	}
	return nil
}

// validate returns an error for every setting that is malformed or out of range.
func (sc ServeConfig) validate() error {
	_, scheduleErr := sc.Webhooks.schedule()
	_, proxyErr := prefixes("trusted-proxy", sc.TrustedProxies)
	_, metricsErr := prefixes("metrics-allow", sc.Inspect.MetricsAllow)
	return errors.Join(
		scheduleErr, proxyErr, metricsErr, sc.checkCertificate(), sc.checkListen(),
		atLeast("retention", sc.Retention.Events, time.Hour),
		zeroOrAtLeast("audit-retention", sc.Retention.Audit, "for ever"),
		zeroOrAtLeast("request-retention", sc.Retention.Requests, "to record nothing"),
		zeroOrAtLeast("activity-retention", sc.Retention.Activities, "for ever"),
		between("webhook-timeout", sc.Webhooks.Timeout, 10*time.Millisecond, 10*time.Minute),
		atLeast("webhook-max-due-age", sc.Webhooks.MaxDueAge, 0),
		between("rate-limit", sc.RateLimit, 0, 1e6),
		between("rate-burst", sc.RateBurst, 0, 1_000_000),
		between("report-limit", sc.ReportLimit, 0, 10_000),
		between("report-timeout", sc.ReportTimeout, time.Second, 24*time.Hour),
		between("shutdown-delay", sc.Stop.Delay, 0, 10*time.Minute),
		between("drain-timeout", sc.Stop.Drain, 0, 10*time.Minute),
		checkMemoryLimit(sc.MemoryLimit),
	)
}

func (sc ServeConfig) checkCertificate() error {
	if (sc.TLSCert == "") != (sc.TLSKey == "") {
		return errors.New("--tls-cert and --tls-key belong together: name both files, or none")
	}
	return nil
}

// atLeast returns an error that names the smallest value of a flag.
func atLeast(flag string, value, low time.Duration) error {
	if value >= low {
		return nil
	}
	return fmt.Errorf("--%s must be at least %v, not %v", flag, low, value)
}

// zeroOrAtLeast is atLeast an hour for a flag whose zero has a meaning of its own.
func zeroOrAtLeast(flag string, value time.Duration, zero string) error {
	if value == 0 || value >= time.Hour {
		return nil
	}
	return fmt.Errorf("--%s must be at least %v, or 0 %s, not %v", flag, time.Hour, zero, value)
}

// between returns an error that names the allowed range of a flag. NaN is in no range.
func between[T int | int64 | float64 | time.Duration](flag string, value, low, high T) error {
	if value >= low && value <= high {
		return nil
	}
	return fmt.Errorf("--%s must be between %s and %s, not %s", flag, formatLimit(low), formatLimit(high), formatLimit(value))
}

// formatLimit formats a value for an error message, floats without an exponent.
func formatLimit(value any) string {
	if f, ok := value.(float64); ok {
		return strconv.FormatFloat(f, 'f', -1, 64)
	}
	return fmt.Sprint(value)
}
