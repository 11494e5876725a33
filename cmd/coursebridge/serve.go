package main

import (
	"context"
	"os/signal"
	"syscall"
	"time"

	"github.com/coursebridge/coursebridge/internal/app"
)

// ServeFlags are the settings of serve and demo.
type ServeFlags struct {
	Listen        []string      `env:"COURSEBRIDGE_LISTEN" default:"127.0.0.1:8080" placeholder:"ADDRESS" help:"host:port, unix:/path, or systemd for the sockets of a socket unit; give it once per address."`
	TLSCert       string        `env:"COURSEBRIDGE_TLS_CERT" name:"tls-cert" placeholder:"FILE" help:"Serve https with this certificate chain. It is read again when the file changes."`
	TLSKey        string        `env:"COURSEBRIDGE_TLS_KEY" name:"tls-key" placeholder:"FILE" help:"The file with the certificate's private key."`
	RateLimit     float64       `env:"COURSEBRIDGE_RATE_LIMIT" default:"50" placeholder:"N" help:"Requests per second and token, on each replica; 0 = no limit."`
	RateBurst     int           `env:"COURSEBRIDGE_RATE_BURST" default:"100" placeholder:"N" help:"Requests that a token may send at once; 0 = no limit."`
	ReportLimit   int           `env:"COURSEBRIDGE_REPORT_LIMIT" default:"4" placeholder:"N" help:"Report files streamed at once per company; 0 = no limit."`
	ReportTimeout time.Duration `env:"COURSEBRIDGE_REPORT_TIMEOUT" default:"10m" help:"How long one report file may take."`
	TrustedProxy  []string      `env:"COURSEBRIDGE_TRUSTED_PROXY" placeholder:"CIDR" help:"Reverse proxies whose X-Forwarded-For is believed."`
	MemoryLimit   string        `env:"COURSEBRIDGE_MEMORY_LIMIT" default:"auto" placeholder:"SIZE" help:"Memory to stay below, such as 512MiB; auto is 80 % of the container's or machine's memory, 0 no limit."`
	LogLevel      string        `env:"COURSEBRIDGE_LOG_LEVEL" enum:"debug,info,warn,error" default:"info" help:"debug, info, warn or error."`
	LogFormat     string        `env:"COURSEBRIDGE_LOG_FORMAT" enum:"json,text" default:"json" help:"json or text."`
	DatabaseFlags
	DispatchFlags
	InspectFlags
	StopFlags
}

// DatabaseFlags configure how the server uses its database.
type DatabaseFlags struct {
	DatabaseConnections int           `env:"COURSEBRIDGE_DATABASE_CONNECTIONS" default:"10" placeholder:"N" help:"Most connections of the PostgreSQL pool; notifications take one more."`
	DatabaseWait        time.Duration `env:"COURSEBRIDGE_DATABASE_WAIT" default:"30s" help:"How long to wait at start for a database that cannot be reached."`
	Retention           time.Duration `env:"COURSEBRIDGE_RETENTION" default:"720h" help:"How long events and the delivery log are kept; at least 1h."`
	AuditRetention      time.Duration `env:"COURSEBRIDGE_AUDIT_RETENTION" default:"8760h" help:"How long the audit log is kept; 0 = for ever."`
	ActivityRetention   time.Duration `env:"COURSEBRIDGE_ACTIVITY_RETENTION" default:"2160h" help:"How long a repeated activity is recognised; 0 = for ever."`
	RequestRetention    time.Duration `env:"COURSEBRIDGE_REQUEST_RETENTION" default:"168h" help:"How long API calls are kept for the cabinet's log of requests; 0 = not recorded."`
	Confirm             bool          `help:"Accept a retention of less than half of the one before. Older events and deliveries are deleted."`
}

