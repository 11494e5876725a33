package main

import (
	"context"
	"io"
	"time"

	"github.com/coursebridge/coursebridge/internal/app"
)

const description = `Connects a company's HR, LMS or CRM system to its business cabinet of a learning platform.

One binary serves the public API, the platform API, the cabinet and the webhooks. Everything is in one database:
SQLite in a file (the default) or PostgreSQL.

  coursebridge demo                                     try it with a demo company
  coursebridge serve                                    run it
  coursebridge company create --name Acme --admin you@acme.example

Settings can be given as flags, in the environment (--database is COURSEBRIDGE_DATABASE), in a file that the
environment names (COURSEBRIDGE_SECRET_KEY_FILE) or in a configuration file (--config). Arguments of one call, such as
--id and --company, can only be given as flags.`

// settings are the flags that every command has.
type settings struct {
	Database string `env:"COURSEBRIDGE_DATABASE" default:"sqlite://coursebridge.db" placeholder:"URL" help:"sqlite:///path/file.db or postgres://user:password@host/name."`
	PoolerFlags
	DatabaseRead string `env:"COURSEBRIDGE_DATABASE_READ" placeholder:"URL" help:"The address of a streaming standby of --database that takes lists, reports and pages off it. Reads never miss a change: while it lags or is away, they use --database."`
	SecretKey    string `env:"COURSEBRIDGE_SECRET_KEY" placeholder:"KEY" help:"Encrypts webhook secrets at rest. Other users can read arguments: better use the environment or a file."`
	PublicURL    string `env:"COURSEBRIDGE_PUBLIC_URL" placeholder:"URL" help:"The scheme and host that people and systems reach this service at; links begin with it."`
	Config       string `env:"COURSEBRIDGE_CONFIG" placeholder:"FILE" help:"A YAML file of settings, one per line: name: value."`
	JSON         bool   `env:"COURSEBRIDGE_JSON" help:"Print one JSON object on standard output."`
}

// PoolerFlags describe a pooler in front of PostgreSQL.
type PoolerFlags struct {
	DatabasePooler string `env:"COURSEBRIDGE_DATABASE_POOLER" enum:"none,transaction" default:"none" help:"transaction if --database leads to a pooler in transaction mode, such as PgBouncer."`
	DatabaseDirect string `env:"COURSEBRIDGE_DATABASE_DIRECT" placeholder:"URL" help:"PostgreSQL's own address behind the pooler, for notifications, migrations, backup and restore."`
}

type commands struct {
	settings `embed:""`

	Serve         serveCommand         `cmd:"" help:"Serve the API, the platform API, the cabinet and the webhooks."`
	Demo          demoCommand          `cmd:"" help:"Serve a demo company with courses, people, active learners and a webhook receiver: throw-away, or in an empty --database."`
	Status        statusCommand        `cmd:"" help:"Print on one screen what the installation holds and does now."`
	Company       companyCommand       `cmd:"" help:"Companies."`
	Course        courseCommand        `cmd:"" help:"Courses of a company."`
	Token         tokenCommand         `cmd:"" help:"API tokens of a company."`
	Webhook       webhookCommand       `cmd:"" help:"Webhooks of a company."`
	Delivery      deliveryCommand      `cmd:"" help:"The delivery log of a company."`
	Admin         adminCommand         `cmd:"" help:"Administrators."`
	PlatformToken platformTokenCommand `cmd:"" help:"Tokens of the learning platform itself."`
	PlatformAudit platformAuditCommand `cmd:"" help:"What was done to the learning platform's tokens and courses."`
	Person        personCommand        `cmd:"" help:"What is kept about one person."`
	SecretKeys    secretKeyCommand     `cmd:"" name:"secret-key" help:"The key that encrypts webhook secrets and second factors."`
	PublicAddress publicURLCommand     `cmd:"" name:"public-url" help:"Print or change the public address of the installation."`
	Migrate       migrateCommand       `cmd:"" help:"Create or migrate the database's schema. serve does this at its start."`
	Backup        backupCommand        `cmd:"" help:"Write a consistent copy of the database to a new file."`
	Restore       restoreCommand       `cmd:"" help:"Make the database from a backup. It sends no webhooks until you run webhook resume."`
	Compact       compactCommand       `cmd:"" help:"Return the space of deleted rows to the file system (SQLite)."`
	Check         checkCommand         `cmd:"" help:"Compare the kept totals of lists with the records. Servers may run meanwhile."`
	Health        healthCommand        `cmd:"" help:"Ask the server on this machine whether it is ready, for health checks of containers."`
	Completion    completionCommand    `cmd:"" help:"Print a completion script for a shell."`
	Man           manCommand           `cmd:"" help:"Print the manual page."`
	ConfigFile    configCommand        `cmd:"" name:"config" help:"The settings."`
	Doctor        doctorCommand        `cmd:"" help:"Check database, key, clock, DNS, public address, certificates and permissions, and print what to do."`
	Version       versionCommand       `cmd:"" help:"Print the version."`

	out output
	log io.Writer
}

