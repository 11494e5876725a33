package server

import (
	"net/netip"
	"testing"
)

// A peer that is no trusted proxy is the client, whatever it claims. An address
// behind a trusted one is always valid.
func FuzzClientAddress(f *testing.F) {
	for _, seed := range []string{"", "203.0.113.7", "1.2.3.4, 10.0.0.9", "[2001:db8::1]:443, 10.0.0.9", "unknown, ,,", "fe80::1%eth0", "10.0.0.9:99999"} {
		f.Add(seed)
	}
	proxy, stranger := netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("203.0.113.9")
	trusted := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}
	f.Fuzz(func(t *testing.T, forwarded string) {
		if got := clientAddress(stranger, []string{forwarded}, trusted); got != stranger {
			t.Errorf("a stranger who claims %q is taken for %s", forwarded, got)
		}
		if got := clientAddress(proxy, []string{forwarded}, trusted); !got.IsValid() || got.Zone() != "" || got.Is4In6() {
			t.Errorf("%q is read as %v", forwarded, got)
		}
	})
}
