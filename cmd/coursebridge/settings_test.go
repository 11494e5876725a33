package main

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/coursebridge/coursebridge/internal/store/storetest"
)

// A variable must never choose what one call acts on.
func TestArgumentsDoNotComeFromTheEnvironment(t *testing.T) {
	eachEngine(t, func(t *testing.T, database string) {
		mustRun(t, database, "migrate")
		mustRun(t, database, "company", "create", "--name", "Acme", "--admin", "ann@acme.example")
		mustRun(t, database, "token", "create", "--company", "1", "--name", "HR", "--scope", "b2b_read")
		t.Setenv("COURSEBRIDGE_ID", "1")
		got := runCommand(t, "token", "revoke", "--database", database)
		if got.code == 0 || !strings.Contains(got.stderr, "--id") {
			t.Errorf("exit code %d, %s", got.code, got.stderr)
		}
		tokens := mustRun(t, database, "token", "list")["tokens"].([]any)
		if revoked := tokens[0].(map[string]any)["revokedAt"]; revoked != nil {
			t.Errorf("the token was revoked at %v", revoked)
		}
	})
}

func TestSettingsComeFromVariablesAndFiles(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	one, two, three := storetest.SQLite(t), storetest.SQLite(t), storetest.SQLite(t)
	for _, database := range []string{one, two, three} {
		mustRun(t, database, "migrate")
	}
	mustRun(t, one, "company", "create", "--name", "One", "--admin", "a@one.example")
	mustRun(t, two, "company", "create", "--name", "Two", "--admin", "a@two.example")
	mustRun(t, three, "company", "create", "--name", "Three", "--admin", "a@three.example")
	config := write("config", "# settings\n\ndatabase = "+one+"\njson = true\n")
	wantCompany := func(name string, args ...string) {
		t.Helper()
		got := runCommand(t, append([]string{"company", "list"}, args...)...)
		if got.code != 0 || !strings.Contains(got.stdout, `"name":"`+name+`"`) {
			t.Errorf("exit code %d, printed %q, want company %s: %s", got.code, got.stdout, name, got.stderr)
		}
	}
	wantCompany("One", "--config", config)
	t.Run("COURSEBRIDGE_CONFIG_FILE", func(t *testing.T) {
		t.Setenv("COURSEBRIDGE_CONFIG_FILE", write("path", config+"\n"))
		wantCompany("One")
		t.Setenv("COURSEBRIDGE_CONFIG_FILE", write("swapped", "secret-key: hush"))
		got := runCommand(t, "company", "list")
		if got.code == 0 || !strings.Contains(got.stderr, "COURSEBRIDGE_CONFIG names a configuration file itself") || strings.Contains(got.stderr, "hush") {
			t.Errorf("a configuration file in place of its path: exit code %d, %s", got.code, got.stderr)
		}
		t.Setenv("COURSEBRIDGE_CONFIG_FILE", filepath.Join(dir, "missing"))
		wantRefused(t, "unset COURSEBRIDGE_CONFIG_FILE", "company", "list")
	})
	t.Setenv("COURSEBRIDGE_CONFIG", config)
	wantCompany("One")
	t.Setenv("COURSEBRIDGE_DATABASE_FILE", write("address", two+"\n"))
	wantCompany("Two")
	t.Setenv("COURSEBRIDGE_DATABASE", three)
	wantCompany("Three")
	wantCompany("One", "--database", one)

	wantRefused(t, `line 1: "id" is not a setting`, "company", "list", "--config", write("bad", "id = 3\n"))
	wantRefused(t, "line 2 must have the form name: value", "company", "list", "--config", write("worse", "json = true\nnonsense\n"))
	wantRefused(t, "configuration file", "company", "list", "--config", filepath.Join(dir, "missing"))
	t.Setenv("COURSEBRIDGE_PUBLIC_URL_FILE", filepath.Join(dir, "missing"))
	wantRefused(t, "name a file that this user can read, or unset COURSEBRIDGE_PUBLIC_URL_FILE", "company", "list")
}

func TestUnknownVariablesAreWarnedOf(t *testing.T) {
	t.Setenv("COURSEBRIDGE_RATE_LIMT", "5")
	t.Setenv("COURSEBRIDGE_SERVICE_HOST", "10.0.0.1") // set by Kubernetes
	got := runCommand(t, "version")
	if got.code != 0 || !strings.Contains(got.stderr, "COURSEBRIDGE_RATE_LIMT is not a setting and has no effect; did you mean COURSEBRIDGE_RATE_LIMIT?") ||
		strings.Contains(got.stderr, "SERVICE_HOST") {
		t.Errorf("exit code %d: %s", got.code, got.stderr)
	}
}

