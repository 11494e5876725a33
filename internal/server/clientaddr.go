package server

import (
	"net/netip"
	"slices"
	"strings"
)

// clientAddress returns the address behind trusted proxies: the last one of the
// forwarding chain that is not itself a trusted proxy. Whatever stands before it
// in the chain may have been made up by the client.
func clientAddress(peer netip.Addr, forwarded []string, trusted []netip.Prefix) netip.Addr {
	chain := strings.Split(strings.Join(forwarded, ","), ",")
	at := peer
	for _, hop := range slices.Backward(chain) {
		if !contains(trusted, at) {
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

// contains reports whether one of the prefixes contains the address.
func contains(prefixes []netip.Prefix, a netip.Addr) bool {
	return slices.ContainsFunc(prefixes, func(p netip.Prefix) bool { return p.Contains(a) })
}

// parseHop parses an address; some proxies write it with its port.
func parseHop(s string) (netip.Addr, error) {
	if at, err := netip.ParseAddrPort(s); err == nil {
		return at.Addr().Unmap().WithZone(""), nil
	}
	a, err := netip.ParseAddr(strings.Trim(s, "[]"))
	return a.Unmap().WithZone(""), err
}
