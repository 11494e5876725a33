package main

import (
	"context"

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
	Email string `required:"" help:"The person's e-mail address."`
}

func (c *personEraseCommand) Run(ctx context.Context, cli *commands) error {
	return operate(ctx, cli, func(a *app.App) (app.PersonErased, error) { return a.ErasePerson(ctx, c.Email) })
}
