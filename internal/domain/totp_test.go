package domain_test

import (
	"strings"
	"testing"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
)

// The vectors of RFC 6238, appendix B, cut to six digits.
func TestTOTPCode(t *testing.T) {
	t.Parallel()
	secret := []byte("12345678901234567890")
	for at, want := range map[int64]string{
		59: "287082", 1111111109: "081804", 1111111111: "050471", 1234567890: "005924", 2000000000: "279037", 20000000000: "353130",
	} {
		if got := domain.TOTPCode(secret, domain.TOTPStep(time.Unix(at, 0))); got != want {
			t.Errorf("code at %d is %s, want %s", at, got, want)
		}
	}
}

func TestMatchTOTP(t *testing.T) {
	t.Parallel()
	secret := domain.GenerateTOTPSecret()
	now := time.Unix(1_700_000_010, 0)
	step := domain.TOTPStep(now)
	for off, want := range map[int64]bool{-2: false, -1: true, 0: true, 1: true, 2: false} {
		code := domain.TOTPCode(secret, step+off)
		got, ok := domain.MatchTOTP(secret, " "+code[:3]+" "+code[3:], now)
		if ok != want || ok && got != step+off {
			t.Errorf("the code of %d steps away: step %d, %v", off, got-step, ok)
		}
		if want && !domain.TOTPStepEnds(step+off).After(now) {
			t.Errorf("a code of step %d ends before it stops being taken", off)
		}
	}
	for _, wrong := range []string{"", "12345", "1234567", "abcdef"} {
		if _, ok := domain.MatchTOTP(secret, wrong, now); ok {
			t.Errorf("%q was taken", wrong)
		}
	}
	last := step + 1
	if _, ok := domain.MatchTOTP(secret, domain.TOTPCode(secret, last), domain.TOTPStepEnds(last)); ok {
		t.Error("a code was taken at its end")
	}
}

func TestTOTPKey(t *testing.T) {
	t.Parallel()
	key := domain.NewTOTPKey([]byte("12345678901234567890"), "course bridge", "anna+a@x.test")
	want := "otpauth://totp/course%20bridge:anna+a@x.test?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&issuer=course%20bridge&algorithm=SHA1&digits=6&period=30"
	if key.URI != want || key.Secret != "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ" {
		t.Errorf("key %+v, want %s", key, want)
	}
}

func TestRecoveryCodes(t *testing.T) {
	t.Parallel()
	codes, hashes := domain.GenerateRecoveryCodes()
	if len(codes) != domain.RecoveryCodeCount || len(hashes) != len(codes) {
		t.Fatalf("%d codes, %d hashes", len(codes), len(hashes))
	}
	for i, code := range codes {
		for _, typed := range []string{code, strings.ToUpper(code), " " + strings.ReplaceAll(code, "-", " ") + " "} {
			if hash, ok := domain.HashRecoveryCode(typed); !ok || hash != hashes[i] {
				t.Errorf("%q: hash %s, %v", typed, hash, ok)
			}
		}
	}
	for _, wrong := range []string{"", "123456", codes[0] + "a", codes[0][1:]} {
		if _, ok := domain.HashRecoveryCode(wrong); ok {
			t.Errorf("%q passes for a recovery code", wrong)
		}
	}
}
