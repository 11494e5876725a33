package main

import (
	"context"

	"github.com/coursebridge/coursebridge/internal/app"
)

type platformAuditCommand struct {
	List platformAuditListCommand `cmd:"" help:"List who changed the platform's tokens and courses, the newest entry first."`
}

type platformAuditListCommand struct {
	Limit int `default:"100" help:"How many entries to list, at most 10000."`
}

func (c *platformAuditListCommand) Run(ctx context.Context, cli *commands) error {
	return operate(ctx, cli, func(a *app.App) (app.PlatformAuditList, error) { return a.ListPlatformAudit(ctx, c.Limit) })
}