func (c *commands) config() app.Config {
	return app.Config{
		Database: c.Database, TransactionPooler: c.DatabasePooler == "transaction", DatabaseDirect: c.DatabaseDirect, DatabaseRead: c.DatabaseRead, SecretKey: c.SecretKey, PublicURL: c.PublicURL, Version: version, LogTo: c.log, LogLevel: "warn",
		LogFormat: "text",
	}
}

// operate calls fn with an open database and prints its result.
func operate[T any](ctx context.Context, c *commands, fn func(*app.App) (T, error)) error {
	return operateWith(ctx, c, c.config(), fn)
}

// operateWith is operate with a configuration of its own.
func operateWith[T any](ctx context.Context, c *commands, config app.Config, fn func(*app.App) (T, error)) error {
	a, err := app.Open(ctx, config)
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

type courseCommand struct {
	Add     courseAddCommand     `cmd:"" help:"Add a course to a company."`
	Slice   courseSliceCommand   `cmd:"" help:"Make a course from some modules of another one."`
	Archive courseArchiveCommand `cmd:"" help:"Keep a company's own course from being assigned. What was assigned stays."`
}

type courseAddCommand struct {
	Company    int64    `required:"" placeholder:"ID" help:"The company's id."`
	Name       string   `required:"" help:"The course's name."`
	ExternalID string   `placeholder:"X" help:"The platform's key for the course."`
	Assessment bool     `help:"A score decides, not completion."`
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

type courseArchiveCommand struct {
	Company int64 `required:"" placeholder:"ID" help:"The company that owns the course."`
	Course  int64 `required:"" placeholder:"ID" help:"The course."`
}

func (c *courseArchiveCommand) Run(ctx context.Context, cli *commands) error {
	return operate(ctx, cli, func(a *app.App) (app.CourseArchived, error) {
		return a.ArchiveCourse(ctx, c.Company, c.Course)
	})
}

type courseSliceCommand struct {
	Company int64  `required:"" placeholder:"ID" help:"The company's id."`
	Course  int64  `required:"" placeholder:"ID" help:"The course to take modules from."`
	Name    string `required:"" help:"The slice's name."`
	Module  []int  `required:"" placeholder:"N" help:"Positions of the modules to keep, from 1."`
}

func (c *courseSliceCommand) Run(ctx context.Context, cli *commands) error {
	return operate(ctx, cli, func(a *app.App) (app.CourseAdded, error) {
		return a.SliceCourse(ctx, c.Company, c.Course, c.Name, c.Module)
	})
}

type tokenCommand struct {
	Create tokenCreateCommand `cmd:"" help:"Create a token. It is printed only once."`
	List   tokenListCommand   `cmd:"" help:"List tokens."`
	Revoke tokenRevokeCommand `cmd:"" help:"Revoke a token. Every replica refuses it within a second."`
}

type tokenCreateCommand struct {
	Company int64         `required:"" placeholder:"ID" help:"The company's id."`
	Name    string        `required:"" help:"What the token is used for."`
	Scope   []string      `placeholder:"S" help:"b2b_read, b2b_provision or b2b_assignment; give it once per scope."`
	Expires time.Duration `placeholder:"720h" help:"How long the token is valid; for ever if not given."`
	Allow   []string      `placeholder:"CIDR" help:"Networks that the token may be used from; any if not given."`
}

func (c *tokenCreateCommand) Run(ctx context.Context, cli *commands) error {
	return operate(ctx, cli, func(a *app.App) (app.TokenCreated, error) {
		return a.CreateToken(ctx, app.TokenInput{Company: c.Company, Name: c.Name, Scopes: c.Scope, Expires: c.Expires, Allow: c.Allow})
	})
}

type tokenListCommand struct {
	Company int64 `placeholder:"ID" help:"List only this company's tokens."`
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
	Link adminLinkCommand `cmd:"" help:"Create a one-time sign-in link for an administrator."`
}

type adminLinkCommand struct {
	Email            string `required:"" help:"The administrator's e-mail."`
	Company          int64  `placeholder:"ID" help:"A company to join. Without it the administrator must belong to one already."`
	DropSecondFactor bool   `help:"Remove the second factor, for someone who has lost it and the recovery codes."`
}

func (c *adminLinkCommand) Run(ctx context.Context, cli *commands) error {
	return operate(ctx, cli, func(a *app.App) (app.AdminLink, error) {
		return a.AdminLink(ctx, c.Email, c.Company, c.DropSecondFactor)
	})
}

type platformTokenCommand struct {
	Create platformTokenCreateCommand `cmd:"" help:"Create a token for the learning platform. It is printed only once."`
	List   platformTokenListCommand   `cmd:"" help:"List the learning platform's tokens."`
	Revoke platformTokenRevokeCommand `cmd:"" help:"Revoke a token. Every replica refuses it within a second."`
}

type platformTokenCreateCommand struct {
	Name string `required:"" help:"What the token is used for."`
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
