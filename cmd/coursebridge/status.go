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
