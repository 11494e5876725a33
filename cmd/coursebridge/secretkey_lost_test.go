package main

import (
	"os"
	"strings"
	"testing"

	"github.com/coursebridge/coursebridge/internal/store"
)

// sealedFactor stores a second factor for administrator 1 that no key can decrypt.
func sealedFactor(t *testing.T, database string) {
	t.Helper()
	s, err := store.Open(t.Context(), database)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	if err := s.SetTOTPSecret(t.Context(), 1, []byte("\x01sealed with the lost key")); err != nil {
		t.Fatal(err)
	}
}

// loseKey replaces the key by one that does not fit, or removes the key file.
func loseKey(t *testing.T, database string) {
	t.Helper()
	path, isFile := strings.CutPrefix(database, "sqlite://")
	if !isFile {
		t.Setenv("COURSEBRIDGE_SECRET_KEY", strings.Repeat("cd", 32))
		return
	}
	if err := os.Remove(path + ".key"); err != nil {
		t.Fatal(err)
	}
}

// After the key was lost, everything but the encrypted secrets can still be used. A
// reset lists them, changes nothing without --confirm, and renews them with it.
func TestSecretKeyReset(t *testing.T) {
	eachEngine(t, func(t *testing.T, database string) {
		if strings.HasPrefix(database, "postgres") {
			t.Setenv("COURSEBRIDGE_SECRET_KEY", strings.Repeat("ab", 32))
		}
		newCompany(t, database)
		var secret string
		url, valid, own := signatures(t, &secret)
		add := []string{"webhook", "add", "--company", "1", "--url", url, "--event", "employee.joined", "--webhook-allow-private", "--webhook-allow-http"}
		secret = mustRun(t, database, add...)["secret"].(string)
		before := secret
		addHeader(t, database, strings.Repeat("ab", 32))
		token := mustRun(t, database, "token", "create", "--company", "1", "--name", "x", "--scope", "b2b_provision")["token"].(string)
		if got := mustRun(t, database, "secret-key", "reset", "--confirm")["webhooks"].([]any); len(got) != 0 {
			t.Errorf("a reset with the right key replaced %v", got)
		}
		sealedFactor(t, database)
		loseKey(t, database)
		wantRefused(t, "secret-key reset", "company", "list", "--database", database)

		for range 2 { // looking changes nothing
			listed := mustRun(t, database, "secret-key", "reset")
			if webhooks := listed["webhooks"].([]any); listed["done"] != false || len(webhooks) != 1 || webhooks[0].(map[string]any)["secret"] != nil {
				t.Errorf("listed %v", listed)
			}
		}
		wantRefused(t, "secret-key reset", "company", "list", "--database", database)
		done := mustRun(t, database, "secret-key", "reset", "--confirm")
		if factors := done["secondFactors"].([]any); len(factors) != 1 || factors[0] != "ann@acme.example" {
			t.Errorf("second factors to renew: %v", factors)
		}
		secret = done["webhooks"].([]any)[0].(map[string]any)["secret"].(string)
		if secret == before {
			t.Error("the secret is the lost one")
		}
		provision(t, startServer(t, database), token, "one")
		wantSigned(t, valid, "after the reset")
		wantHeader(t, own, "") // it was lost with the key
		if got := mustRun(t, database, "secret-key", "reset"); len(got["webhooks"].([]any))+len(got["secondFactors"].([]any)) != 0 {
			t.Errorf("left to reset: %v", got)
		}
	})
}
