package load

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// baselineEnv makes the test binary serve a baseline: the simplest handler with the
// same effect. It names the handler, baselineArgEnv is the handler's argument.
const (
	baselineEnv    = "COURSEBRIDGE_LOAD_BARE"
	baselineArgEnv = "COURSEBRIDGE_LOAD_BARE_ARG"
)

// startBaseline serves a baseline in another process and returns its address.
func startBaseline(b *testing.B, kind, arg string) string {
	b.Helper()
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), baselineEnv+"="+kind, baselineArgEnv+"="+arg)
	cmd.Stderr = os.Stderr
	hold, err := cmd.StdinPipe() // the process ends when this is closed, which also happens if we are killed
	if err != nil {
		b.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		_ = hold.Close()
		_ = cmd.Wait()
	})
	address, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		b.Fatal("start a baseline:", err)
	}
	return strings.TrimSpace(address)
}

// serveBaseline is the main function of the process that startBaseline starts.
func serveBaseline(kind string) int {
	handler, err := baselineHandlers[kind](os.Getenv(baselineArgEnv))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	fmt.Println(l.Addr())
	go func() { _ = http.Serve(l, handler) }()
	_, _ = io.Copy(io.Discard, os.Stdin)
	return 0
}

var baselineHandlers = map[string]func(arg string) (http.Handler, error){
	"bytes":     baselineBytes,
	"row":       baselineRow,
	"whole":     baselineWhole,
	"provision": baselineProvision,
}

// baselineBytes writes its argument.
func baselineBytes(arg string) (http.Handler, error) {
	body := []byte(arg)
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		_, _ = w.Write(body)
	}), nil
}
