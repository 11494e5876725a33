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

// shape is the fields of a JSON object with the forms of their values.
type shape map[string]string

const (
	number = `^\d+$`
	secret = `^"whsec_[A-Za-z0-9+/]{43}="$`
	bearer = `^"cb_[0-9A-Za-z]{43}"$`
)

// wantShape checks that an object has exactly the fields.
func wantShape(t *testing.T, got map[string]json.RawMessage, want shape) {
	t.Helper()
	var have, should []string
	for name := range got {
		have = append(have, name)
	}
	for name := range want {
		should = append(should, name)
	}
	if diff := cmp.Diff(set(should), set(have)); diff != "" {
		t.Errorf("fields (-want +got):\n%s", diff)
	}
	for name, form := range want {
		if value := string(got[name]); !regexp.MustCompile(form).MatchString(value) {
			t.Errorf("%s is %s, want %s", name, value, form)
		}
	}
}

func set(names []string) map[string]bool {
	out := map[string]bool{}
	for _, n := range names {
		out[n] = true
	}
	return out
}

type object = map[string]json.RawMessage

func TestCommandsPrintOneObject(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, database string) {
		inbox := newReceiver(t, nil)
		// In order: later commands use what earlier ones made.
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
			{"delivery list --company 1", shape{"deliveries": `^\[\]$`}},
			{"delivery redeliver --company 1 --since 1h --dry-run", shape{"count": `^0$`}},
			{"webhook remove --company 1 --id 1", shape{"id": `^1$`, "state": `^"removed"$`}},
		} {
			t.Run(c.args, func(t *testing.T) { wantShape(t, ask[object](t, database, strings.Fields(c.args)...), c.want) })
		}
	})
}

// Without --json, people read what programs would.
func TestCommandsTellPeople(t *testing.T) {
	t.Parallel()
	database := sqliteDatabase(t)
	for _, c := range []struct{ args, says string }{
		{"company create --name Acme --admin ann@acme.example", "/cabinet/enter/"},
		{"token create --company 1 --name HR --scope b2b_read", "cb_"},
		{"token revoke --id 1", "revoked"},
		{"version", "faults"},
	} {
		got := finish(t, command(append(strings.Fields(c.args), "--database", database)...))
		if got.code != 0 || !strings.Contains(got.stdout, c.says) || got.stderr != "" {
			t.Errorf("%s: code %d, printed %q, complained %q", c.args, got.code, got.stdout, got.stderr)
		}
	}
}

// Every flag of serve can come from the environment, and a flag wins over it.
func TestFlagsComeFromTheEnvironment(t *testing.T) {
	t.Parallel()
	database := sqliteDatabase(t)
	env := []string{"COURSEBRIDGE_DATABASE=" + database, "COURSEBRIDGE_JSON=true"}
	run := func(args ...string) ended {
		cmd := command(args...)
		cmd.Env = append(cmd.Env, env...)
		return finish(t, cmd)
	}
	wantShape(t, oneObject[object](t, run("company", "create", "--name", "Acme", "--admin", "ann@acme.example").stdout),
		shape{"companyId": number, "adminEmail": ".", "signInUrl": "."})
	made := oneObject[struct{ Token string }](t, run("token", "create", "--company", "1", "--name", "x", "--scope", "b2b_read").stdout)

	p := launchWith(t, append(env, "COURSEBRIDGE_RATE_LIMIT=1", "COURSEBRIDGE_RATE_BURST=1",
		"COURSEBRIDGE_PUBLIC_URL=https://courses.example", "COURSEBRIDGE_LOG_FORMAT=json"), database, "--rate-limit", "0.001")
	p.ready(t)
	f, caller := firm{token: made.Token}, newCaller(t)
	f.must(t, caller, http.MethodGet, p.url+"/api/v1/courses", nil)
	second, err := f.call(t.Context(), caller, http.MethodGet, p.url+"/api/v1/courses", nil)
	if err != nil {
		t.Fatal(err)
	}
	wantError(t, second, http.StatusTooManyRequests, "rate_limited")
	linked := oneObject[struct{ SignInURL string }](t, run("company", "create", "--name", "Beta", "--admin", "bo@beta.example").stdout)
	if !strings.HasPrefix(linked.SignInURL, "https://courses.example/") {
		t.Errorf("the sign-in link %q does not lead to the server's public address", linked.SignInURL)
	}
}

// Commands that serve print where, and nothing else.
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
			"signInUrl": `^"http://` + address + `/cabinet/enter/.+"$`, "apiUrl": `/api/v1"$`, "docsUrl": `/docs"$`,
			"token": bearer, "curl": `^"curl -s 'http://` + address + `/api/v1/courses' -H 'Authorization: Bearer cb_`,
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
				t.Errorf("the program's end: %v", err)
			}
		})
	}
}

// The operator is told of a target that servers refuse, unless the settings say
// that they don't.
func TestTargetsAreWarnedOf(t *testing.T) {
	t.Parallel()
	database := sqliteDatabase(t)
	f := newFirm(t, database)
	add := []string{"webhook", "add", "--company", id(f.company), "--url", "http://127.0.0.1:9/x", "--event", "assignment.created", "--database", database}
	got := finish(t, command(add...))
	if got.code != 0 || !strings.Contains(got.stderr, "refuse") {
		t.Errorf("code %d, %s", got.code, got.stderr)
	}
	got = finish(t, command(append(add, "--webhook-allow-private", "--webhook-allow-http")...))
	if got.code != 0 || got.stderr != "" {
		t.Errorf("allowed: code %d, %s", got.code, got.stderr)
	}
	got = finish(t, command(append(add, "--public-url", "nowhere")...))
	if got.code == 0 || !strings.Contains(got.stderr, "public address") {
		t.Errorf("a public address that is none: code %d, %s", got.code, got.stderr)
	}
}
