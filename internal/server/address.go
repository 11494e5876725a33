package server

import (
	"net/netip"
	"slices"
	"strings"
)

// client finds who stands behind trusted proxies: the last address of the
// forwarding chain that is not itself a trusted proxy. What stands before it was
// written by someone whom we have no reason to believe.
func client(peer netip.Addr, forwarded []string, trusted []netip.Prefix) netip.Addr {
	isTrusted := func(a netip.Addr) bool {
		return slices.ContainsFunc(trusted, func(p netip.Prefix) bool { return p.Contains(a) })
	}
	chain := strings.Split(strings.Join(forwarded, ","), ",")
	at := peer
	for _, hop := range slices.Backward(chain) {
		if !isTrusted(at) {
			break
		}
		next, err := parseHop(strings.TrimSpace(hop))
		if err != nil {
			break
		}
		at = next
	}
	return at
}

// parseHop reads an address, which some proxies write with its port.
func parseHop(s string) (netip.Addr, error) {
	if at, err := netip.ParseAddrPort(s); err == nil {
		return at.Addr().Unmap().WithZone(""), nil
	}
	a, err := netip.ParseAddr(strings.Trim(s, "[]"))
	return a.Unmap().WithZone(""), err
}
