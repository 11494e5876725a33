package faults

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/coursebridge/coursebridge"
)

// shellBlock is a block of shell commands in a Markdown file.
var shellBlock = regexp.MustCompile("(?ms)^```sh\n(.*?)^```$")

// needsMark begins a block whose commands need what a test does not have.
const needsMark = "# needs "

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
`

// prepare are commands that make what a page assumes to be there.
var prepare = map[string]string{
	"docs/operations/keys.md": `head -c 32 /dev/urandom | base64 >/etc/coursebridge/key
head -c 32 /dev/urandom | base64 >/etc/coursebridge/key.new
export COURSEBRIDGE_SECRET_KEY_FILE=/etc/coursebridge/key
coursebridge migrate`,
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
// the comments show. Commands under "# needs …" are only checked for their syntax;
// TestDocumentedFlags in cmd/coursebridge checks their flags.
func TestDocumentedCommands(t *testing.T) {
	t.Parallel()
	run := 0
	for name, text := range markdownFiles(t) {
		var script []string
		for _, block := range shellBlock.FindAllStringSubmatch(text, -1) {
			if !strings.HasPrefix(block[1], needsMark) {
				script = append(script, block[1])
			} else if out, err := exec.CommandContext(t.Context(), "bash", "-nc", block[1]).CombinedOutput(); err != nil {
				t.Errorf("%s: %v\n%s\n%s", name, err, block[1], out)
			}
		}
		if len(script) == 0 {
			continue
		}
		run++
		t.Run(strings.ReplaceAll(name, "/", "-"), func(t *testing.T) {
			t.Parallel()
			runDocumented(t, prepare[name]+"\n"+strings.Join(script, "\n"))
		})
	}
	if run < 5 {
		t.Errorf("only %d files have commands that are run", run)
	}
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
	address, hook := freeAddress(t), freeAddress(t)
	script = strings.NewReplacer("127.0.0.1:8080", address, "127.0.0.1:9000", hook, `"127.0.0.1", 9000`, `"127.0.0.1", `+hook[strings.LastIndex(hook, ":")+1:], "127.0.0.1:9999", freeAddress(t),
		"/etc/coursebridge/", dir+"/key/", "/backup/", dir+"/backup/", "/tmp/", dir+"/").Replace(script)
	shell := exec.CommandContext(t.Context(), "bash", "-c", prelude+script)
	shell.Dir = dir
	shell.Env = append(os.Environ(), "COURSEBRIDGE_LISTEN="+address, "COURSEBRIDGE_DATABASE=sqlite://coursebridge.db",
		"PATH="+filepath.Join(dir, "bin")+":"+os.Getenv("PATH"), "REPOSITORY="+repository)
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
