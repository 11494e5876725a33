package main

import (
	"context"
	"io"
	"time"

	"github.com/coursebridge/coursebridge/internal/app"
)

const description = `Connects a company's HR, LMS or CRM system to its business cabinet of a learning platform.

One binary serves the public API, the platform side, the cabinet and the webhooks. Everything is in one database:
SQLite in a file (the default) or PostgreSQL.

  coursebridge demo                                     look around, with a living company
  coursebridge serve                                    run it
  coursebridge company create --name Acme --admin you@acme.example

Every flag can be given in the environment instead: --database is COURSEBRIDGE_DATABASE.`

type commands struct {
	Database  string `default:"sqlite://coursebridge.db" placeholder:"URL" help:"sqlite:///path/file.db or postgres://user:password@host/name."`
	SecretKey string `placeholder:"KEY" help:"Encrypts webhook secrets at rest. On SQLite a key file is made beside the database when it is not given."`
	PublicURL string `placeholder:"URL" help:"The address people and systems reach this service at; sign-in links begin with it."`
	JSON      bool   `help:"Print one JSON object on standard output."`

	Serve         serveCommand         `cmd:"" help:"Serve the API, the platform side, the cabinet and the webhooks."`
	Demo          demoCommand          `cmd:"" help:"Serve a throw-away company with courses, people, live learners and a webhook receiver."`
	Company       companyCommand       `cmd:"" help:"Companies."`
	Course        courseCommand        `cmd:"" help:"Courses of a company."`
	Token         tokenCommand         `cmd:"" help:"API tokens of a company."`
	Webhook       webhookCommand       `cmd:"" help:"Webhooks of a company."`
	Delivery      deliveryCommand      `cmd:"" help:"The delivery log of a company."`
	Admin         adminCommand         `cmd:"" help:"Administrators."`
	PlatformToken platformTokenCommand `cmd:"" help:"Tokens of the learning platform itself."`
	Migrate       migrateCommand       `cmd:"" help:"Bring the database's schema up to date. serve does this by itself."`
	Backup        backupCommand        `cmd:"" help:"Write a consistent copy of the database to a new file."`
	Version       versionCommand       `cmd:"" help:"Print the version."`

	out output
	log io.Writer
}

// open connects to the database for one operator's command.
func (c *commands) open(ctx context.Context) (*app.App, error) {
	return app.Open(ctx, app.Config{
		Database: c.Database, SecretKey: c.SecretKey, PublicURL: c.PublicURL, Version: version, LogTo: c.log, LogLevel: "warn",
	})
}

// operate runs fn on an open database and prints what it gives.
func operate[T any](ctx context.Context, c *commands, fn func(*app.App) (T, error)) error {
	a, err := c.open(ctx)
	if err != nil {
		return err
	}
	result, err := fn(a)
	if closeErr := a.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return err
	}
	return c.out.print(result)
}

