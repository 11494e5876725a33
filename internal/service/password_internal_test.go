package service

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/coursebridge/coursebridge/internal/domain"
)

var cheapCost = PasswordCost{Memory: 64, Passes: 1, Threads: 1}

func TestHasher(t *testing.T) {
	t.Parallel()
	h := newHasher(cheapCost)
	stored, err := h.hash(t.Context(), "caf\u00e9 at the corner")
	if err != nil {
		t.Fatal(err)
	}
	other, err := h.hash(t.Context(), "caf\u00e9 at the corner")
	if err != nil || other == stored {
		t.Errorf("two hashes of one password are the same, %v", err)
	}
	for password, want := range map[string]bool{"caf\u00e9 at the corner": true, "cafe\u0301 at the corner": true, "cafe at the corner": false, "": false} {
		if ok, stale, err := h.verify(t.Context(), stored, password); ok != want || stale || err != nil {
			t.Errorf("%q: %v, %v, %v", password, ok, stale, err)
		}
	}
	for _, bad := range []string{
		"x", strings.Replace(stored, "argon2id", "argon2i", 1), strings.Replace(stored, "v=19", "v=16", 1), strings.Replace(stored, "m=64", "m=9999999", 1),
		strings.Replace(stored, "t=1", "t=0", 1), strings.Replace(stored, "p=1", "p=x", 1), stored[:len(stored)-4], stored + "$",
	} {
		if _, _, err := h.verify(t.Context(), bad, "x"); !errors.Is(err, errPHC) {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

// Where there is no hash, one is made all the same: with every place taken it
// waits like any other.
func TestMissingHashCostsTheSame(t *testing.T) {
	t.Parallel()
	h := newHasher(cheapCost)
	if ok, _, err := h.verify(t.Context(), "", ""); ok || err != nil {
		t.Errorf("without a hash: %v, %v", ok, err)
	}
	for range maxHashes {
		h.slots <- struct{}{}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := h.verify(ctx, "", "x"); !errors.Is(err, context.Canceled) {
		t.Errorf("without a hash nothing was computed: %v", err)
	}
}

func TestHasherIsBusy(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHasher(cheapCost)
		for range maxHashes {
			h.slots <- struct{}{}
		}
		if _, err := h.hash(t.Context(), "x"); domain.CodeOf(err) != domain.CodeUnavailable {
			t.Errorf("with every place taken: %v", err)
		}
	})
}

func BenchmarkPasswordHash(b *testing.B) {
	h := newHasher(PasswordCost{})
	for b.Loop() {
		if _, err := h.hash(b.Context(), "violet tram engine"); err != nil {
			b.Fatal(err)
		}
	}
}
