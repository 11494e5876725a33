package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

func TestConfigCheckNamesTheProblemsAndTheirPlaces(t *testing.T) {
	dir := t.TempDir()
	file, rate := filepath.Join(dir, "c.yaml"), filepath.Join(dir, "rate")
	text := "# settings\nretention: 5m\npublic-url: https://x.example/learning\ntrusted-proxy: [nobody]\nsecret-key: short\n" +
		"tls-cert: " + dir + "/missing\ntls-key: " + dir + "/missing\nlisten:\n  - nowhere\n"
	for path, text := range map[string]string{file: text, rate: "-5\n"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("COURSEBRIDGE_RATE_LIMIT_FILE", rate)
	t.Setenv("COURSEBRIDGE_DRAIN_TIMEOUT", "-1s")
	got := runCommand(t, "config", "check", "--config", file, "--rate-burst=-1", "--database", "mysql://x")
	for _, want := range []string{
		file + ", line 2: --retention must be at least 1h0m0s, not 5m0s",
		file + ", line 3: the public address (--public-url) must be a scheme and a host",
		file + ", line 4: read --trusted-proxy",
		file + ", line 5: --secret-key cannot be used",
		file + ", line 6: read the certificate (--tls-cert",
		file + ", line 8: --listen cannot listen on \"nowhere\": write --listen as host:port",
		"COURSEBRIDGE_RATE_LIMIT_FILE, " + rate + ": --rate-limit must be between 0 and 1000000, not -5",
		"COURSEBRIDGE_DRAIN_TIMEOUT: --drain-timeout must be between 0s and 10m0s, not -1s",
		"\n--rate-burst must be between 0 and 1000000, not -1",
		"--database must begin with sqlite:// or postgres://",
		"10 problems in the settings",
	} {
		if !strings.Contains(got.stderr, want) {
			t.Errorf("%q is missing in:\n%s", want, got.stderr)
		}
	}
	if got.code != 1 || got.stdout != "" {
		t.Errorf("exit code %d, printed %q", got.code, got.stdout)
	}
	got = runCommand(t, "config", "check", "--config", file, "--json")
	var out checkedConfig
	if err := json.Unmarshal([]byte(got.stdout), &out); err != nil || got.code != 1 || out.Valid || len(out.Problems) != 8 {
		t.Errorf("exit code %d, %d problems, %v: %s", got.code, len(out.Problems), err, got.stdout)
	}
}

func TestConfigCheckPrintsTheSettings(t *testing.T) {
	file := filepath.Join(t.TempDir(), "c.yaml")
	if err := os.WriteFile(file, []byte("rate-limit: 7\nsecret-key: a long passphrase of mine\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("COURSEBRIDGE_DATABASE", "postgres://me:hidden@db.example/x?password=hidden")
	got := runCommand(t, "config", "check", "--config", file, "--rate-burst", "9")
	lines := strings.Join(strings.Fields(got.stdout), " ")
	for _, want := range []string{
		"rate-limit 7 " + file + ", line 1", "secret-key (hidden) " + file + ", line 2", "rate-burst 9 command line",
		"database postgres://me:xxxxx@db.example/x?password=xxxxx COURSEBRIDGE_DATABASE", "The settings are valid",
	} {
		if !strings.Contains(lines, want) {
			t.Errorf("%q is missing in:\n%s", want, got.stdout)
		}
	}
	if got.code != 0 || strings.Contains(strings.ReplaceAll(got.stdout, "(hidden)", ""), "hidden") || strings.Contains(got.stdout, "passphrase") {
		t.Errorf("exit code %d: %s%s", got.code, got.stdout, got.stderr)
	}
}

// serve refuses a value with the place that it comes from, too.
func TestErrorsNameTheFile(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "c.yaml")
	for text, want := range map[string]string{
		"\nrate-limit: fast\n":    ", line 2: --rate-limit: expected",
		"\nrate-limit: -1\n":      ", line 2: --rate-limit must be between 0 and 1000000, not -1",
		"nonsense\nrate_limit: 1": `line 1 must have the form name: value; line 2: "rate_limit" is not a setting; did you mean rate-limit?`,
	} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		wantRefused(t, want, "serve", "--listen", "127.0.0.1:0", "--config", file, "--database", "sqlite://"+file+".db")
	}
}

func TestHelpHasEveryDefault(t *testing.T) {
	t.Parallel()
	var cli commands
	parser, err := kong.New(&cli)
	if err != nil {
		t.Fatal(err)
	}
	help := strings.Join(strings.Fields(runCommand(t, "serve", "--help").stdout), " ")
	for _, node := range parser.Model.Children {
		if node.Name != "serve" {
			continue
		}
		for _, flags := range node.AllFlags(true) {
			for _, flag := range flags {
				if want := "($" + strings.Join(flag.Envs, ", $") + "). Default: " + flag.Default + "."; flag.Default != "" && !strings.Contains(help, want) {
					t.Errorf("--help does not have the default of --%s: %s", flag.Name, want)
				}
			}
		}
	}
	if !strings.Contains(help, "Default: 1m,5m,15m,1h,6h.") {
		t.Error("--help has no default of --webhook-retry-delays")
	}
}
