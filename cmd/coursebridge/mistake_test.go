package main

import (
	"bytes"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What somebody mistypes on the first day is answered with what to do next.
func TestMistakesAreExplained(t *testing.T) {
	t.Parallel()
	database := "sqlite://" + filepath.Join(t.TempDir(), "mistakes.db")
	if code := run(t.Context(), []string{"migrate", "--database", database}, io.Discard, io.Discard); code != 0 {
		t.Fatalf("migrate: exit code %d", code)
	}
	junk := filepath.Join(t.TempDir(), "junk.db")
	if err := os.WriteFile(junk, []byte("not a database"), 0o600); err != nil {
		t.Fatal(err)
	}
	empty := filepath.Join(t.TempDir(), "empty.db")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	busy, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = busy.Close() }()
	taken := busy.Addr().String()
	for _, c := range []struct {
		args string
		code int
		want string
	}{
		{"", 0, "Run \"coursebridge <command> --help\""},
		{"serv", 2, `did you mean "serve"? (try coursebridge --help)`},
		{"token create --company 1", 2, "missing flags: --name=STRING (try coursebridge token create --help)"},
		{"serve --config /nowhere/c.yaml", 2, "coursebridge: read the configuration file /nowhere/c.yaml: open /nowhere/c.yaml: no such file or directory; name a file that this user can read with --config or COURSEBRIDGE_CONFIG, or leave it out"},
		{"serve --tls-cert /nowhere/c.pem --tls-key /nowhere/k.pem --database " + database, 1, "/nowhere/c.pem: no such file or directory; name two PEM files that belong together and that this user can read"},
		{"serve --listen 127.0.0.1:0 --metrics-listen " + taken + " --database " + database, 1, "choose another --metrics-listen"},
		{"serve --webhook-retry-delays=-1m --database " + database, 1, "write delays as 1m,5m,15m,1h,6h"},
		{"health --listen 127.0.0.1:1", 1, "start coursebridge serve, or name its address with --listen"},
		{"health --listen nowhere", 1, "name the one that the server listens on with --listen"},
		{"serve --listen nowhere --database " + database, 1, "write --listen as host:port, unix:/path or systemd"},
		{"serve --database sqlite:///nowhere/x.db", 1, "the folder /nowhere does not exist; create it, or name another file with --database"},
		{"serve --database-wait 1s --database postgres://127.0.0.1:1/x", 1, "check that it runs there and that --database has the right address"},
		{"company list --database mysql://x", 1, "begins with sqlite:// or postgres://"},
		{"company list --database sqlite:///nowhere/x.db", 1, "coursebridge serve or coursebridge migrate creates one"},
		{"company list --database sqlite://" + junk, 1, "check that it is a database of coursebridge and that this user may read and write it"},
		{"restore " + empty + " --database sqlite://" + empty + ".new", 1, "is not a coursebridge database; name a file that coursebridge backup has written"},
		{"restore /nowhere/x.db --database sqlite://" + junk + ".new", 1, "name a file that coursebridge backup has written"},
		{"company suspend --id 7 --database " + database, 1, "There is no company with id 7. List the companies"},
		{"token revoke --id 7 --database " + database, 1, "There is no such token. List the company's tokens"},
		{"backup /nowhere/x.db --database " + database, 1, "the folder /nowhere does not exist; create it"},
	} {
		var out bytes.Buffer
		if code := run(t.Context(), strings.Fields(c.args), &out, &out); code != c.code || !strings.Contains(out.String(), c.want) {
			t.Errorf("coursebridge %s: exit code %d, want %d with %q:\n%s", c.args, code, c.code, c.want, out.String())
		}
	}
}
