package delivery

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"
)

const (
	maxURLLength  = 2048
	lookupTimeout = 5 * time.Second
)

// TargetKind describes which part of a target is not acceptable.
type TargetKind string

// The kinds of a TargetError.
const (
	TargetURL     TargetKind = "url"     // not a usable URL at all
	TargetScheme  TargetKind = "scheme"  // neither https nor an allowed http
	TargetHost    TargetKind = "host"    // no host, or one in a form that is not accepted
	TargetPort    TargetKind = "port"    // a port that is not for webhooks
	TargetAddress TargetKind = "address" // an address that is not allowed
	TargetDNS     TargetKind = "dns"     // the name does not resolve, at least not now
)

// TargetError explains why webhooks are not sent to a target. Message is a sentence for the person who entered it.
type TargetError struct {
	Kind    TargetKind
	Message string
	Addr    netip.Addr // the address that is not allowed, for TargetAddress
	err     error
}

func (e *TargetError) Error() string { return e.Message }

// Unwrap returns the cause, if there is one.
func (e *TargetError) Unwrap() error { return e.err }

// target is a URL that passed the rules which need no lookup.
type target struct {
	url  *url.URL
	host string     // without port and brackets
	addr netip.Addr // set if host is an address
	port uint16
}

// hostPort names the target in sentences.
func (t *target) hostPort() string {
	return net.JoinHostPort(t.host, strconv.Itoa(int(t.port)))
}

// CheckURL reports whether webhooks can go to raw, for use when an endpoint is saved or tested. Its errors are
// *TargetError. TargetDNS alone may pass with time: a name that does not resolve yet can still be saved.
//
// A pass is no promise: the dialler decides again on the address that it dials.
func (g *Guard) CheckURL(ctx context.Context, raw string) error {
	t, err := g.parse(raw)
	if err != nil || t.addr.IsValid() {
		return err
	}
	resolver := g.Resolver
	if resolver == nil {
		resolver = net.DefaultResolver
	}
	ctx, cancel := context.WithTimeout(ctx, lookupTimeout)
	defer cancel()
	addrs, err := resolver.LookupNetIP(ctx, "ip", t.host)
	if err != nil {
		return &TargetError{Kind: TargetDNS, Message: dnsDetail(t.host, err), err: err}
	}
	for _, addr := range addrs {
		if err := g.checkAddr(t.host, addr.Unmap()); err != nil {
			return err
		}
	}
	return nil
}

// parse applies every rule that needs no lookup. Its errors are *TargetError.
func (g *Guard) parse(raw string) (*target, error) {
	if len(raw) > maxURLLength {
		return nil, &TargetError{Kind: TargetURL,
			Message: fmt.Sprintf("The URL is longer than %d characters.", maxURLLength)}
	}
	u, err := url.Parse(raw)
	if err != nil {
		return nil, &TargetError{Kind: TargetURL, err: err,
			Message: "This is not a valid URL; write it as https://hooks.example.com/path."}
	}
	if err := g.checkForm(u, raw); err != nil {
		return nil, err
	}
	t := &target{url: u, host: u.Hostname()}
	if t.addr, err = parseHost(t.host); err != nil {
		return nil, err
	}
	if t.addr.IsValid() {
		if err := g.checkAddr(t.addr.String(), t.addr); err != nil {
			return nil, err
		}
	}
	if t.port, err = parsePort(u); err != nil {
		return nil, err
	}
	if err := g.checkPort(t.port); err != nil {
		return nil, err
	}
	return t, nil
}

func (g *Guard) checkForm(u *url.URL, raw string) error {
	switch {
	case u.Scheme == "http" && !g.AllowHTTP:
		return &TargetError{Kind: TargetScheme,
			Message: "Use https:// here; the operator of this service does not allow plain http for webhooks."}
	case u.Scheme != "http" && u.Scheme != "https" && g.AllowHTTP:
		return &TargetError{Kind: TargetScheme,
			Message: "The URL must start with https:// or http://, as in https://hooks.example.com/path."}
	case u.Scheme != "http" && u.Scheme != "https":
		return &TargetError{Kind: TargetScheme,
			Message: "The URL must start with https://, as in https://hooks.example.com/path."}
	case u.User != nil:
		return &TargetError{Kind: TargetURL, Message: "The URL must not carry a user name or password; " +
			"verify the signature of each request instead, or put a token into the path."}
	case strings.Contains(raw, "#"):
		return &TargetError{Kind: TargetURL,
			Message: "The URL must not have a fragment: the part from # on is never sent."}
	case u.Hostname() == "":
		return &TargetError{Kind: TargetHost,
			Message: "The URL has no host; write it as https://hooks.example.com/path."}
	}
	return nil
}

func parsePort(u *url.URL) (uint16, error) {
	text := u.Port()
	switch {
	case text == "" && u.Scheme == "http":
		return 80, nil
	case text == "":
		return 443, nil
	}
	port, err := strconv.ParseUint(text, 10, 16)
	if err != nil || port == 0 {
		return 0, &TargetError{Kind: TargetPort, err: err,
			Message: fmt.Sprintf("Port %.10s does not exist; ports go from 1 to 65535.", text)}
	}
	return uint16(port), nil
}

// parseHost returns the address that host is, or an invalid one if host is a name. It refuses the other ways to write
// an address (2130706433, 0x7f.1, 0177.0.0.1): resolvers disagree on what they mean.
func parseHost(host string) (netip.Addr, error) {
	if addr, err := netip.ParseAddr(host); err == nil {
		return addr, nil
	}
	name := strings.TrimSuffix(host, ".")
	if len(name) == 0 || len(name) > 253 {
		return netip.Addr{}, &TargetError{Kind: TargetHost, Message: "The host name must have 1 to 253 characters."}
	}
	labels := strings.Split(name, ".")
	for _, label := range labels {
		if err := checkLabel(label); err != nil {
			return netip.Addr{}, err
		}
	}
	if isNumber(labels[len(labels)-1]) {
		return netip.Addr{}, &TargetError{Kind: TargetHost, Message: "The host looks like an address but is not " +
			"in its usual form; use a host name, or four decimal numbers without leading zeros."}
	}
	return netip.Addr{}, nil
}

func checkLabel(label string) error {
	if label == "" || len(label) > 63 {
		return &TargetError{Kind: TargetHost,
			Message: "Each part of the host name between dots must have 1 to 63 characters."}
	}
	for i := range len(label) {
		switch c := label[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '-', c == '_':
		case c >= 0x80:
			return &TargetError{Kind: TargetHost, Message: "Write the host name in its ASCII form, which starts " +
				"with xn--: copy it from the address bar of a browser."}
		default:
			return &TargetError{Kind: TargetHost,
				Message: "The host name may have letters, digits, hyphens and dots only."}
		}
	}
	return nil
}

// isNumber reports whether a resolver could read the label as a number: digits, or 0x and hexadecimal digits.
func isNumber(label string) bool {
	digits := "0123456789"
	rest, isHex := strings.CutPrefix(strings.ToLower(label), "0x")
	if isHex {
		digits += "abcdef"
	}
	return strings.Trim(rest, digits) == ""
}

// dnsDetail leaves out the resolver's address, which the error's own text names.
func dnsDetail(host string, err error) string {
	if dns, ok := errors.AsType[*net.DNSError](err); ok && dns.IsNotFound {
		return fmt.Sprintf("No address was found for %s; check the spelling and the name's DNS records.", host)
	}
	return fmt.Sprintf("The name %s could not be looked up; its DNS servers gave no usable answer.", host)
}