func TestDangerousValuesAreRefused(t *testing.T) {
	t.Parallel()
	for flag, allowed := range map[string]string{
		"--retention=-1h":                          "at least 1h",
		"--retention=59m":                          "at least 1h",
		"--tls-cert=cert.pem":                      "belong together",
		"--audit-retention=-1h":                    "at least 1h0m0s, or 0 for ever",
		"--activity-retention=5m":                  "at least 1h0m0s, or 0 for ever",
		"--rate-limit=-1":                          "between 0 and",
		"--rate-limit=NaN":                         "between 0 and",
		"--rate-burst=-1":                          "between 0 and",
		"--webhook-timeout=0s":                     "between 10ms and",
		"--report-timeout=0s":                      "between 1s and",
		"--report-limit=-1":                        "between 0 and",
		"--webhook-max-due-age=-1s":                "at least 0s",
		"--database-connections=-1":                "between 4 and",
		"--database-wait=-1s":                      "between 0s and",
		"--shutdown-delay=-1s":                     "between 0s and",
		"--drain-timeout=-1s":                      "between 0s and",
		"--memory-limit=1MiB":                      "at least 64MiB",
		"--memory-limit=much":                      "a size such as 512MiB",
		"--metrics-allow=everybody":                "--metrics-allow",
		"--metrics-listen=nowhere":                 "write --metrics-listen as host:port",
		"--debug-listen=127.0.0.1:99999":           "at most 65535",
		"--request-retention=-1h":                  "at least 1h0m0s, or 0 to record nothing",
		"--webhook-retry-delays=-1m":               "negative",
		"--public-url=https://x.example/learning":  "a scheme and a host",
		"--public-url=learning.example":            "a scheme and a host",
		"--public-url=ftp://learning.example":      "a scheme and a host",
		"--public-url=https://a:b@learning.exampl": "a scheme and a host",
	} {
		t.Run(flag, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "x.db")
			wantRefused(t, allowed, "serve", "--listen", "127.0.0.1:0", "--database", "sqlite://"+path, flag)
			if _, err := os.Stat(path); err == nil {
				t.Error("a database was created")
			}
		})
	}
}

func TestConfigurationFile(t *testing.T) {
	t.Parallel()
	known := map[string]string{"database": "", "rate-limit": "", "trusted-proxy": "", "metrics-allow": "", "json": ""}
	got, err := parseConfig(strings.NewReader(`---
# comment
database: "sqlite:///var/lib/c b.db"   # where
rate-limit: 12.5 # per second
json = true
trusted-proxy: [10.0.0.1, '10.0.0.2']
metrics-allow:
  - 10.0.0.0/8
  - fd00::/8
`), known)
	want := map[string]string{
		"database": "sqlite:///var/lib/c b.db", "rate-limit": "12.5", "json": "true", "trusted-proxy": "10.0.0.1,10.0.0.2",
		"metrics-allow": "10.0.0.0/8,fd00::/8",
	}
	if err != nil || !maps.Equal(got.values, want) {
		t.Errorf("read %v, %v, want %v", got.values, err, want)
	}
	for text, want := range map[string]string{
		"rate_limit: 3":                   `line 1: "rate_limit" is not a setting; did you mean rate-limit?`,
		"json: true\n\njson: false":       "line 3: json is set twice, first in line 1",
		"- 10.0.0.0/8":                    "line 1 must have the form",
		"json: true\n- x\n- y":            "line 2: json has a value already, in line 1",
		"metrics-allow: [a]\n- b":         "line 2: metrics-allow has a value already",
		"json: true\nserve:\n  json: yes": `line 2: "serve" is not a setting`,
	} {
		if _, err := parseConfig(strings.NewReader(text), known); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %q", text, err, want)
		}
	}
}

func TestConfigurationFileLists(t *testing.T) {
	t.Parallel()
	known := map[string]string{"listen": "", "json": ""}
	for text, want := range map[string]string{
		"listen: [a, b] # two":                 "a,b",
		"listen: # addresses\n- a\n- b # last": "a,b",
		"listen: #\n  - 'a # b'":               "a # b",
		`listen: ["a,b", c]`:                   `a\,b,c`, // kong's notation for a comma within an item
		`listen: ["a # b", 'c, d'] # "e"`:      `a # b,c\, d`,
		"listen: it's # a":                     "it's",
		"listen: [it's, that's]":               "it's,that's",
		`listen: "a`:                           `"a`,
		`listen: ["a, b`:                       `["a, b`,
		"listen: []":                           "",
		"listen: a#b":                          "a#b",
	} {
		if got, err := parseConfig(strings.NewReader(text), known); err != nil || got.values["listen"] != want {
			t.Errorf("%q: listen is %q, %v, want %q", text, got.values["listen"], err, want)
		}
	}
}

// What follows from an error is not an error of its own.
func TestItemsOfARefusedSettingAreIgnored(t *testing.T) {
	t.Parallel()
	known := map[string]string{"listen": "", "json": ""}
	for _, text := range []string{"listne:\n- a\n- b", "listen: x\n- y\n- z", "listen: a\nlisten:\n- b\n- c", "nonsense\n- a", "- a\n- b"} {
		if _, err := parseConfig(strings.NewReader(text), known); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v, want one error", text, err)
		}
	}
}
