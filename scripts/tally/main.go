// Command tally runs go test and prints a summary: one line per package, the
// whole output of every failure, and the totals as the last line. Its arguments
// are those of go test. A "--" between arguments separates several runs of
// go test, which run at the same time and share the totals.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"sync"
	"sync/atomic"
)

func main() {
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

func run(args []string, stdout, stderr io.Writer) int {
	c := newCount(stdout)
	var runs sync.WaitGroup
	var failed atomic.Bool
	for _, group := range split(args) {
		runs.Go(func() {
			err := goTest(c, group, stderr)
			if err == nil {
				return
			}
			failed.Store(true)
			// go test has explained an exit status of its own.
			if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) {
				fmt.Fprintln(stderr, "tally:", err)
			}
		})
	}
	runs.Wait()
	return c.close(!failed.Load())
}

// split cuts the arguments at every "--".
func split(args []string) (groups [][]string) {
	for {
		i := slices.Index(args, "--")
		if i < 0 {
			return append(groups, args)
		}
		groups = append(groups, args[:i])
		args = args[i+1:]
	}
}

// goTest runs go test once and counts its events.
func goTest(c *count, args []string, stderr io.Writer) error {
	cmd := exec.CommandContext(context.Background(), "go", append([]string{"test", "-json"}, args...)...)
	cmd.Stderr = stderr
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	readErr := c.read(pipe)
	if readErr != nil {
		// go test blocks, and never exits, unless its output is read to the end.
		_, _ = io.Copy(io.Discard, pipe)
	}
	if err := cmd.Wait(); err != nil {
		return fmt.Errorf("go test: %w", err)
	}
	if readErr != nil {
		return fmt.Errorf("read the output of go test: %w", readErr)
	}
	return nil
}
