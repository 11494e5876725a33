package app

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/coursebridge/coursebridge/internal/secret"
	"github.com/coursebridge/coursebridge/internal/store/db"
	"github.com/coursebridge/coursebridge/internal/store/migrations"
)

// The statuses of a finding.
const (
	findingOK      = "ok"
	findingWarning = "warning"
	findingFailure = "failure"
)

const (
	// doctorTimeout bounds each network request.
	doctorTimeout = 5 * time.Second
	// maxClockSkew is how far the clocks of servers and database may differ before it is a warning.
	maxClockSkew = 2 * time.Second
)

// Finding is the outcome of one check. Hint is what to do about it.
type Finding struct {
	Check   string `json:"check"`
	Status  string `json:"status"`
	Message string `json:"message"`
	Hint    string `json:"hint"`
}

// Diagnosis is what Doctor has found.
type Diagnosis struct {
	Healthy  bool      `json:"healthy"` // no failure; there may be warnings
	Findings []Finding `json:"findings"`
}

func (d Diagnosis) String() string {
	lines := make([]string, 0, len(d.Findings))
	for _, f := range d.Findings {
		lines = append(lines, fmt.Sprintf("%-8s %-15s %s", f.Status, f.Check, f.Message))
		if f.Hint != "" {
			lines = append(lines, strings.Repeat(" ", 25)+"→ "+f.Hint)
		}
	}
	return strings.Join(lines, "\n")
}

// DoctorInput is what Doctor looks at.
type DoctorInput struct {
	Config Config
	Serve  ServeConfig
	// SecretFiles are files with secrets that the settings came from.
	SecretFiles []string
}

// Doctor checks an installation from this machine. It changes nothing.
func Doctor(ctx context.Context, in DoctorInput) Diagnosis {
	c := &checker{DoctorInput: in}
	c.checkSettings()
	a := c.checkDatabase(ctx)
	if a != nil {
		defer func() { _ = a.Close() }()
		c.checkKey(ctx, a)
		c.checkClock(a)
		c.checkReplica(a)
	}
	address := c.publicAddress(ctx, a)
	c.checkDNS(ctx, address)
	c.checkPublicURL(ctx, address)
	c.checkCAs()
	c.checkPermissions()
	out := Diagnosis{Healthy: true, Findings: c.findings}
	for _, f := range c.findings {
		out.Healthy = out.Healthy && f.Status != findingFailure
	}
	return out
}

// checker makes the checks and collects their findings.
type checker struct {
	DoctorInput
	findings []Finding
}

func (c *checker) ok(check, format string, args ...any) {
	c.findings = append(c.findings, Finding{check, findingOK, fmt.Sprintf(format, args...), ""})
}

func (c *checker) warn(check, hint, format string, args ...any) {
	c.findings = append(c.findings, Finding{check, findingWarning, fmt.Sprintf(format, args...), hint})
}

func (c *checker) fail(check, hint, format string, args ...any) {
	c.findings = append(c.findings, Finding{check, findingFailure, fmt.Sprintf(format, args...), hint})
}

func (c *checker) checkSettings() {
	if err := CheckSettings(c.Config, c.Serve); err != nil {
		c.fail("settings", "coursebridge config check names the file and the line, or the variable", "%s", OneLine(err))
		return
	}
	c.ok("settings", "serve would accept them")
}

// checkDatabase opens the database and asks it something. It returns nil if the
// database cannot be opened.
func (c *checker) checkDatabase(ctx context.Context) *App {
	config := c.Config
	config.Create, config.DatabaseWait, config.LostKey = false, 0, true // the key is checked apart
	a, err := Open(ctx, config)
	if err != nil {
		c.fail("database", databaseHint(err), "%s", OneLine(err))
		return nil
	}
	began := time.Now()
	if err := a.store.Engine().Ping(ctx); err != nil {
		c.fail("database", databaseHint(err), "%s", OneLine(err))
		return a
	}
	c.ok("database", "%s answers in %.1f ms; schema version %d", a.store.Engine().Name(), float64(time.Since(began).Microseconds())/1e3, migrations.Version)
	return a
}

// databaseHint returns what to do about an error of the database.
func databaseHint(err error) string {
	var refused interface{ SQLState() string }
	var outdated *migrations.OutdatedError
	switch {
	case errors.As(err, &refused) && strings.HasPrefix(refused.SQLState(), "28"):
		return "correct the user or the password in --database, or pg_hba.conf of the server"
	case errors.As(err, &refused) && refused.SQLState() == "3D000":
		return "create the database (docs/operations/postgresql.md), or correct its name in --database"
	case errors.Is(err, db.ErrUnavailable):
		return "start the database, open the way to its port, or correct --database"
	case errors.As(err, &outdated):
		return "run coursebridge migrate, or start serve, which migrates by itself"
	case strings.Contains(err.Error(), "use a newer coursebridge"):
		return "install the version of the other servers"
	}
	return ""
}

func (c *checker) checkKey(ctx context.Context, a *App) {
	err := a.openBox(ctx)
	switch {
	case errors.Is(err, db.ErrUnavailable):
		c.fail("key", databaseHint(err), "%s", OneLine(err))
	case err != nil:
		c.fail("key", "give every server the key that the secrets were encrypted with; if it is lost: coursebridge secret-key reset", "%s", OneLine(err))
	case a.keyFile == "" && a.config.SecretKey == "":
		c.warn("key", "set "+secret.Env+" to the output of openssl rand -base64 32, the same on every server",
			"no secret key is set: whoever reads the database can read the webhook secrets")
	default:
		c.ok("key", "it decrypts the secrets in the database")
	}
}

// checkClock compares this machine's clock with the database's. On SQLite that is the
// same clock, unless it has stepped back since the last change.
func (c *checker) checkClock(a *App) {
	skew := time.Until(a.store.Now()).Round(time.Millisecond)
	if skew.Abs() > maxClockSkew {
		c.warn("clock", "synchronise the clocks of all machines (chrony or systemd-timesyncd)",
			"this machine's clock differs from the database's by %s; one-time codes and signatures, which carry a time, may be refused", skew.Abs())
		return
	}
	c.ok("clock", "it agrees with the database's within %s", maxClockSkew)
}

// publicAddress returns the address that people use, or "" if none was chosen or it is
// not a URL. It warns if the settings and the installation differ.
func (c *checker) publicAddress(ctx context.Context, a *App) string {
	chosen := c.Config.PublicURL
	if a != nil {
		stored, err := a.store.Setting(ctx, publicURLSetting)
		if err != nil {
			c.fail("public-url", databaseHint(err), "%s", OneLine(err))
		}
		if own := strings.TrimRight(chosen, "/"); own != "" && len(stored) > 0 && string(stored) != own {
			c.warn("public-url", "start every server with the same --public-url, or change it for all: coursebridge public-url "+own,
				"these settings say %s, the installation has %s", own, stored)
		}
		if chosen == "" {
			chosen = string(stored)
		}
	}
	if u, err := url.Parse(chosen); err != nil || u.Host == "" {
		return ""
	}
	return strings.TrimRight(chosen, "/")
}
