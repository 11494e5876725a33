package domain

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha1" //nolint:gosec // RFC 6238's default, and the one that every authenticator app knows
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base32"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"net/url"
	"strings"
	"time"
)

// Time-based codes as RFC 6238 has them: SHA-1, six digits, steps of 30 s.
const (
	totpPeriod  = 30
	totpModulus = 1_000_000
	totpSecret  = 20
	totpSkew    = 1 // steps before and after, for clocks that are off
)

// RecoveryCodeCount is the size of a set of recovery codes.
const RecoveryCodeCount = 10

const recoveryChars = 16

var base32Text = base32.StdEncoding.WithPadding(base32.NoPadding)

// GenerateTOTPSecret makes the secret that an authenticator app keeps.
func GenerateTOTPSecret() []byte {
	secret := make([]byte, totpSecret)
	_, _ = rand.Read(secret) // crypto/rand does not fail
	return secret
}

// TOTPStep returns the number of the time step that contains t.
func TOTPStep(t time.Time) int64 { return t.Unix() / totpPeriod }

// TOTPStepEnds returns when a code of the step is no longer accepted.
func TOTPStepEnds(step int64) time.Time {
	return time.Unix((step+totpSkew+1)*totpPeriod, 0).UTC()
}

// TOTPCode returns the code of one time step.
func TOTPCode(secret []byte, step int64) string {
	var counter [8]byte
	binary.BigEndian.PutUint64(counter[:], uint64(step))
	mac := hmac.New(sha1.New, secret)
	mac.Write(counter[:])
	sum := mac.Sum(nil)
	offset := sum[len(sum)-1] & 0x0f
	number := binary.BigEndian.Uint32(sum[offset:]) & 0x7fffffff
	return fmt.Sprintf("%06d", number%totpModulus)
}

// MatchTOTP returns the time step whose code was entered. Spaces are ignored.
func MatchTOTP(secret []byte, code string, now time.Time) (step int64, ok bool) {
	code = strings.ReplaceAll(strings.TrimSpace(code), " ", "")
	for s := TOTPStep(now) - totpSkew; s <= TOTPStep(now)+totpSkew; s++ {
		if subtle.ConstantTimeCompare([]byte(TOTPCode(secret, s)), []byte(code)) == 1 {
			step, ok = s, true
		}
	}
	return step, ok
}

// TOTPKey is a secret not yet confirmed, as an app takes it: typed, or scanned
// as the address.
type TOTPKey struct {
	Secret string
	URI    string
}

// NewTOTPKey returns a secret in both forms.
func NewTOTPKey(secret []byte, issuer, account string) TOTPKey {
	text := base32Text.EncodeToString(secret)
	// Apps disagree about + for a space, so it is %20.
	uri := fmt.Sprintf("otpauth://totp/%s:%s?secret=%s&issuer=%s&algorithm=SHA1&digits=6&period=%d",
		url.PathEscape(issuer), url.PathEscape(account), text, url.PathEscape(issuer), totpPeriod)
	return TOTPKey{Secret: text, URI: uri}
}

// GenerateRecoveryCodes returns new codes, each of which replaces the app once: 80
// bits in four groups.
func GenerateRecoveryCodes() (codes, hashes []string) {
	for range RecoveryCodeCount {
		raw := make([]byte, base32Text.DecodedLen(recoveryChars))
		_, _ = rand.Read(raw) // crypto/rand does not fail
		text := strings.ToLower(base32Text.EncodeToString(raw))
		code := strings.Join([]string{text[:4], text[4:8], text[8:12], text[12:]}, "-")
		hash, _ := HashRecoveryCode(code)
		codes, hashes = append(codes, code), append(hashes, hash)
	}
	return codes, hashes
}

// HashRecoveryCode returns what is stored of a code, however its groups were
// typed. ok is false for a text that cannot be one.
func HashRecoveryCode(code string) (hash string, ok bool) {
	code = strings.ToUpper(strings.NewReplacer("-", "", " ", "").Replace(strings.TrimSpace(code)))
	raw, err := base32Text.DecodeString(code)
	if err != nil || len(code) != recoveryChars {
		return "", false
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:]), true
}
