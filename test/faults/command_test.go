package faults

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// shape maps the fields of a JSON object to patterns for their values.
type shape map[string]string

const (
	number = `^\d+$`
	secret = `^"whsec_[A-Za-z0-9+/]{43}="$`
	bearer = `^"cb_[0-9A-Za-z]{43}"$`
)

// wantShape checks that an object has exactly the fields of want, and that their
// values match.
func wantShape(t *testing.T, got map[string]json.RawMessage, want shape) {
	t.Helper()
	var have, should []string
	for name := range got {
		have = append(have, name)
	}
	for name := range want {
		should = append(should, name)
	}
	if diff := cmp.Diff(toSet(should), toSet(have)); diff != "" {
		t.Errorf("fields (-want +got):\n%s", diff)
	}
	for name, form := range want {
		if value := string(got[name]); !regexp.MustCompile(form).MatchString(value) {
			t.Errorf("%s is %s, want %s", name, value, form)
		}
	}
}

func toSet(names []string) map[string]bool {
	out := map[string]bool{}
	for _, n := range names {
		out[n] = true
	}
	return out
}

type object = map[string]json.RawMessage

func TestCommandsPrintOneObject(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, database string) {
		inbox := newReceiver(t, nil)
		// The order matters: later commands use what earlier ones created.
		for _, c := range []struct {
			args string
			want shape
		}{
			{"version", shape{"version": `^"faults"$`}},
			{"migrate", shape{"status": `^"up to date"$`}},
			{"company create --name Acme --admin ann@acme.example", shape{
				"companyId": `^1$`, "adminEmail": `^"ann@acme.example"$`, "signInUrl": `^"http://127\.0\.0\.1:8080/.+"$`}},
			{"course add --company 1 --name Safety --external-id S-1 --assessment --pass-mark 75.5 --attempts 0 --module Basics --module Exam",
				shape{"courseId": `^1$`}},
			{"token create --company 1 --name HR --scope b2b_read --expires 720h", shape{"id": `^1$`, "token": bearer}},
			{"token list", shape{"tokens": `^\[\{.*"lastFour":"....".*\}\]$`}},
			{"token revoke --id 1", shape{"id": `^1$`, "revoked": `^true$`}},
			{"platform-token create --name Platform", shape{"id": number, "token": bearer}},
			{"platform-token list", shape{"tokens": `^\[\{.*"name":"Platform".*"revokedAt":null\}\]$`}},
			{"platform-token revoke --id 1", shape{"id": `^1$`, "revoked": `^true$`}},
			{"company suspend --id 1", shape{
				"id": `^1$`, "name": `^"Acme"$`, "timeZone": `^"UTC"$`, "suspended": `^true$`, "createdAt": `^"20`}},
			{"company resume --id 1", shape{
				"id": `^1$`, "name": `^"Acme"$`, "timeZone": `^"UTC"$`, "suspended": `^false$`, "createdAt": `^"20`}},
			{"webhook add --company 1 --url " + inbox.URL + " --event assignment.created", shape{"id": `^1$`, "secret": secret}},
			{"webhook list --company 1", shape{"webhooks": `^\[\{.*"enabled":true.*\}\]$`}},
			{"webhook rotate --company 1 --id 1", shape{"id": `^1$`, "secret": secret}},
			{"webhook disable --company 1 --id 1", shape{"id": `^1$`, "state": `^"disabled"$`}},
			{"webhook enable --company 1 --id 1 --webhook-allow-private --webhook-allow-http", shape{"id": `^1$`, "state": `^"enabled"$`}},
			{"delivery list --company 1", shape{"deliveries": `^\[\{.*"state":"delivered".*"test":true\}\]$`}}, // the test of enable
			{"delivery redeliver --company 1 --since 1h --dry-run", shape{"count": `^0$`}},
			{"webhook remove --company 1 --id 1", shape{"id": `^1$`, "state": `^"removed"$`}},
		} {
			t.Run(c.args, func(t *testing.T) { wantShape(t, runJSON[object](t, database, strings.Fields(c.args)...), c.want) })
		}
	})
}

// Without --json, the commands print the same facts as text.
func TestCommandsPrintText(t *testing.T) {
	t.Parallel()
	database := sqliteDatabase(t)
	for _, c := range []struct{ args, says string }{
		{"migrate", "up to date"},
		{"company create --name Acme --admin ann@acme.example", "/cabinet/enter/"},
		{"token create --company 1 --name HR --scope b2b_read", "cb_"},
		{"token revoke --id 1", "revoked"},
		{"version", "faults"},
	} {
		got := runCommand(t, command(append(strings.Fields(c.args), "--database", database)...))
		if got.code != 0 || !strings.Contains(got.stdout, c.says) || got.stderr != "" {
			t.Errorf("%s: code %d, stdout %q, stderr %q", c.args, got.code, got.stdout, got.stderr)
		}
	}
}

