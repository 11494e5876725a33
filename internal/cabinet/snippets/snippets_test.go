package snippets_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/coursebridge/coursebridge/internal/cabinet/snippets"
)

const (
	secret = "whsec_c2VjcmV0IGZvciB0aGUgc25pcHBldHMgdGVzdC4uLg=="
	body   = "{\"event\":\"employee.joined\",\"data\":{\"name\":\"Zoë Ødegård 𝒳\"}}\n"
)

func sign(key, body string) string {
	mac := hmac.New(sha256.New, []byte(key))
	mac.Write([]byte(body))
	return "sha256=" + hex.EncodeToString(mac.Sum(nil))
}

func TestProgramsTellGenuineRequests(t *testing.T) {
	t.Parallel()
	good := sign(secret, body)
	for _, c := range []struct {
		name                string
		body                string
		signature, previous string
		want                string
	}{
		{"genuine", body, good, "", "genuine"},
		{"old secret during a rotation", body, sign("whsec_new", body), good, "genuine"},
		{"oldest secret after two rotations", body, sign("whsec_new", body), sign("whsec_middle", body) + ", " + good, "genuine"},
		{"middle secret after two rotations", body, sign("whsec_new", body), good + ", " + sign("whsec_old", body), "genuine"},
		{"changed body", strings.Replace(body, "joined", "removed", 1), good, "", "not genuine"},
		{"body without its last byte", strings.TrimSuffix(body, "\n"), good, "", "not genuine"},
		{"other secret", body, sign("whsec_other", body), "", "not genuine"},
		{"cut signature", body, good[:len(good)-1], "", "not genuine"},
		{"no prefix", body, strings.TrimPrefix(good, "sha256="), "", "not genuine"},
		{"no signature", body, "", "", "not genuine"},
	} {
		for _, s := range snippets.All {
			program, err := exec.LookPath(s.Run[0])
			if err != nil {
				t.Logf("%s: %s is not installed here", s.Label, s.Run[0])
				continue
			}
			t.Run(s.ID+"/"+c.name, func(t *testing.T) {
				t.Parallel()
				got := run(t, s, program, c.body, "SIGNATURE="+c.signature, "SIGNATURE_PREVIOUS="+c.previous)
				if got != c.want {
					t.Errorf("it says %q, want %q", got, c.want)
				}
			})
		}
	}
}

// run pastes the program's text into an empty folder, as a reader would.
func run(t *testing.T, s snippets.Snippet, program, body string, env ...string) string {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Base(s.File)
	if err := os.WriteFile(filepath.Join(dir, file), []byte(s.Code()), 0o600); err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), program, slices.Concat(s.Run[1:], []string{file})...)
	command.Dir = dir
	command.Env = append(append(os.Environ(), "SECRET="+secret), env...)
	command.Stdin = strings.NewReader(body)
	var stderr strings.Builder
	command.Stderr = &stderr
	out, err := command.Output()
	if err != nil {
		t.Fatalf("run: %v\n%s", err, stderr.String())
	}
	return strings.TrimSpace(string(out))
}
