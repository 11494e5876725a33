package delivery

import (
	"encoding/base64"
	"errors"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/coursebridge/coursebridge/internal/domain"
)

const signedBody = `{"event":"employee.joined","companyId":7,"data":{"name":"Ünal \"Яна\" 🎓"}}` + "\n"

// retired returns a secret that was replaced and still signs, none if it is empty.
func retired(secret string) []domain.RetiredSecret {
	if secret == "" {
		return nil
	}
	return []domain.RetiredSecret{{Secret: secret, Until: time.Now().Add(time.Hour)}}
}

func TestNewSecretIsRandomBase64Of32Bytes(t *testing.T) {
	t.Parallel()
	first, second := NewSecret(), NewSecret()
	if first == second {
		t.Errorf("two secrets are the same: %s", first)
	}
	encoded, ok := strings.CutPrefix(first, "whsec_")
	key, err := base64.StdEncoding.DecodeString(encoded)
	if !ok || err != nil || len(key) != 32 {
		t.Errorf("secret %s: prefix %t, decode %v, %d bytes", first, ok, err, len(key))
	}
}

func TestSignReturnsThePublishedExample(t *testing.T) {
	t.Parallel()
	got, err := Sign(Message{
		"msg_p5jXN8AQM9LWM0D4loKWxJek", time.Unix(1614265330, 0), []byte(`{"test": 2432232314}`),
		parseSecret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"), nil,
	})
	if err != nil {
		t.Fatal(err)
	}
	const published = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
	if got.Standard != published || got.Previous != "" {
		t.Errorf("signatures %+v, want the published example %s and no previous one", got, published)
	}
}

func TestSignSatisfiesStandardWebhooksLibrary(t *testing.T) {
	t.Parallel()
	secret, previous, stranger := NewSecret(), NewSecret(), NewSecret()
	for _, tc := range []struct {
		name             string
		previous, verify string
		accepted         bool
	}{
		{"current secret", "", secret, true},
		{"another secret", "", stranger, false},
		{"current secret during rotation", previous, secret, true},
		{"old secret during rotation", previous, previous, true},
		{"old secret after rotation", "", previous, false},
		{"another secret during rotation", previous, stranger, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			id, now := uuid.Must(uuid.NewV7()).String(), time.Now()
			signed, err := Sign(Message{id, now, []byte(signedBody), parseSecret(secret), retired(tc.previous)})
			if err != nil {
				t.Fatal(err)
			}
			header := http.Header{}
			header.Set("webhook-id", id)
			header.Set("webhook-timestamp", strconv.FormatInt(now.Unix(), 10))
			header.Set("webhook-signature", signed.Standard)
			receiver, err := standardwebhooks.NewWebhook(tc.verify)
			if err != nil {
				t.Fatal(err)
			}
			if err := receiver.Verify([]byte(signedBody), header); (err == nil) != tc.accepted {
				t.Errorf("verify: %v, want accepted %t", err, tc.accepted)
			}
		})
	}
}

func TestRetiredSecretSignsUntilItsEnd(t *testing.T) {
	t.Parallel()
	end := time.Unix(1794648600, 0)
	for at, want := range map[time.Time]bool{end.Add(-time.Second): true, end: false} {
		signed, err := Sign(Message{"id", at, nil, parseSecret(NewSecret()), []domain.RetiredSecret{{Secret: NewSecret(), Until: end}}})
		if err != nil || (signed.Previous != "") != want || (len(strings.Fields(signed.Standard)) == 2) != want {
			t.Errorf("at %s: %+v, %v; want the retired secret to sign: %t", at, signed, err, want)
		}
	}
}

func TestSignAgreesWithOpenSSL(t *testing.T) {
	t.Parallel()
	body := filepath.Join(t.TempDir(), "body.json")
	if err := os.WriteFile(body, []byte(signedBody), 0o600); err != nil {
		t.Fatal(err)
	}
	id, at := uuid.Must(uuid.NewV7()).String(), time.Unix(1794648600, 0)
	byOpenSSL := func(secret string) (service, standard string) {
		command := exec.Command("sh", "testdata/sign.sh", secret, id, "1794648600", body)
		command.Stderr = t.Output()
		printed, err := command.Output()
		if err != nil {
			t.Fatalf("sign.sh (it needs openssl): %v", err)
		}
		service, standard, _ = strings.Cut(strings.TrimSpace(string(printed)), "\n")
		return service, standard
	}
	secret, previous := NewSecret(), NewSecret()
	var want Signatures
	var old string
	want.Service, want.Standard = byOpenSSL(secret)
	want.Previous, old = byOpenSSL(previous)
	want.Standard += " " + old

	got, err := Sign(Message{id, at, []byte(signedBody), parseSecret(secret), retired(previous)})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("signatures (-openssl +ours):\n%s", diff)
	}
}

func TestSignRefusesOddSecretsWithoutQuotingThem(t *testing.T) {
	t.Parallel()
	good := NewSecret()
	for _, bad := range []string{"", "whsec_", "whsec_!hush!", "hush", strings.TrimPrefix(good, "whsec_")} {
		for _, pair := range [][2]string{{bad, ""}, {good, bad}} {
			if pair[1] == "" && pair[0] == good {
				continue // no previous secret is no error
			}
			secret, err := ParseSecret(pair[0])
			if err == nil {
				_, err = Sign(Message{"id", time.Unix(0, 0), nil, secret, retired(pair[1])})
			}
			if !errors.Is(err, ErrSecret) || strings.Contains(err.Error(), "hush") {
				t.Errorf("Sign with %q: %v, want ErrSecret", pair, err)
			}
		}
	}
}
