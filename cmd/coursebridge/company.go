package main

import (
	"context"
	"time"

	"github.com/coursebridge/coursebridge/internal/app"
)

type companyCommand struct {
	Create  companyCreateCommand  `cmd:"" help:"Create a company and its first administrator."`
	List    companyListCommand    `cmd:"" help:"List the companies."`
	Suspend companySuspendCommand `cmd:"" help:"Refuse a company's tokens. Every replica does so within a second."`
	Export  companyExportCommand  `cmd:"" help:"Write everything of a company, except secrets, to a new file, one JSON object per row."`
	Delete  companyDeleteCommand  `cmd:"" help:"Count what a company has and, with --confirm, delete all of it for ever."`
	Top     companyTopCommand     `cmd:"" help:"List the companies that use the service most: rows, API calls, events, webhook attempts."`
	Resume  companyResumeCommand  `cmd:"" help:"Accept a suspended company's tokens again."`
}

type companyCreateCommand struct {
	Name     string `required:"" help:"The company's name."`
	Admin    string `required:"" placeholder:"EMAIL" help:"The first administrator's e-mail; the printed link signs them in once."`
	TimeZone string `default:"UTC" help:"The company's IANA time zone, for reports and pages."`
}

func (c *companyCreateCommand) Run(ctx context.Context, cli *commands) error {
	return operate(ctx, cli, func(a *app.App) (app.CompanyCreated, error) { return a.CreateCompany(ctx, c.Name, c.Admin, c.TimeZone) })
}

type companyListCommand struct{}

func (c *companyListCommand) Run(ctx context.Context, cli *commands) error {
	return operate(ctx, cli, func(a *app.App) (app.CompanyList, error) { return a.ListCompanies(ctx) })
}

type companySuspendCommand struct {
	ID int64 `required:"" help:"The company's id."`
}

func (c *companySuspendCommand) Run(ctx context.Context, cli *commands) error {
	return operate(ctx, cli, func(a *app.App) (app.CompanyLine, error) { return a.SuspendCompany(ctx, c.ID) })
}

type companyResumeCommand struct {
	ID int64 `required:"" help:"The company's id."`
}

func (c *companyResumeCommand) Run(ctx context.Context, cli *commands) error {
	return operate(ctx, cli, func(a *app.App) (app.CompanyLine, error) { return a.ResumeCompany(ctx, c.ID) })
}

type companyTopCommand struct {
	Since time.Duration `default:"24h" help:"Count events and webhook attempts of this period."`
}

func (c *companyTopCommand) Run(ctx context.Context, cli *commands) error {
	return operate(ctx, cli, func(a *app.App) (app.UsageList, error) { return a.TopCompanies(ctx, c.Since) })
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
