package main

import (
	"context"
	"io"
	"os"
	"os/exec"
	"runtime"

	"github.com/alecthomas/kong"

	"github.com/coursebridge/coursebridge/internal/app"
)

type demoCommand struct {
	Employees   int    `default:"60" placeholder:"N" help:"How many people the company has."`
	Assignments int    `placeholder:"N" help:"How many assignments they have; two to five each if not given."`
	Seed        uint64 `placeholder:"N" help:"The same number makes the same company."`
	Open        bool   `help:"Open the cabinet in the browser."`
	ServeFlags
}

func (c *demoCommand) Run(ctx context.Context, cli *commands, parsed *kong.Context) error {
	serve, err := c.ServeFlags.config()
	if err != nil {
		return err
	}
	out := app.DemoOutput{Progress: cli.out.to, Started: func(d app.DemoStarted) error { return cli.out.print(d) }}
	if cli.out.json {
		out.Progress = cli.log
	}
	out.Terminal = isTerminal(out.Progress)
	if c.Open {
		out.Open = func(url string) error { return openBrowser(ctx, url) }
	}
	demo := app.NewDemoConfig(c.Employees, c.Assignments, c.Seed)
	demo.Keep = isGiven(parsed, "database") // a database that the environment names is not filled by accident
	config := cli.config()
	config.DatabaseWait, config.DatabaseConnections = c.DatabaseWait, c.DatabaseConnections
	return app.Demo(ctx, config, serve, demo, out)
}

// openBrowser opens an address as the desktop does.
func openBrowser(ctx context.Context, url string) error {
	name := "xdg-open"
	if runtime.GOOS == "darwin" {
		name = "open"
	}
	return exec.CommandContext(ctx, name, url).Run()
}

// isTerminal reports whether somebody is watching what is written.
func isTerminal(w io.Writer) bool {
	file, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
