// Command tally runs go test and tells what came of it: a line per package, the
// whole output of what failed, and the count as the last line. It decides
// nothing about which tests run or how; its arguments are those of go test.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
)

func main() {
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

func run(args []string, stdout, stderr io.Writer) int {
	cmd := exec.CommandContext(context.Background(), "go", append([]string{"test", "-json"}, args...)...)
	cmd.Stderr = stderr
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		fmt.Fprintln(stderr, "tally:", err)
		return 1
	}
	if err := cmd.Start(); err != nil {
		fmt.Fprintln(stderr, "tally:", err)
		return 1
	}
	count := newCount(stdout)
	readErr := count.read(pipe)
	if readErr != nil {
		fmt.Fprintln(stderr, "tally: read go test:", readErr)
		// go test must be able to write to its end, or it would never exit.
		_, _ = io.Copy(io.Discard, pipe)
	}
	waitErr := cmd.Wait()
	return count.close(readErr == nil && waitErr == nil)
}
