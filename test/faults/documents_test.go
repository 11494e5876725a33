package faults

import (
	"context"
	"crypto/rand"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/coursebridge/coursebridge"
	"github.com/coursebridge/coursebridge/internal/pgtest"
)

// shellBlock is a block of shell commands in a Markdown file.
var shellBlock = regexp.MustCompile("(?ms)^```sh\n(.*?)^```$")

// needsMark begins a block whose commands need what the page does not make.
const needsMark = "# needs "

// provided are commands that make what a block needs. Addresses of PostgreSQL servers
// and of proxies are replaced by those of the test's own.
var provided = map[string]string{
	"your database and domain": "head -c 32 /dev/urandom | base64 >/etc/coursebridge/key",
	"your servers":             "",
	"a lost key":               "head -c 32 /dev/urandom | base64 >/etc/coursebridge/key",
	"HAProxy":                  `"$HAPROXY" -db -f haproxy.cfg & until [ -S /run/haproxy/admin.sock ]; do kill -0 $!; sleep 0.1; done`,
}

// prelude makes the commands of the documentation run in a test: the program is
// built, the demo is stopped once it has printed its addresses, and make only shows
// what it would do. Whatever runs in the background is stopped at the end.
const prelude = `set -euo pipefail
trap 'kill $(jobs -p) 2>/dev/null || true; wait || true' EXIT
go() {
  case "$1 $2" in
  "build -o") ;;
  "run ./cmd/coursebridge") shift 2; coursebridge "$@" --listen 127.0.0.1:0 --json >demo.json 2>/dev/null & until [ -s demo.json ]; do sleep 0.1; done; kill $! ;;
  *) command go "$@" ;;
  esac
}
make() { command make -n -C "$REPOSITORY" "$@" >/dev/null; }
socat() { python3 -c "$TELL_SOCKET" "$2"; }
`

// tellSocket is a program that stands for socat: it sends what it reads to a socket of
// HAProxy, which answers with an empty line unless something is wrong.
const tellSocket = `import socket, sys
s = socket.socket(socket.AF_UNIX)
s.connect(sys.argv[1])
s.sendall(sys.stdin.buffer.read())
sys.exit(s.makefile().read().strip() or 0)
`

// stopOnceReady ends a server that a block starts in the foreground as soon as it serves.
const stopOnceReady = `coursebridge() {
  if [ "$1" != serve ]; then command coursebridge "$@"; return; fi
  command coursebridge "$@" --json >served.json &
  until [ -s served.json ]; do kill -0 $!; sleep 0.1; done
  kill $!
  wait $!
}
`

// prepare are commands that make what a page assumes to be there.
var prepare = map[string]string{
	"docs/operations/keys.md": `head -c 32 /dev/urandom | base64 >/etc/coursebridge/key
head -c 32 /dev/urandom | base64 >/etc/coursebridge/key.new
export COURSEBRIDGE_SECRET_KEY_FILE=/etc/coursebridge/key
coursebridge migrate
coursebridge company create --name Acme --admin you@acme.example
coursebridge webhook add --company 1 --url https://hooks.example/a --event employee.joined`,
	"docs/operations/backup.md": "coursebridge migrate",
}

