package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/secret"
	"github.com/coursebridge/coursebridge/internal/store"
	"github.com/coursebridge/coursebridge/internal/store/db"
	"github.com/coursebridge/coursebridge/internal/store/storetest"
)

// signatures returns a receiver, a channel with whether each request was signed with
// the secret that *secret holds, and one with the endpoint's own header of each.
func signatures(t *testing.T, secret *string) (url string, valid chan bool, own chan string) {
	t.Helper()
	valid, own = make(chan bool, 10), make(chan string, 10)
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mac := hmac.New(sha256.New, []byte(*secret))
		mac.Write(body)
		own <- r.Header.Get("X-Own")
		valid <- r.Header.Get("X-Service-Signature") == "sha256="+hex.EncodeToString(mac.Sum(nil))
	}))
	t.Cleanup(receiver.Close)
	return receiver.URL, valid, own
}

// wantHeader checks the endpoint's own header of a request that has arrived.
func wantHeader(t *testing.T, own chan string, want string) {
	t.Helper()
	if got := <-own; got != want {
		t.Errorf("the endpoint's own header is %q, want %q", got, want)
	}
}

func wantSigned(t *testing.T, valid chan bool, when string) {
	t.Helper()
	select {
	case ok := <-valid:
		if !ok {
			t.Errorf("%s: a webhook is signed with another secret", when)
		}
	case <-time.After(20 * time.Second):
		t.Fatalf("%s: no webhook was sent", when)
	}
}

// addHeader sets a header of their own for the endpoints of company 1, encrypted with the
// key.
func addHeader(t *testing.T, database, key string) {
	t.Helper()
	s, err := store.Open(t.Context(), database)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	options := secret.Options{Key: key}
	if path, isFile := strings.CutPrefix(database, "sqlite://"); isFile {
		options = secret.Options{File: path + ".key"}
	}
	box, err := secret.Open(t.Context(), s, options)
	if err != nil {
		t.Fatal(err)
	}
	sealed := box.Seal(domain.SecretLabel(1), domain.EncodeHeaders(domain.Headers{{Name: "X-Own", Value: "kept"}}))
	err = s.Engine().Write(t.Context(), func(tx db.Tx) error {
		_, err := tx.Exec(t.Context(), `UPDATE endpoints SET headers = $1 WHERE company_id = 1`, sealed)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A server that still has the old key, and one that has the new one, sign with the same
// webhook secret while the key is rotated.
func TestSecretKeyRotation(t *testing.T) {
	const oldKey = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"
	const newKey = "ffeeddccbbaa99887766554433221100ffeeddccbbaa99887766554433221100"
	database := storetest.Postgres(t)
	t.Setenv("COURSEBRIDGE_SECRET_KEY", oldKey)
	newCompany(t, database)
	var secret string
	url, valid, own := signatures(t, &secret)
	secret = mustRun(t, database, "webhook", "add", "--company", "1", "--url", url, "--event", "employee.joined",
		"--webhook-allow-private", "--webhook-allow-http")["secret"].(string)
	addHeader(t, database, oldKey)
	token := mustRun(t, database, "token", "create", "--company", "1", "--name", "x", "--scope", "b2b_provision")["token"].(string)
	removed := mustRun(t, database, "webhook", "add", "--company", "1", "--url", "https://hooks.example/a", "--event", "employee.joined")["id"].(float64)
	mustRun(t, database, "webhook", "remove", "--company", "1", "--id", fmt.Sprint(removed)) // its secret is empty from now on
	before := startServer(t, database)
	wantRefused(t, "the new key is missing", "secret-key", "rotate", "--database", database)
	t.Setenv("COURSEBRIDGE_NEW_SECRET_KEY", newKey)
	if got := mustRun(t, database, "secret-key", "rotate"); got["resealed"] != 1.0 || got["finished"] != false {
		t.Errorf("rotate printed %v", got)
	}
	if got := mustRun(t, database, "secret-key", "rotate"); got["resealed"] != 0.0 {
		t.Errorf("rotate printed %v the second time", got)
	}
	provision(t, before, token, "one")
	wantSigned(t, valid, "with the old key")
	wantHeader(t, own, "kept")
	before.stop()
	wantRefused(t, "not the key", "secret-key", "rotate", "--finish", "--database", database)
	t.Setenv("COURSEBRIDGE_SECRET_KEY", newKey)
	mustRun(t, database, "secret-key", "rotate", "--finish")
	provision(t, startServer(t, database), token, "two")
	wantSigned(t, valid, "with the new key")
	wantHeader(t, own, "kept")
	t.Setenv("COURSEBRIDGE_SECRET_KEY", oldKey)
	wantRefused(t, "not the key", "company", "list", "--database", database)
}

func TestSecretKeyRotationOfAKeyFile(t *testing.T) {
	t.Parallel()
	database := storetest.SQLite(t)
	newCompany(t, database)
	var secret string
	url, valid, _ := signatures(t, &secret)
	secret = mustRun(t, database, "webhook", "add", "--company", "1", "--url", url, "--event", "employee.joined",
		"--webhook-allow-private", "--webhook-allow-http")["secret"].(string)
	token := mustRun(t, database, "token", "create", "--company", "1", "--name", "x", "--scope", "b2b_provision")["token"].(string)
	s := startServer(t, database)
	wantRefused(t, "no rotation is under way", "secret-key", "rotate", "--finish", "--database", database)
	mustRun(t, database, "secret-key", "rotate")
	provision(t, s, token, "one")
	wantSigned(t, valid, "while it is rotated")
	mustRun(t, database, "secret-key", "rotate", "--finish")
	provision(t, s, token, "two")
	wantSigned(t, valid, "after the end")
}
