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

type companyTopCommand struct {
	Since time.Duration `default:"24h" help:"Count events and webhook attempts of this period."`
}

func (c *companyTopCommand) Run(ctx context.Context, cli *commands) error {
	return operate(ctx, cli, func(a *app.App) (app.UsageList, error) { return a.TopCompanies(ctx, c.Since) })
}

type deliveryStuckCommand struct {
	OlderThan time.Duration `default:"1m" help:"List webhooks whose oldest due delivery has waited for longer."`
}

func (c *deliveryStuckCommand) Run(ctx context.Context, cli *commands) error {
	return operate(ctx, cli, func(a *app.App) (app.StuckList, error) { return a.StuckDeliveries(ctx, c.OlderThan) })
}

type companyDeleteCommand struct {
	ID      int64 `required:"" help:"The company's id."`
	Confirm bool  `help:"Delete the company with its people, assignments, events and logs. Make a backup first."`
}

func (c *companyDeleteCommand) Run(ctx context.Context, cli *commands) error {
	return operate(ctx, cli, func(a *app.App) (app.CompanyDeletion, error) { return a.DeleteCompany(ctx, c.ID, c.Confirm) })
}

type companyExportCommand struct {
	ID   int64  `required:"" help:"The company's id."`
	File string `arg:"" help:"The new file."`
}

func (c *companyExportCommand) Run(ctx context.Context, cli *commands) error {
	return operate(ctx, cli, func(a *app.App) (app.CompanyExported, error) { return a.ExportCompany(ctx, c.ID, c.File) })
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
