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

// bareEnv has the test binary serve as the least that could do the same: it
// names the handler, and bareArgEnv what that needs.
const (
	bareEnv    = "COURSEBRIDGE_LOAD_BARE"
	bareArgEnv = "COURSEBRIDGE_LOAD_BARE_ARG"
)

// bare starts a bare handler in a process of its own and gives its address.
func bare(b *testing.B, kind, arg string) string {
	b.Helper()
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), bareEnv+"="+kind, bareArgEnv+"="+arg)
	cmd.Stderr = os.Stderr
	hold, err := cmd.StdinPipe() // it ends when this closes, however we end
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
		b.Fatal("start a bare handler:", err)
	}
	return strings.TrimSpace(address)
}

// serveBare is the process that bare starts.
func serveBare(kind string) int {
	handler, err := bareHandlers[kind](os.Getenv(bareArgEnv))
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

var bareHandlers = map[string]func(arg string) (http.Handler, error){
	"bytes":     bareBytes,
	"row":       bareRow,
	"whole":     bareWhole,
	"provision": bareProvision,
}

// bareBytes writes what it was given.
func bareBytes(arg string) (http.Handler, error) {
	body := []byte(arg)
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		_, _ = w.Write(body)
	}), nil
}
