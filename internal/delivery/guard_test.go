package delivery

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"
)

func TestBlockedAddresses(t *testing.T) {
	t.Parallel()
	for addr, reason := range map[string]string{
		"0.0.0.0":                              "unspecified",
		"0.1.2.3":                              "unspecified",
		"10.0.0.1":                             "private",
		"10.255.255.255":                       "private",
		"100.64.0.1":                           "carrier",
		"100.100.100.200":                      "metadata",
		"100.127.255.255":                      "carrier",
		"127.0.0.1":                            "loopback",
		"127.255.255.254":                      "loopback",
		"168.63.129.16":                        "metadata",
		"169.254.0.1":                          "link-local",
		"169.254.169.254":                      "metadata",
		"169.254.170.2":                        "metadata",
		"172.16.0.1":                           "private",
		"172.31.255.255":                       "private",
		"192.0.0.8":                            "protocols",
		"192.0.0.192":                          "metadata",
		"192.0.2.1":                            "documentation",
		"192.88.99.1":                          "relay",
		"192.168.1.1":                          "private",
		"198.18.0.1":                           "measuring",
		"198.19.255.255":                       "measuring",
		"198.51.100.7":                         "documentation",
		"203.0.113.7":                          "documentation",
		"224.0.0.1":                            "multicast",
		"239.255.255.250":                      "multicast",
		"240.0.0.1":                            "reserved",
		"255.255.255.255":                      "broadcast",
		"::":                                   "unspecified",
		"::1":                                  "loopback",
		"::127.0.0.1":                          "no longer in use",
		"::8.8.8.8":                            "no longer in use",
		"::ffff:127.0.0.1":                     "loopback",
		"::ffff:10.1.2.3":                      "private",
		"::ffff:169.254.169.254":               "metadata",
		"::ffff:0:127.0.0.1":                   "translators",
		"64:ff9b::127.0.0.1":                   "loopback",
		"64:ff9b::10.0.0.1":                    "private",
		"64:ff9b::169.254.169.254":             "metadata",
		"64:ff9b:1::8.8.8.8":                   "local translator",
		"64:ff9b:2::1":                         "public use",
		"100::1":                               "nowhere",
		"2001::1":                              "Teredo",
		"2001:0:4136:e378:8000:63bf:80ff:fffe": "Teredo",
		"2001:2::1":                            "protocols",
		"2001:20::1":                           "protocols",
		"2001:db8::1":                          "documentation",
		"2002:7f00:1::1":                       "6to4",
		"2002:808:808::1":                      "6to4",
		"3fff::1":                              "documentation",
		"4000::1":                              "public use",
		"5f00::1":                              "segments",
		"fc00::1":                              "private",
		"fd00:ec2::254":                        "metadata",
		"fd12:3456::1":                         "private",
		"fd20:ce::254":                         "metadata",
		"fe80::1":                              "link-local",
		"fe80::1%eth0":                         "interface",
		"2606:4700::1%eth0":                    "interface",
		"fec0::1":                              "private",
		"ff02::1":                              "multicast",
	} {
		if got := blockedReason(netip.MustParseAddr(addr)); !strings.Contains(got, reason) {
			t.Errorf("%s: reason %q, want one with %q", addr, got, reason)
		}
	}
	if blockedReason(netip.Addr{}) == "" {
		t.Error("the invalid address is not blocked")
	}
}

func TestPublicAddresses(t *testing.T) {
	t.Parallel()
	for _, addr := range []string{
		"1.1.1.1", "8.8.8.8", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255",
		"128.0.0.1", "169.253.255.255", "169.255.0.0", "172.15.255.255", "172.32.0.0", "192.0.1.0", "192.167.255.255",
		"192.169.0.0", "198.17.255.255", "198.20.0.0", "203.0.112.255", "223.255.255.255",
		"2001:200::1", "2606:4700:4700::1111", "2a00:1450::1", "::ffff:8.8.8.8", "64:ff9b::8.8.8.8",
	} {
		if got := blockedReason(netip.MustParseAddr(addr)); got != "" {
			t.Errorf("%s is blocked as %s", addr, got)
		}
	}
}

func TestDialerRefusesWhateverLeadsToLoopback(t *testing.T) {
	t.Parallel()
	listener := listen(t)
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	resolver, _ := newResolver(t, map[string][]netip.Addr{
		"rebound.test": addrs("127.0.0.1"),
		"mapped.test":  addrs("::ffff:127.0.0.1"),
		"six.test":     addrs("::1"),
	})
	guard := &Guard{Resolver: resolver}
	dialer := guard.Dialer(time.Second)
	for _, host := range []string{"127.0.0.1", "127.1.2.3", "0.0.0.0", "::1", "::", "::ffff:127.0.0.1",
		"64:ff9b::7f00:1", "rebound.test", "mapped.test", "six.test"} {
		conn, err := dialer.DialContext(t.Context(), "tcp", net.JoinHostPort(host, port))
		if err == nil {
			conn.Close()
		}
		if refused, ok := errors.AsType[*TargetError](err); !ok || refused.Kind != TargetAddress {
			t.Errorf("dial %s: %v, want a refused address", host, err)
		}
	}
}

func TestDialerRefusesPortsOfOtherServices(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		guard   Guard
		port    string
		allowed bool
	}{
		{Guard{}, "443", true},
		{Guard{}, "80", true},
		{Guard{}, "8443", true},
		{Guard{}, "65535", true},
		{Guard{}, "22", false},
		{Guard{}, "25", false},
		{Guard{}, "0", false},
		{Guard{Ports: []uint16{443, 8443}}, "8443", true},
		{Guard{Ports: []uint16{443, 8443}}, "80", false},
		{Guard{AllowPrivate: true}, "25", true},
		{Guard{AllowPrivate: true, Ports: []uint16{443}}, "25", true},
	} {
		err := tc.guard.control(t.Context(), "tcp4", "8.8.8.8:"+tc.port, nil)
		refused, ok := errors.AsType[*TargetError](err)
		if (err == nil) != tc.allowed || (ok && refused.Kind != TargetPort) {
			t.Errorf("%+v, port %s: %v, want allowed %t", tc.guard, tc.port, err, tc.allowed)
		}
	}
}

func TestDialerWithPrivateAllowedDialsEverything(t *testing.T) {
	t.Parallel()
	listener := listen(t)
	guard := &Guard{AllowPrivate: true}
	conn, err := guard.Dialer(time.Second).DialContext(t.Context(), "tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	conn.Close()
	for _, address := range []string{"[::1]:80", "[fe80::1%eth0]:80", "169.254.169.254:80"} {
		if err := guard.control(context.Background(), "tcp", address, nil); err != nil {
			t.Errorf("%s: %v", address, err)
		}
	}
}

func TestDialerRefusesWhatItCannotRead(t *testing.T) {
	t.Parallel()
	guard := &Guard{}
	for _, dial := range [][2]string{{"udp", "8.8.8.8:443"}, {"tcp", "hooks.example.com:443"}, {"tcp", ""}} {
		if _, ok := errors.AsType[*TargetError](guard.control(t.Context(), dial[0], dial[1], nil)); !ok {
			t.Errorf("%s is dialled", dial)
		}
	}
}

func listen(t *testing.T) net.Listener {
	t.Helper()
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	return listener
}
