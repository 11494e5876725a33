package domain_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/coursebridge/coursebridge/internal/domain"
)

func TestRetiredSecretsSignForTheirOwnTime(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_800_000_000, 0).UTC()
	text := domain.FormatRetiredSecrets([]domain.RetiredSecret{
		{Secret: "whsec_c", Until: now.Add(24 * time.Hour)}, {Secret: "whsec_b", Until: now.Add(2 * time.Hour)}, {Secret: "whsec_a", Until: now.Add(time.Hour)},
	})
	signing := func(after time.Duration) (out []string) {
		for _, r := range domain.ParseRetiredSecrets(text, now.Add(24*time.Hour), now.Add(after)) {
			out = append(out, r.Secret)
		}
		return out
	}
	for after, want := range map[time.Duration][]string{
		0: {"whsec_c", "whsec_b", "whsec_a"}, time.Hour: {"whsec_c", "whsec_b"}, 3 * time.Hour: {"whsec_c"}, 24 * time.Hour: nil,
	} {
		if diff := cmp.Diff(want, signing(after)); diff != "" {
			t.Errorf("after %s (- want): %s", after, diff)
		}
	}
	if one := domain.FormatRetiredSecrets([]domain.RetiredSecret{{Secret: "whsec_a", Until: now}}); one != "whsec_a" {
		t.Errorf("a single secret is written as %q", one)
	}
}
