package domain_test

import (
	"errors"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
)

func TestThrottleWait(t *testing.T) {
	t.Parallel()
	account := domain.AccountThrottle("anna@x.test")
	for failures, want := range map[int]time.Duration{
		0: 0, 1: 0, 4: 0, 5: time.Second, 6: 2 * time.Second, 7: 4 * time.Second, 10: 32 * time.Second,
		14: 512 * time.Second, 15: domain.MaxWait, 1000: domain.MaxWait,
	} {
		if got := account.Wait(failures); got != want {
			t.Errorf("after %d failures: %v, want %v", failures, got, want)
		}
	}
}

func TestThrottleKeys(t *testing.T) {
	t.Parallel()
	if a, b := domain.AccountThrottle("Anna@X.test"), domain.AccountThrottle("anna@x.TEST"); a != b || strings.Contains(a.Key, "anna") {
		t.Errorf("account keys %q and %q: want one, and not the address", a.Key, b.Key)
	}
	for addr, want := range map[string][]string{
		"203.0.113.9": {"address:203.0.113.9"}, "::ffff:203.0.113.9": {"address:203.0.113.9"},
		"2001:db8:1:2:3:4:5:6": {"address:2001:db8:1:2::/64", "address:2001:db8:1::/56", "address:2001:db8:1::/48"},
		"fe80::1%eth0":         {"address:fe80::/64", "address:fe80::/56", "address:fe80::/48"},
	} {
		var keys []string
		for _, throttle := range domain.AddressThrottles(netip.MustParseAddr(addr)) {
			keys = append(keys, throttle.Key)
		}
		if !slices.Equal(keys, want) {
			t.Errorf("keys of %s are %q, want %q", addr, keys, want)
		}
	}
}

func TestErrThrottled(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 14, 9, 30, 0, 0, time.UTC)
	for wait, want := range map[time.Duration]string{
		time.Millisecond: "in 1 second.", time.Second: "in 1 second.", 1500 * time.Millisecond: "in 2 seconds.",
		119 * time.Second: "in 119 seconds.", 121 * time.Second: "in 3 minutes.", domain.MaxWait: "in 15 minutes.",
	} {
		err := domain.ErrThrottled(now.Add(wait), now)
		var cause *domain.ThrottledError
		if !strings.HasSuffix(err.Message, want) || !errors.As(err, &cause) || !cause.Until.Equal(now.Add(wait)) {
			t.Errorf("%v: %q, want %q", wait, err.Message, want)
		}
	}
}
