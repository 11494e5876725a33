// Package clients_test runs the clients in other languages against the running
// program. The Go client is tested in its own package.
package clients_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/coursebridge/coursebridge/internal/app"
	"github.com/coursebridge/coursebridge/internal/apptest"
)

// company is a company of the running program, with a token that has every scope.
type company struct {
	program *apptest.Program
	id      int64
	course  int64
	token   string
}

func newCompany(t *testing.T) company {
	t.Helper()
	p := apptest.Start(t, apptest.Options{})
	made, err := p.CreateCompany(t.Context(), "Acme", "boss@acme.example", "UTC")
	if err != nil {
		t.Fatal(err)
	}
	token, err := p.CreateToken(t.Context(), app.TokenInput{
		Company: made.CompanyID, Name: "client", Scopes: []string{"b2b_read", "b2b_provision", "b2b_assignment"},
	})
	if err != nil {
		t.Fatal(err)
	}
	course, err := p.AddCourse(t.Context(), made.CompanyID, app.CourseInput{Name: "Basics", PassMark: 80, Attempts: 3, Modules: []string{"One"}})
	if err != nil {
		t.Fatal(err)
	}
	return company{p, made.CompanyID, course.CourseID, token.Token}
}

// controlWebhooks returns the address of a server that adds a webhook to the
// address in the body and answers with its secret. Webhooks are made in the cabinet
// or by an operator, so a client cannot add one itself.
func (c company) controlWebhooks(t *testing.T) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		url, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		webhook, err := c.program.AddWebhook(r.Context(), app.WebhookInput{
			Company: c.id, URL: string(url), StrictOrder: true, Events: []string{"employee.joined", "assignment.created", "employee.removed"},
		})
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		fmt.Fprint(w, webhook.Secret)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// run runs a program in a folder and returns its output.
func run(t *testing.T, folder string, env []string, name string, args ...string) string {
	t.Helper()
	command := exec.CommandContext(t.Context(), name, args...)
	command.Dir, command.Env = folder, append(os.Environ(), env...)
	out, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}

// copyPackage copies the sources of the TypeScript client to a new folder, so that the
// test writes nothing into the repository.
func copyPackage(t *testing.T) string {
	t.Helper()
	folder, source := t.TempDir(), filepath.Join("..", "..", "clients", "typescript")
	for _, file := range []string{".npmrc", "package.json", "package-lock.json", "tsconfig.json"} {
		text, err := os.ReadFile(filepath.Join(source, file))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, file), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, part := range []string{"src", "test"} {
		if err := os.CopyFS(filepath.Join(folder, part), os.DirFS(filepath.Join(source, part))); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

// typeScriptBlock is a block of TypeScript in a Markdown file.
var typeScriptBlock = regexp.MustCompile("(?ms)^```ts\n(.*?)^```$")

// addReadme adds the code of the README to the tests as it is written, but for the
// addresses: it calls the running program, and a server at its end is closed.
func (c company) addReadme(t *testing.T, folder string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "clients", "typescript", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	var code strings.Builder
	for _, block := range typeScriptBlock.FindAllStringSubmatch(string(text), -1) {
		code.WriteString(block[1])
	}
	source := code.String() + "\nasync function save(assignment: { id: number }) {\n  if (!assignment.id) throw new Error(\"no id\");\n}\n"
	for _, change := range [][2]string{
		{"@coursebridge/client", "../src/index.js"}, {"https://learning.example", c.program.URL},
		{"courseId: 12", fmt.Sprint("courseId: ", c.course)}, {"sync.json", filepath.ToSlash(filepath.Join(folder, "sync.json"))},
		{".listen(3000)", `.listen(0).close()`},
	} {
		if !strings.Contains(source, change[0]) {
			t.Fatalf("the README has no %q", change[0])
		}
		source = strings.ReplaceAll(source, change[0], change[1])
	}
	if err := os.WriteFile(filepath.Join(folder, "test", "readme.test.ts"), []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
}

// The package compiles under strict settings, and its tests pass against the running
// program, the code of its README too. make contract-clients also checks that the types are fresh, and packs it.
func TestTypeScriptClient(t *testing.T) {
	t.Parallel()
	c, folder := newCompany(t), copyPackage(t)
	c.addReadme(t, folder)
	run(t, folder, nil, "npm", "ci", "--prefer-offline", "--silent")
	run(t, folder, []string{
		"COURSEBRIDGE_URL=" + c.program.URL, "COURSEBRIDGE_TOKEN=" + c.token, fmt.Sprint("COURSEBRIDGE_COURSE=", c.course),
		"WEBHOOK_SECRET=whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "WEBHOOK_CONTROL=" + c.controlWebhooks(t),
	}, "npm", "test", "--silent")
}
