package faults

import (
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// wantRefused runs a command that must fail with one line on stderr, print nothing
// on stdout and leave its working directory unchanged.
func wantRefused(t *testing.T, dir string, env []string, says string, args ...string) {
	t.Helper()
	before := fileNames(t, dir)
	cmd := command(args...)
	cmd.Dir, cmd.Env = dir, append(cmd.Env, env...)
	got := runCommand(t, cmd)
	if got.code == 0 {
		t.Errorf("%v: exit code 0", args)
	}
	if got.stdout != "" {
		t.Errorf("%v: printed %q", args, got.stdout)
	}
	line, rest, _ := strings.Cut(got.stderr, "\n")
	if rest != "" || !strings.HasPrefix(line, "coursebridge: ") || !strings.Contains(line, says) {
		t.Errorf("%v: want one line that says %q, got:\n%s", args, says, got.stderr)
	}
	if after := fileNames(t, dir); !slices.Equal(before, after) {
		t.Errorf("%v: left behind %v, there was %v", args, after, before)
	}
}

func fileNames(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

func TestStartRefusesInvalidSettings(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = taken.Close() })
	free := []string{"serve", "--listen", "127.0.0.1:0"}
	for name, c := range map[string]struct {
		args []string
		env  []string
		says string
	}{
		"an unknown flag":          {args: []string{"serve", "--bogus"}, says: "--bogus"},
		"an unknown command":       {args: []string{"server"}, says: "server"},
		"a missing flag":           {args: []string{"company", "create", "--name", "Acme"}, says: "--admin"},
		"a malformed flag":         {args: append(free, "--webhook-timeout", "soon"), says: "--webhook-timeout"},
		"malformed retry delays":   {args: append(free, "--webhook-retry-delays", "1m,later"), says: "--webhook-retry-delays"},
		"a malformed proxy":        {args: append(free, "--trusted-proxy", "everyone"), says: "--trusted-proxy"},
		"an unknown log level":     {args: append(free, "--log-level", "loud"), says: "--log-level"},
		"a malformed variable":     {args: free, env: []string{"COURSEBRIDGE_RATE_LIMIT=many"}, says: "many"},
		"an unknown database":      {args: append(free, "--database", "mysql://db/x"), says: "sqlite:// or postgres://"},
		"no database file":         {args: append(free, "--database", "sqlite://"), says: "sqlite:///path/file.db"},
		"a folder that is missing": {args: append(free, "--database", "sqlite://no/such/file.db"), says: "does not exist"},
		"a folder for a file":      {args: append(free, "--database", "sqlite://."), says: "open"},
		"a read-only folder":       {args: append(free, "--database", "sqlite:///proc/file.db"), says: "/proc/file.db"},
		"an unreachable database":  {args: append(free, "--database-wait", "0s", "--database", "postgres://a:b@127.0.0.1:1/c?connect_timeout=5"), says: "connection refused"},
		"a port in use":            {args: []string{"serve", "--listen", taken.Addr().String()}, says: "in use"},
		"a malformed port":         {args: []string{"serve", "--listen", "127.0.0.1:http-ish"}, says: "listen on"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wantRefused(t, t.TempDir(), c.env, c.says, c.args...)
		})
	}
}

func TestStartRefusesAFileThatIsNoDatabase(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "letters.db")
	text := strings.Repeat("Dear diary, ", 1000)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	wantRefused(t, dir, nil, "letters.db", "serve", "--listen", "127.0.0.1:0", "--database", "sqlite://"+path)
	if got, err := os.ReadFile(path); err != nil || string(got) != text {
		t.Errorf("the file was changed: %v", err)
	}
}

func TestStartRefusesPostgresThatDoesNotLetUsIn(t *testing.T) {
	t.Parallel()
	database := postgresDatabase(t)
	for name, change := range map[string]func(u *url.URL){
		"a wrong password":   func(u *url.URL) { u.User = url.UserPassword(u.User.Username(), "wrong") },
		"no such database":   func(u *url.URL) { u.Path = "/nowhere" },
		"an unknown setting": func(u *url.URL) { u.RawQuery += "&sslmode=perhaps" },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u, err := url.Parse(database)
			if err != nil {
				t.Fatal(err)
			}
			password, _ := u.User.Password()
			change(u)
			dir := t.TempDir()
			wantRefused(t, dir, nil, "database", "serve", "--listen", "127.0.0.1:0", "--database", u.String())
			got := runCommand(t, command("serve", "--listen", "127.0.0.1:0", "--database", u.String()))
			if strings.Contains(got.stderr, password) || strings.Contains(got.stderr, ":wrong@") {
				t.Errorf("the password is printed: %s", got.stderr)
			}
		})
	}
}

func TestAnotherSecretKeyIsRefused(t *testing.T) {
	t.Parallel()
	const first, second = "the first passphrase of all", "another passphrase altogether"
	eachEngine(t, func(t *testing.T, database string) {
		made := runCommand(t, command("migrate", "--database", database, "--secret-key", first))
		if made.code != 0 {
			t.Fatal(made.stderr)
		}
		args := []string{"serve", "--listen", "127.0.0.1:0", "--database", database}
		wantRefused(t, t.TempDir(), []string{"COURSEBRIDGE_SECRET_KEY=" + second}, "not the key", args...)
		wantRefused(t, t.TempDir(), []string{"COURSEBRIDGE_SECRET_KEY=short"}, "32 bytes", args...)
		p := launchWith(t, []string{"COURSEBRIDGE_SECRET_KEY=" + first}, database)
		p.ready(t)
	})
}

// The key file of an SQLite database is readable only by its owner.
func TestTheKeyFileIsPrivate(t *testing.T) {
	t.Parallel()
	database := sqliteDatabase(t)
	newCompany(t, database)
	info, err := os.Stat(strings.TrimPrefix(database, "sqlite://") + ".key")
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v", info.Mode())
	}
}

func TestReplicasStartTogetherOnAnEmptyDatabase(t *testing.T) {
	t.Parallel()
	database := postgresDatabase(t)
	replicas := make([]*process, 5)
	for i := range replicas {
		replicas[i] = launch(t, database)
	}
	client := newClient(t)
	for _, p := range replicas {
		p.ready(t)
		if status, err := probe(client, p.url+"/readyz"); err != nil || status != http.StatusOK {
			t.Errorf("/readyz: %d, %v", status, err)
		}
	}
}
