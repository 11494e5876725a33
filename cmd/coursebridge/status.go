package main

import (
	"context"
	"time"

	"github.com/coursebridge/coursebridge/internal/app"
)

type statusCommand struct{}

func (*statusCommand) Run(ctx context.Context, cli *commands) error {
	return operate(ctx, cli, func(a *app.App) (app.Status, error) { return a.Status(ctx) })
}

type deliveryStuckCommand struct {
	OlderThan time.Duration `default:"1m" help:"List webhooks whose oldest due delivery has waited for longer."`
}

func (c *deliveryStuckCommand) Run(ctx context.Context, cli *commands) error {
	return operate(ctx, cli, func(a *app.App) (app.StuckList, error) { return a.StuckDeliveries(ctx, c.OlderThan) })
}

type healthCommand struct {
	Listen  []string `env:"COURSEBRIDGE_LISTEN" default:"127.0.0.1:8080" placeholder:"ADDRESS" help:"Where the server listens; the first address is asked."`
	TLSCert string   `env:"COURSEBRIDGE_TLS_CERT" name:"tls-cert" placeholder:"FILE" help:"The server's certificate, if it serves https."`
}

func (c *healthCommand) Run(ctx context.Context, cli *commands) error {
	health, err := app.CheckHealth(ctx, c.Listen[0], c.TLSCert != "")
	if err != nil {
		return err
	}
	return cli.out.print(health)
}
