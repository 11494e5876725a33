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

func TestCheckURLRefuses(t *testing.T) {
	t.Parallel()
	resolver, _ := newResolver(t, map[string][]netip.Addr{
		"public.test":   addrs("8.8.8.8", "2606:4700::1"),
		"internal.test": addrs("10.1.2.3"),
		"mixed.test":    addrs("8.8.8.8", "fd12::1"),
		"mapped.test":   addrs("::ffff:127.0.0.1"),
	})
	guard := &Guard{Resolver: resolver}
	for _, tc := range []struct {
		url  string
		kind TargetKind
		says string
	}{
		{"", TargetScheme, "https://"},
		{"public.test/hook", TargetScheme, "https://"},
		{"ftp://public.test/", TargetScheme, "https://"},
		{"javascript:alert(1)", TargetScheme, "https://"},
		{"http://public.test/", TargetScheme, "plain http"},
		{"https:/hook", TargetHost, "no host"},
		{"https:public.test", TargetHost, "no host"},
		{"https://:8443/", TargetHost, "no host"},
		{"https://public .test/", TargetURL, "not a valid URL"},
		{"https://public.test/%zz", TargetURL, "not a valid URL"},
		{"https://public.test/\n", TargetURL, "not a valid URL"},
		{"https://user:pw@public.test/", TargetURL, "password"},
		{"https://public.test/#top", TargetURL, "fragment"},
		{"https://public.test/#", TargetURL, "fragment"},
		{"https://public.test/" + strings.Repeat("a", 2048), TargetURL, "2048"},
		{"https://public.test:0/", TargetPort, "Port 0"},
		{"https://public.test:65536/", TargetPort, "65535"},
		{"https://public.test:22/", TargetPort, "443"},
		{"https://public.test:x/", TargetURL, "not a valid URL"},
		{"https://пример.рф/", TargetHost, "xn--"},
		{"https://１２７.0.0.1/", TargetHost, "xn--"},
		{"https://pub*lic.test/", TargetHost, "letters"},
		{"https://public..test/", TargetHost, "1 to 63"},
		{"https://./", TargetHost, "1 to 253"},
		{"https://" + strings.Repeat("a", 64) + ".test/", TargetHost, "1 to 63"},
		{"https://2130706433/", TargetHost, "usual form"},
		{"https://0177.0.0.1/", TargetHost, "usual form"},
		{"https://127.1/", TargetHost, "usual form"},
		{"https://0x7f.0.0.1/", TargetHost, "usual form"},
		{"https://0x7f000001/", TargetHost, "usual form"},
		{"https://127.0.0.0x1./", TargetHost, "usual form"},
		{"https://127.0.0.1/", TargetAddress, "127.0.0.1 is a loopback"},
		{"https://[::1]/", TargetAddress, "::1 is a loopback"},
		{"https://[::ffff:127.0.0.1]/", TargetAddress, "loopback"},
		{"https://[64:ff9b::7f00:1]/", TargetAddress, "loopback"},
		{"https://[fe80::1%25eth0]/", TargetAddress, "interface"},
		{"https://169.254.169.254/latest/meta-data", TargetAddress, "metadata"},
		{"https://internal.test/", TargetAddress, "internal.test leads to an address that is not public"},
		{"https://mixed.test/", TargetAddress, "mixed.test leads to an address that is not public"},
		{"https://mapped.test/", TargetAddress, "mapped.test leads to an address that is not public"},
		{"https://unknown.test/", TargetDNS, "No address was found for unknown.test"},
	} {
		err := guard.CheckURL(t.Context(), tc.url)
		refused, ok := errors.AsType[*TargetError](err)
		if !ok || refused.Kind != tc.kind || !strings.Contains(refused.Error(), tc.says) {
			t.Errorf("CheckURL(%.60q) = %v, want kind %s and %q", tc.url, err, tc.kind, tc.says)
		}
		if ok && (refused.Kind == TargetAddress) != refused.Addr.IsValid() {
			t.Errorf("CheckURL(%.60q): address %v with kind %s", tc.url, refused.Addr, refused.Kind)
		}
	}
}

// Neither the check of an address nor an attempt to send names the address that a name resolves to: the resolver knows the
// names of the operator's own network.
func TestErrorsDoNotShowWhatANameResolvesTo(t *testing.T) {
	t.Parallel()
	resolver, _ := newResolver(t, map[string][]netip.Addr{"internal.test": addrs("10.1.2.3")})
	guard := &Guard{Resolver: resolver}
	check := guard.CheckURL(t.Context(), "https://internal.test/")
	_, dial := guard.Dialer(time.Minute).DialContext(t.Context(), "tcp", "internal.test:443")
	for what, err := range map[string]error{"check": check, "dial": dial} {
		refused, ok := errors.AsType[*TargetError](err)
		if !ok || refused.Kind != TargetAddress || !strings.Contains(refused.Message, "not public") {
			t.Errorf("%s: %v, want a target that is refused for its address", what, err)
			continue
		}
		for _, told := range []string{"10.1", "private network", "loopback"} {
			if strings.Contains(refused.Message, told) {
				t.Errorf("%s: the sentence tells %q: %s", what, told, refused.Message)
			}
		}
	}
}

func TestCheckURLAccepts(t *testing.T) {
	t.Parallel()
	resolver, _ := newResolver(t, map[string][]netip.Addr{
		"public.test":   addrs("8.8.8.8", "2606:4700::1"),
		"internal.test": addrs("10.1.2.3"),
	})
	strict := Guard{Resolver: resolver}
	http := Guard{Resolver: resolver, AllowHTTP: true}
	private := Guard{Resolver: resolver, AllowPrivate: true, AllowHTTP: true}
	for _, tc := range []struct {
		guard Guard
		url   string
	}{
		{strict, "https://public.test"},
		{strict, "HTTPS://public.test/"},
		{strict, "https://public.test./a/b?token=x%20y&z"},
		{strict, "https://PUBLIC.test:8443/hook"},
		{strict, "https://public.test:/hook"},
		{strict, "https://8.8.8.8/hook"},
		{strict, "https://[2606:4700::1]:8443/hook"},
		{strict, "https://[64:ff9b::808:808]/hook"},
		{http, "http://public.test/hook"},
		{private, "https://internal.test/hook"},
		{private, "http://127.0.0.1:9/hook"},
		{private, "http://[::1]:9/hook"},
		{private, "http://[fe80::1%25eth0]:25/hook"},
	} {
		if err := tc.guard.CheckURL(t.Context(), tc.url); err != nil {
			t.Errorf("CheckURL(%q) = %v", tc.url, err)
		}
	}
}

func TestCheckURLHidesTheResolver(t *testing.T) {
	t.Parallel()
	broken := errors.New("resolver at 10.9.9.9 is on fire")
	guard := &Guard{Resolver: &net.Resolver{PreferGo: true,
		Dial: func(context.Context, string, string) (net.Conn, error) { return nil, broken }}}
	err := guard.CheckURL(t.Context(), "https://hooks.test/")
	refused, ok := errors.AsType[*TargetError](err)
	if !ok || refused.Kind != TargetDNS || !strings.Contains(err.Error(), "could not be looked up") {
		t.Fatalf("CheckURL = %v, want a failed lookup", err)
	}
	if strings.Contains(err.Error(), "10.9.9.9") {
		t.Errorf("the sentence names the resolver: %s", err)
	}
	if _, ok := errors.AsType[*net.DNSError](err); !ok {
		t.Errorf("the cause is not kept: %#v", errors.Unwrap(err))
	}
}
