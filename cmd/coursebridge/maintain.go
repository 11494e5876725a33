package main

import (
	"context"

	"github.com/coursebridge/coursebridge/internal/app"
)

type migrateCommand struct {
	Status bool `help:"Print the state of the schema and what migrate would do; change nothing."`
	DryRun bool `help:"The same as --status."`
}

func (c *migrateCommand) Run(ctx context.Context, cli *commands) error {
	migrate := app.Migrate
	if c.Status || c.DryRun {
		migrate = app.MigrationStatus
	}
	result, err := migrate(ctx, cli.config())
	if err != nil {
		return err
	}
	return cli.out.print(result)
}

type backupCommand struct {
	File string `arg:"" help:"The file to write; it must not exist."`
}

func (c *backupCommand) Run(ctx context.Context, cli *commands) error {
	return operate(ctx, cli, func(a *app.App) (app.BackedUp, error) { return a.Backup(ctx, c.File) })
}

type restoreCommand struct {
	File string `arg:"" help:"A file written by coursebridge backup."`
}

func (c *restoreCommand) Run(ctx context.Context, cli *commands) error {
	result, err := app.Restore(ctx, cli.config(), c.File)
	if err != nil {
		return err
	}
	return cli.out.print(result)
}

type compactCommand struct{}

func (*compactCommand) Run(ctx context.Context, cli *commands) error {
	return operate(ctx, cli, func(a *app.App) (app.Compacted, error) { return a.Compact(ctx) })
}

type checkCommand struct {
	Repair bool `help:"Correct the totals that are wrong."`
}

func (c *checkCommand) Run(ctx context.Context, cli *commands) error {
	return operate(ctx, cli, func(a *app.App) (app.Checked, error) { return a.Check(ctx, c.Repair) })
}

type publicURLCommand struct {
	URL string `arg:"" optional:"" help:"The new public address."`
}

func (c *publicURLCommand) Run(ctx context.Context, cli *commands) error {
	return operate(ctx, cli, func(a *app.App) (app.PublicURL, error) {
		if c.URL != "" {
			return a.SetPublicURL(ctx, c.URL)
		}
		return a.PublicURL(ctx)
	})
}

type versionCommand struct{}

func (*versionCommand) Run(cli *commands) error { return cli.out.print(app.Version{Version: version}) }

type secretKeyCommand struct {
	Rotate secretKeyRotateCommand `cmd:"" help:"Encrypt all secrets with a new key. The old key stays valid until you run it with --finish."`
	Reset  secretKeyResetCommand  `cmd:"" help:"After the key was lost: list the secrets that cannot be read and, with --confirm, replace them."`
}

type secretKeyResetCommand struct {
	Confirm bool `help:"Use the key that is given now, give the webhooks new secrets, which are printed, and remove the second factors. Stop every server first. The lost secrets cannot be brought back."`
}

func (c *secretKeyResetCommand) Run(ctx context.Context, cli *commands) error {
	config := cli.config()
	config.LostKey = true
	return operateWith(ctx, cli, config, func(a *app.App) (app.KeyReset, error) { return a.ResetKey(ctx, c.Confirm) })
}

type secretKeyRotateCommand struct {
	NewSecretKey string `env:"COURSEBRIDGE_NEW_SECRET_KEY" placeholder:"KEY" help:"The new key. Other users can read arguments, so prefer the environment or a file. Not needed if the key is in a file next to an SQLite database: a new one is made."`
	Finish       bool   `help:"Finish the rotation: refuse the old key from now on. Run this with the new key after every server has been restarted with it."`
}

func (c *secretKeyRotateCommand) Run(ctx context.Context, cli *commands) error {
	return operate(ctx, cli, func(a *app.App) (app.KeyRotated, error) {
		if c.Finish {
			return a.FinishRotation(ctx)
		}
		return a.RotateKey(ctx, c.NewSecretKey)
	})
}