type companyCommand struct {
	Create  companyCreateCommand  `cmd:"" help:"Make a company and its first administrator."`
	List    companyListCommand    `cmd:"" help:"List the companies."`
	Suspend companySuspendCommand `cmd:"" help:"Refuse a company's tokens; every replica does within a second."`
	Resume  companyResumeCommand  `cmd:"" help:"Let a suspended company go on."`
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

type courseCommand struct {
	Add   courseAddCommand   `cmd:"" help:"Add a course to a company."`
	Slice courseSliceCommand `cmd:"" help:"Cut a course from some modules of another one."`
}

type courseAddCommand struct {
	Company    int64    `required:"" placeholder:"ID" help:"The company's id."`
	Name       string   `required:"" help:"The course's name."`
	ExternalID string   `placeholder:"X" help:"The platform's key for the course."`
	Assessment bool     `help:"A score decides about it, not completion."`
	PassMark   float64  `default:"80" placeholder:"P" help:"The score that passes, 0 to 100."`
	Attempts   int      `default:"3" placeholder:"N" help:"How many attempts are allowed; 0 is unlimited."`
	Module     []string `sep:"none" placeholder:"TITLE" help:"A module; give it once per module, in order."`
}

func (c *courseAddCommand) Run(ctx context.Context, cli *commands) error {
	return operate(ctx, cli, func(a *app.App) (app.CourseAdded, error) {
		return a.AddCourse(ctx, c.Company, app.CourseInput{
			Name: c.Name, ExternalID: c.ExternalID, Assessment: c.Assessment, PassMark: c.PassMark, Attempts: c.Attempts, Modules: c.Module,
		})
	})
}

type courseSliceCommand struct {
	Company int64  `required:"" placeholder:"ID" help:"The company's id."`
	Course  int64  `required:"" placeholder:"ID" help:"The course to cut from."`
	Name    string `required:"" help:"The slice's name."`
	Module  []int  `required:"" placeholder:"N" help:"Positions of the modules to keep, from 1."`
}

func (c *courseSliceCommand) Run(ctx context.Context, cli *commands) error {
	return operate(ctx, cli, func(a *app.App) (app.CourseAdded, error) {
		return a.SliceCourse(ctx, c.Company, c.Course, c.Name, c.Module)
	})
}

type tokenCommand struct {
	Create tokenCreateCommand `cmd:"" help:"Make a token. It is printed once."`
	List   tokenListCommand   `cmd:"" help:"List tokens."`
	Revoke tokenRevokeCommand `cmd:"" help:"Revoke a token; every replica refuses it within a second."`
}

type tokenCreateCommand struct {
	Company int64         `required:"" placeholder:"ID" help:"The company's id."`
	Name    string        `required:"" help:"What the token is for."`
	Scope   []string      `placeholder:"S" help:"b2b_read, b2b_provision or b2b_assignment; give it once per scope."`
	Expires time.Duration `placeholder:"720h" help:"How long it lives; for ever when not given."`
	Allow   []string      `placeholder:"CIDR" help:"Addresses it may be used from; anywhere when not given."`
}

func (c *tokenCreateCommand) Run(ctx context.Context, cli *commands) error {
	return operate(ctx, cli, func(a *app.App) (app.TokenCreated, error) {
		return a.CreateToken(ctx, c.Company, c.Name, c.Scope, c.Expires, c.Allow)
	})
}

type tokenListCommand struct {
	Company int64 `placeholder:"ID" help:"Only this company's."`
}

func (c *tokenListCommand) Run(ctx context.Context, cli *commands) error {
	return operate(ctx, cli, func(a *app.App) (app.TokenList, error) { return a.ListTokens(ctx, c.Company) })
}

type tokenRevokeCommand struct {
	ID int64 `required:"" help:"The token's id."`
}

func (c *tokenRevokeCommand) Run(ctx context.Context, cli *commands) error {
	return operate(ctx, cli, func(a *app.App) (app.TokenRevoked, error) { return a.RevokeToken(ctx, c.ID) })
}

type adminCommand struct {
	Link adminLinkCommand `cmd:"" help:"Make a one-time sign-in link for an administrator."`
}

type adminLinkCommand struct {
	Email            string `required:"" help:"The administrator's e-mail."`
	Company          int64  `placeholder:"ID" help:"A company to join; without it the administrator must serve one already."`
	DropSecondFactor bool   `help:"For someone who lost it, recovery codes and all."`
}

func (c *adminLinkCommand) Run(ctx context.Context, cli *commands) error {
	return operate(ctx, cli, func(a *app.App) (app.AdminLink, error) {
		return a.AdminLink(ctx, c.Email, c.Company, c.DropSecondFactor)
	})
}

type platformTokenCommand struct {
	Create platformTokenCreateCommand `cmd:"" help:"Make a token for the learning platform. It is printed once."`
	List   platformTokenListCommand   `cmd:"" help:"List the learning platform's tokens."`
	Revoke platformTokenRevokeCommand `cmd:"" help:"Revoke a token; every replica refuses it within a second."`
}

type platformTokenCreateCommand struct {
	Name string `required:"" help:"What the token is for."`
}

func (c *platformTokenCreateCommand) Run(ctx context.Context, cli *commands) error {
	return operate(ctx, cli, func(a *app.App) (app.TokenCreated, error) { return a.CreatePlatformToken(ctx, c.Name) })
}

type platformTokenListCommand struct{}

func (c *platformTokenListCommand) Run(ctx context.Context, cli *commands) error {
	return operate(ctx, cli, func(a *app.App) (app.PlatformTokenList, error) { return a.ListPlatformTokens(ctx) })
}

type platformTokenRevokeCommand struct {
	ID int64 `required:"" help:"The token's id."`
}

func (c *platformTokenRevokeCommand) Run(ctx context.Context, cli *commands) error {
	return operate(ctx, cli, func(a *app.App) (app.TokenRevoked, error) { return a.RevokePlatformToken(ctx, c.ID) })
}

type migrateCommand struct{}

func (*migrateCommand) Run(ctx context.Context, cli *commands) error {
	return operate(ctx, cli, func(a *app.App) (app.Migrated, error) { return a.Migrated(ctx) })
}

type backupCommand struct {
	File string `arg:"" help:"The new file."`
}

func (c *backupCommand) Run(ctx context.Context, cli *commands) error {
	return operate(ctx, cli, func(a *app.App) (app.BackedUp, error) { return a.Backup(ctx, c.File) })
}

type versionCommand struct{}

func (*versionCommand) Run(cli *commands) error { return cli.out.print(app.VersionOf(version)) }
