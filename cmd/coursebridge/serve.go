package main

import (
	"context"
	"time"

	"github.com/coursebridge/coursebridge/internal/app"
)

// ServeFlags are what serve and demo share.
type ServeFlags struct {
	Listen             string        `default:"127.0.0.1:8080" placeholder:"ADDRESS" help:"Where to listen."`
	WebhookRetryDelays string        `default:"1m,5m,15m,1h,6h" placeholder:"DELAYS" help:"The waits after failed deliveries."`
	WebhookTimeout     time.Duration `default:"10s" help:"How long a receiver may take."`
	WebhookProxy       bool          `help:"Send webhooks through the proxy that HTTPS_PROXY names."`
	WebhookMaxDueAge   time.Duration `default:"10m" help:"/readyz turns red when the oldest due delivery is older; 0 = never."`
	Retention          time.Duration `default:"720h" help:"How long events and the delivery log are kept."`
	RateLimit          float64       `default:"50" placeholder:"N" help:"Requests per second and token; 0 = no limit."`
	RateBurst          int           `default:"100" placeholder:"N" help:"How many requests a token may send at once; 0 = no limit."`
	ReportLimit        int           `default:"4" placeholder:"N" help:"Report files streamed at once per company; 0 = no limit."`
	ReportTimeout      time.Duration `default:"10m" help:"How long one report file may take."`
	TrustedProxy       []string      `placeholder:"CIDR" help:"Reverse proxies whose X-Forwarded-For is believed."`
	LogLevel           string        `enum:"debug,info,warn,error" default:"info" help:"debug, info, warn or error."`
	LogFormat          string        `enum:"json,text" default:"json" help:"json or text."`
	WebhookFlags
}

func (f ServeFlags) config() app.ServeConfig {
	hooks := f.WebhookFlags.config()
	hooks.RetryDelays, hooks.Timeout, hooks.UseProxy = f.WebhookRetryDelays, f.WebhookTimeout, f.WebhookProxy
	hooks.MaxDueAge, hooks.Retention = f.WebhookMaxDueAge, f.Retention
	return app.ServeConfig{
		Listen: f.Listen, Webhooks: hooks, RateLimit: f.RateLimit, RateBurst: f.RateBurst,
		ReportLimit: f.ReportLimit, ReportTimeout: f.ReportTimeout, TrustedProxies: f.TrustedProxy,
	}
}

type serveCommand struct{ ServeFlags }

func (c *serveCommand) Run(ctx context.Context, cli *commands) error {
	config := c.config()
	if cli.out.json {
		config.Ready = func(s app.Serving) error { return cli.out.print(s) }
	}
	return app.Serve(ctx, app.Config{
		Database: cli.Database, SecretKey: cli.SecretKey, PublicURL: cli.PublicURL, Version: version,
		LogTo: cli.log, LogLevel: c.LogLevel, LogFormat: c.LogFormat,
	}, config)
}

type demoCommand struct{ ServeFlags }

func (c *demoCommand) Run(ctx context.Context, cli *commands) error {
	out := app.DemoOutput{Progress: cli.out.to, Started: func(d app.DemoStarted) error { return cli.out.print(d) }}
	if cli.out.json {
		out.Progress = cli.log
	}
	return app.Demo(ctx, app.Config{
		PublicURL: cli.PublicURL, Version: version, LogTo: cli.log, LogLevel: "warn", LogFormat: "text",
	}, c.config(), out)
}
