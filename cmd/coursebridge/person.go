package main

import (
	"context"
	"time"

	"github.com/coursebridge/coursebridge/internal/app"
)

type personCommand struct {
	Export personExportCommand `cmd:"" help:"Print all that is kept about a person, over all companies, as JSON."`
	Erase  personEraseCommand  `cmd:"" help:"Erase a person from all companies. Results stay without the person."`
}

type personExportCommand struct {
	Email string `required:"" help:"The person's e-mail address."`
}

func (c *personExportCommand) Run(ctx context.Context, cli *commands) error {
	return operate(ctx, cli, func(a *app.App) (app.PersonExport, error) { return a.ExportPerson(ctx, c.Email) })
}

type personEraseCommand struct {
	Email          string        `required:"" help:"The person's e-mail address."`
	WebhookTimeout time.Duration `env:"COURSEBRIDGE_WEBHOOK_TIMEOUT" default:"10s" help:"The servers' setting: how long a webhook that a server on SQLite is sending may take."`
}

func (c *personEraseCommand) Run(ctx context.Context, cli *commands) error {
	return operate(ctx, cli, func(a *app.App) (app.PersonErased, error) {
		return a.ErasePerson(ctx, c.Email, c.WebhookTimeout)
	})
}