// Every flag of serve can be set in the environment; a flag on the command line
// takes precedence.
func TestFlagsComeFromTheEnvironment(t *testing.T) {
	t.Parallel()
	database := sqliteDatabase(t)
	env := []string{"COURSEBRIDGE_DATABASE=" + database, "COURSEBRIDGE_JSON=true"}
	run := func(args ...string) commandResult {
		cmd := command(args...)
		cmd.Env = append(cmd.Env, env...)
		return runCommand(t, cmd)
	}
	wantShape(t, decodeOne[object](t, run("migrate").stdout), shape{"status": "."})
	wantShape(t, decodeOne[object](t, run("company", "create", "--name", "Acme", "--admin", "ann@acme.example").stdout),
		shape{"companyId": number, "adminEmail": ".", "signInUrl": "."})
	made := decodeOne[struct{ Token string }](t, run("token", "create", "--company", "1", "--name", "x", "--scope", "b2b_read").stdout)

	p := launchWith(t, append(env, "COURSEBRIDGE_RATE_LIMIT=1", "COURSEBRIDGE_RATE_BURST=1",
		"COURSEBRIDGE_PUBLIC_URL=https://courses.example", "COURSEBRIDGE_LOG_FORMAT=json"), database, "--rate-limit", "0.001")
	p.ready(t)
	acme := company{token: made.Token, client: newClient(t)}
	acme.mustSend(t, http.MethodGet, p.url+"/api/v1/courses", nil)
	second, err := acme.send(t.Context(), http.MethodGet, p.url+"/api/v1/courses", nil)
	if err != nil {
		t.Fatal(err)
	}
	wantError(t, second, http.StatusTooManyRequests, "rate_limited")
	linked := decodeOne[struct{ SignInURL string }](t, run("company", "create", "--name", "Beta", "--admin", "bo@beta.example").stdout)
	if !strings.HasPrefix(linked.SignInURL, "https://courses.example/") {
		t.Errorf("the sign-in link %q does not start with the public URL", linked.SignInURL)
	}
}

// serve and demo print their addresses as one object, and nothing else.
func TestServersPrintOneObject(t *testing.T) {
	t.Parallel()
	address := `127\.0\.0\.1:\d+`
	for name, c := range map[string]struct {
		args []string
		want shape
	}{
		"serve": {
			[]string{"serve", "--database", sqliteDatabase(t)},
			shape{"address": `^"` + address + `"$`, "url": `^"http://` + address + `"$`},
		},
		"demo": {[]string{"demo"}, shape{
			"signInUrl": `^"http://` + address + `/demo/enter/.+"$`, "apiUrl": `/api/v1"$`, "docsUrl": `/docs"$`,
			"receiverUrl": `^"http://` + address + `/demo/receiver"$`, "examples": `^\["curl .*","curl .*","curl .*"\]$`,
			"token": bearer, "curl": `^"curl -s http://` + address + `/api/v1/courses -H \\"Authorization: Bearer cb_`,
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cmd := command(append(c.args, "--listen", "127.0.0.1:0", "--json")...)
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			var got object
			lines := json.NewDecoder(out)
			if err := lines.Decode(&got); err != nil {
				t.Error(err)
			}
			wantShape(t, got, c.want)
			if err := cmd.Process.Signal(os.Interrupt); err != nil {
				t.Error(err)
			}
			if err := lines.Decode(&got); !errors.Is(err, io.EOF) {
				t.Errorf("after the object: %v", err)
			}
			if err := cmd.Wait(); err != nil {
				t.Errorf("the program exited with %v", err)
			}
		})
	}
}

// webhook add warns about a target that the servers would refuse, unless the
// settings allow it.
func TestWebhookAddWarnsAboutTargets(t *testing.T) {
	t.Parallel()
	database := sqliteDatabase(t)
	acme := newCompany(t, database)
	add := []string{"webhook", "add", "--company", formatID(acme.id), "--url", "http://127.0.0.1:9/x", "--event", "assignment.created", "--database", database}
	got := runCommand(t, command(add...))
	if got.code != 0 || !strings.Contains(got.stderr, "refuse") {
		t.Errorf("code %d, %s", got.code, got.stderr)
	}
	got = runCommand(t, command(append(add, "--webhook-allow-private", "--webhook-allow-http")...))
	if got.code != 0 || got.stderr != "" {
		t.Errorf("allowed: code %d, %s", got.code, got.stderr)
	}
	got = runCommand(t, command(append(add, "--public-url", "nowhere")...))
	if got.code == 0 || !strings.Contains(got.stderr, "public address") {
		t.Errorf("a malformed public address: code %d, %s", got.code, got.stderr)
	}
}