// DispatchFlags configure how the server sends webhooks.
type DispatchFlags struct {
	WebhookRetryDelays string        `env:"COURSEBRIDGE_WEBHOOK_RETRY_DELAYS" default:"1m,5m,15m,1h,6h" placeholder:"DELAYS" help:"The waits after failed attempts."`
	WebhookTimeout     time.Duration `env:"COURSEBRIDGE_WEBHOOK_TIMEOUT" default:"10s" help:"How long a receiver may take to answer."`
	WebhookProxy       bool          `env:"COURSEBRIDGE_WEBHOOK_PROXY" help:"Send webhooks through the proxy that HTTPS_PROXY names."`
	WebhookMaxDueAge   time.Duration `env:"COURSEBRIDGE_WEBHOOK_MAX_DUE_AGE" default:"10m" help:"/readyz turns red when the oldest due delivery is older; 0 = never."`
	NoWebhooks         bool          `env:"COURSEBRIDGE_NO_WEBHOOKS" help:"Send no webhooks, for a copy of a database."`
	WebhookFlags
}

// InspectFlags configure who may look into the server.
type InspectFlags struct {
	MetricsListen string   `env:"COURSEBRIDGE_METRICS_LISTEN" placeholder:"ADDRESS" help:"Serve /metrics on this address only."`
	MetricsAllow  []string `env:"COURSEBRIDGE_METRICS_ALLOW" placeholder:"CIDR" help:"Networks, besides this machine, that may read /metrics on the main address."`
	DebugListen   string   `env:"COURSEBRIDGE_DEBUG_LISTEN" placeholder:"ADDRESS" help:"Serve pprof and /debug/log-level on this address."`
}

// StopFlags configure how the server stops.
type StopFlags struct {
	ShutdownDelay time.Duration `env:"COURSEBRIDGE_SHUTDOWN_DELAY" default:"0s" help:"How long to go on serving with /readyz red before stopping."`
	DrainTimeout  time.Duration `env:"COURSEBRIDGE_DRAIN_TIMEOUT" default:"10s" help:"How long running requests may take to finish."`
}

func (f ServeFlags) config() (app.ServeConfig, error) {
	memory, err := app.ParseMemory(f.MemoryLimit)
	return app.ServeConfig{
		Listen: f.Listen, TLSCert: f.TLSCert, TLSKey: f.TLSKey, Webhooks: f.webhooks(), RateLimit: f.RateLimit, RateBurst: f.RateBurst,
		ReportLimit: f.ReportLimit, ReportTimeout: f.ReportTimeout, TrustedProxies: f.TrustedProxy, MemoryLimit: memory,
		Stop:    app.StopConfig{Delay: f.ShutdownDelay, Drain: f.DrainTimeout},
		Inspect: app.InspectConfig{MetricsListen: f.MetricsListen, MetricsAllow: f.MetricsAllow, DebugListen: f.DebugListen},
		Confirm: f.Confirm, Retention: app.Retention{Events: f.Retention, Audit: f.AuditRetention, Activities: f.ActivityRetention, Requests: f.RequestRetention},
	}, err
}

func (f ServeFlags) webhooks() app.WebhookConfig {
	config := f.WebhookFlags.config()
	config.RetryDelays, config.Timeout, config.UseProxy = f.WebhookRetryDelays, f.WebhookTimeout, f.WebhookProxy
	config.MaxDueAge, config.Off = f.WebhookMaxDueAge, f.NoWebhooks
	return config
}

type serveCommand struct{ ServeFlags }

func (c *serveCommand) Run(ctx context.Context, cli *commands) error {
	signal.Ignore(syscall.SIGHUP) // its default would kill the server
	serve, err := c.ServeFlags.config()
	if err != nil {
		return err
	}
	if cli.out.json {
		serve.Ready = func(s app.Serving) error { return cli.out.print(s) }
	}
	config := cli.config()
	config.Create, config.DatabaseWait, config.DatabaseConnections = true, c.DatabaseWait, c.DatabaseConnections
	config.LogLevel, config.LogFormat = c.LogLevel, c.LogFormat
	return app.Serve(ctx, config, serve)
}