// markdownFiles returns the texts of the README and of the documentation, by path.
func markdownFiles(t *testing.T) map[string]string {
	t.Helper()
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{"README.md": string(readme)}
	err = fs.WalkDir(coursebridge.Documents, ".", func(name string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(name) != ".md" {
			return err
		}
		text, err := fs.ReadFile(coursebridge.Documents, name)
		out[name] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// The shell commands of the README and of the documentation work as they are written,
// page by page, on other ports and in another folder, and the answers are those that
// the comments show. TestDocumentedFlags in cmd/coursebridge checks calls in sentences.
func TestDocumentedCommands(t *testing.T) {
	t.Parallel()
	run := 0
	for name, text := range markdownFiles(t) {
		script := ""
		for _, block := range shellBlock.FindAllStringSubmatch(text, -1) {
			if first, _, _ := strings.Cut(block[1], "\n"); strings.HasPrefix(first, needsMark) {
				before, found := provided[strings.TrimPrefix(first, needsMark)]
				if !found {
					t.Errorf("%s: the test does not know how to provide %q", name, first)
				}
				script += stopOnceReady + before + "\n"
			}
			script += block[1] + "\n"
		}
		if script == "" {
			continue
		}
		run++
		t.Run(strings.ReplaceAll(name, "/", "-"), func(t *testing.T) {
			t.Parallel()
			runDocumented(t, prepare[name]+"\n"+script)
		})
	}
	if run < 8 {
		t.Errorf("only %d files have commands that are run", run)
	}
}

// documentedDatabase is an address of PostgreSQL in the documentation.
var documentedDatabase = regexp.MustCompile(`postgres://coursebridge:[^@]+@([^/]+)/coursebridge(\?[^']+)?`)

// replaceDatabases replaces the addresses of PostgreSQL servers by that of a database
// that the commands in docs/operations/postgresql.md make, with as many hosts.
func replaceDatabases(t *testing.T, script string) string {
	t.Helper()
	if !documentedDatabase.MatchString(script) {
		return script
	}
	address := documentedRole(t)
	return documentedDatabase.ReplaceAllStringFunc(script, func(found string) string {
		parts := documentedDatabase.FindStringSubmatch(found)
		u, query := *address, address.Query()
		u.Host = strings.TrimSuffix(strings.Repeat(u.Host+",", 1+strings.Count(parts[1], ",")), ",")
		for name, values := range mustParse(t, parts[2]).Query() {
			query[name] = values
		}
		u.RawQuery = query.Encode()
		return u.String()
	})
}

// documentedRole runs the SQL commands of docs/operations/postgresql.md and returns the
// address of the database that they make, for the role that they make.
func documentedRole(t *testing.T) *url.URL {
	t.Helper()
	server := openOld(t, postgresDatabase(t))
	page, err := fs.ReadFile(coursebridge.Documents, "docs/operations/postgresql.md")
	if err != nil {
		t.Fatal(err)
	}
	name, password := "documented_"+strings.ToLower(rand.Text()), rand.Text()
	commands := regexp.MustCompile("(?ms)^```sql\n(.*?)^```$").FindSubmatch(page)
	if commands == nil {
		t.Fatal("the page has no SQL commands")
	}
	execute := func(statement string) {
		if _, err := server.db.ExecContext(context.WithoutCancel(t.Context()), statement); err != nil {
			t.Errorf("%s: %v", statement, err)
		}
	}
	t.Cleanup(func() {
		execute("DROP DATABASE IF EXISTS " + name + " WITH (FORCE)")
		execute("DROP ROLE IF EXISTS " + name)
	})
	for statement := range strings.SplitSeq(strings.TrimSpace(string(commands[1])), ";\n") {
		execute(strings.NewReplacer("coursebridge", name, "…", password).Replace(statement))
	}
	u := mustParse(t, server.address)
	u.User, u.Path = url.UserPassword(name, password), "/"+name
	return u
}

func mustParse(t *testing.T, address string) *url.URL {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// writeProxy writes the configuration of HAProxy in deploy to a folder, for a script
// that tells HAProxy something, and returns the variable that names the program.
func writeProxy(t *testing.T, dir, script string) (variable string) {
	t.Helper()
	if !strings.Contains(script, "$HAPROXY") {
		return "HAPROXY="
	}
	cert, _, _ := certificate(t, dir)
	writeFile(t, filepath.Join(dir, "haproxy.cfg"), deployed(t, "haproxy.cfg", "maxconn 20000", "maxconn 200", "bind :443", "bind "+freeAddress(t),
		"/run/haproxy/", dir+"/", "/etc/haproxy/courses.example.pem", cert, "10.0.0.11:8080", freeAddress(t), "10.0.0.12:8080", freeAddress(t)))
	return "HAPROXY=" + pgtest.Program(t, "haproxy")
}

// runDocumented runs commands of a page and compares the answers that it shows.
func runDocumented(t *testing.T, script string) {
	dir := t.TempDir()
	for _, folder := range []string{"bin", "key", "backup"} {
		if err := os.Mkdir(filepath.Join(dir, folder), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, link := range []string{"coursebridge", "bin/coursebridge"} {
		if err := os.Symlink(binary, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	repository, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	address, inbox := freeAddress(t), freeAddress(t)
	proxy := writeProxy(t, dir, script)
	script = strings.NewReplacer("127.0.0.1:8080", address, "0.0.0.0:8080", freeAddress(t), "/run/haproxy/", dir+"/", "127.0.0.1:9000", inbox, `"127.0.0.1", 9000`, `"127.0.0.1", `+inbox[strings.LastIndex(inbox, ":")+1:], "127.0.0.1:9999", freeAddress(t),
		"/etc/coursebridge/", dir+"/key/", "/backup/", dir+"/backup/", "/tmp/", dir+"/").Replace(script)
	script = replaceDatabases(t, script)
	shell := exec.CommandContext(t.Context(), "bash", "-c", prelude+script)
	shell.Dir = dir
	shell.Env = append(os.Environ(), "COURSEBRIDGE_LISTEN="+address, "COURSEBRIDGE_DATABASE=sqlite://coursebridge.db",
		"PATH="+filepath.Join(dir, "bin")+":"+os.Getenv("PATH"), "REPOSITORY="+repository, "TELL_SOCKET="+tellSocket, proxy)
	out, err := shell.CombinedOutput()
	if err != nil {
		t.Errorf("the commands ended with %v", err)
	}
	for line := range strings.Lines(script) {
		answer, isAnswer := strings.CutPrefix(strings.TrimSpace(line), "# {")
		if answer = "{" + strings.TrimSuffix(answer, "…"); isAnswer && !strings.Contains(string(out), answer) {
			t.Errorf("no answer has %s", answer)
		}
	}
	if t.Failed() {
		t.Errorf("the commands\n%s\nprinted\n%s", script, out)
	}
}
