// Command coursebridge is the server and the operator's commands in one binary. It
// turns arguments into calls of package app and their outcome into an exit code.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"syscall"

	"github.com/alecthomas/kong"

	"github.com/coursebridge/coursebridge/internal/app"
)

// version is set when the binary is built.
var version = "dev"

func main() {
	// Sampling took 1 to 4 % of the time of a delivery. app.startInspection turns it on
	// with --debug-listen, which serves the profile.
	runtime.MemProfileRate = 0
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run runs one command and returns the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	var cli commands
	files := &fileResolver{}
	exited, exitCode := false, 0
	parser, err := kong.New(&cli,
		kong.Name("coursebridge"),
		kong.Description(description),
		kong.Vars{"version": version},
		kong.Resolvers(files),
		kong.ValueFormatter(helpWithDefault),
		kong.Writers(stdout, stderr),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, WrapUpperBound: 100}),
		kong.Exit(func(code int) { exited, exitCode = true, code }),
	)
	if err != nil {
		return fail(stderr, err)
	}
	if len(args) > 0 && args[0] == completeCommand {
		if err := writeSuggestions(stdout, parser.Model, args[1:]); err != nil {
			return fail(stderr, err)
		}
		return 0
	}
	if len(args) == 0 {
		args = []string{"--help"}
	}
	parsed, err := parser.Parse(args)
	if exited {
		return exitCode
	}
	if err != nil {
		parsed = parseContext(err)
		fail(stderr, fmt.Errorf("%w (try %s --help)", files.withSources(parsed, err), commandOf(parsed)))
		return 2
	}
	warnOfUnknownVariables(stderr, parser.Model, os.Environ())
	cli.out = output{json: cli.JSON, to: stdout}
	cli.log = stderr
	parsed.BindTo(ctx, (*context.Context)(nil))
	parsed.Bind(parser.Model)
	err = parsed.Run(&cli, files)
	switch {
	case err == nil:
		return 0
	case !errors.Is(err, context.Canceled):
		return fail(stderr, files.withSources(parsed, err))
	case runsUntilStopped(parsed.Command()):
		return 0
	}
	fail(stderr, errors.New("interrupted"))
	return 130 // as a shell reports a command that SIGINT ended
}

// runsUntilStopped reports whether a command has done its work when it is interrupted.
func runsUntilStopped(command string) bool { return command == "serve" || command == "demo" }

// commandOf returns the command line as far as it was understood.
func commandOf(parsed *kong.Context) string {
	name := "coursebridge"
	if parsed != nil {
		for _, step := range parsed.Path {
			if step.Command != nil {
				name += " " + step.Command.Name
			}
		}
	}
	return name
}

// parseContext returns what was parsed before an error, or nil.
func parseContext(err error) *kong.Context {
	var parse *kong.ParseError
	if errors.As(err, &parse) {
		return parse.Context
	}
	return nil
}

func fail(stderr io.Writer, err error) int {
	fmt.Fprintf(stderr, "coursebridge: %s\n", app.OneLine(err))
	return 1
}
