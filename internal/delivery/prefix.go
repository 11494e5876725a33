package delivery

import "net/netip"

// blockedPrefixes lists the addresses that webhooks are not sent to. The reason completes the sentence "10.0.0.1 is …",
// which is shown to the person who entered the target. The first match counts, so a special case comes before the range
// that contains it.
var blockedPrefixes = []struct {
	prefix netip.Prefix
	reason string
}{
	{netip.MustParsePrefix("169.254.169.254/32"), "the metadata address of a cloud provider"}, // AWS, Azure, Google Cloud and others
	{netip.MustParsePrefix("169.254.170.0/24"), "the metadata address of a cloud provider"},   // AWS ECS and EKS credentials
	{netip.MustParsePrefix("100.100.100.200/32"), "the metadata address of a cloud provider"}, // Alibaba Cloud
	{netip.MustParsePrefix("168.63.129.16/32"), "the metadata address of a cloud provider"},   // Azure platform services
	{netip.MustParsePrefix("192.0.0.192/32"), "the metadata address of a cloud provider"},     // Oracle Cloud
	{netip.MustParsePrefix("fd00:ec2::/32"), "the metadata address of a cloud provider"},      // AWS
	{netip.MustParsePrefix("fd20:ce::254/128"), "the metadata address of a cloud provider"},   // Google Cloud

	{netip.MustParsePrefix("0.0.0.0/8"), "an unspecified address, which reaches this machine itself"},
	{netip.MustParsePrefix("10.0.0.0/8"), "a private network address"},
	{netip.MustParsePrefix("100.64.0.0/10"), "a carrier's internal address"}, // carrier-grade NAT, RFC 6598
	{netip.MustParsePrefix("127.0.0.0/8"), "a loopback address, which reaches this machine itself"},
	{netip.MustParsePrefix("169.254.0.0/16"), "a link-local address"},
	{netip.MustParsePrefix("172.16.0.0/12"), "a private network address"},
	{netip.MustParsePrefix("192.0.0.0/24"), "reserved for network protocols"}, // RFC 6890
	{netip.MustParsePrefix("192.0.2.0/24"), "reserved for documentation"},
	{netip.MustParsePrefix("192.88.99.0/24"), "a former tunnel relay address"}, // 6to4 relay anycast, RFC 7526
	{netip.MustParsePrefix("192.168.0.0/16"), "a private network address"},
	{netip.MustParsePrefix("198.18.0.0/15"), "reserved for measuring networks"}, // benchmarking, RFC 2544
	{netip.MustParsePrefix("198.51.100.0/24"), "reserved for documentation"},
	{netip.MustParsePrefix("203.0.113.0/24"), "reserved for documentation"},
	{netip.MustParsePrefix("224.0.0.0/4"), "a multicast address"},
	{netip.MustParsePrefix("255.255.255.255/32"), "the broadcast address"},
	{netip.MustParsePrefix("240.0.0.0/4"), "a reserved address"},

	{netip.MustParsePrefix("::/128"), "an unspecified address, which reaches this machine itself"},
	{netip.MustParsePrefix("::1/128"), "a loopback address, which reaches this machine itself"},
	{netip.MustParsePrefix("::/96"), "an IPv4 address in a form that is no longer in use"},       // IPv4-compatible, RFC 4291
	{netip.MustParsePrefix("::ffff:0:0:0/96"), "an IPv4 address in a form for translators only"}, // IPv4-translated, RFC 2765
	{netip.MustParsePrefix("64:ff9b:1::/48"), "an address of a local translator"},                // local-use NAT64, RFC 8215
	{netip.MustParsePrefix("100::/32"), "an address that leads nowhere"},                         // discard-only 100::/64, RFC 6666
	{netip.MustParsePrefix("2001::/32"), "a Teredo tunnel address, behind which any IPv4 address can be"},
	{netip.MustParsePrefix("2001::/23"), "reserved for network protocols"}, // RFC 2928
	{netip.MustParsePrefix("2001:db8::/32"), "reserved for documentation"},
	{netip.MustParsePrefix("2002::/16"), "a 6to4 tunnel address, behind which any IPv4 address can be"},
	{netip.MustParsePrefix("3fff::/20"), "reserved for documentation"},
	{netip.MustParsePrefix("5f00::/16"), "an address of network segments"}, // SRv6 segment identifiers, RFC 9602
	{netip.MustParsePrefix("fc00::/7"), "a private network address"},
	{netip.MustParsePrefix("fe80::/10"), "a link-local address"},
	{netip.MustParsePrefix("fec0::/10"), "a private network address"}, // site-local, RFC 3879
	{netip.MustParsePrefix("ff00::/8"), "a multicast address"},
}

var (
	globalUnicast6 = netip.MustParsePrefix("2000::/3")     // all public IPv6 addresses
	nat64          = netip.MustParsePrefix("64:ff9b::/96") // IPv4 addresses as IPv6-only networks reach them
)

// blockedReason returns the reason why webhooks are not sent to addr, or an empty string if addr is public.
func blockedReason(addr netip.Addr) string {
	if addr.Zone() != "" {
		return "an address of one network interface of this machine"
	}
	addr = addr.Unmap()
	// An IPv6-only network reaches every IPv4 receiver through this prefix, so the embedded IPv4 address is checked.
	if nat64.Contains(addr) {
		bytes := addr.As16()
		addr = netip.AddrFrom4([4]byte(bytes[12:]))
	}
	for _, p := range blockedPrefixes {
		if p.prefix.Contains(addr) {
			return p.reason
		}
	}
	switch {
	case !addr.IsValid():
		return "not an address"
	case addr.Is6() && !globalUnicast6.Contains(addr):
		return "not assigned for public use"
	}
	return ""
}
