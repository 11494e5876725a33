package delivery

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"syscall"
	"time"
)

// Guard holds the operator's rules for webhook targets. The zero value is the strict one: https to public addresses.
//
// The dialler decides, on the address that is really dialled: a name that resolved to a public address when the
// endpoint was saved and to an internal one later gets no connection. CheckURL reports the same earlier and more clearly.
type Guard struct {
	AllowPrivate bool          // every address and port is dialled
	AllowHTTP    bool          // http in addition to https
	Ports        []uint16      // if not empty, no other port is dialled
	Resolver     *net.Resolver // nil: the system's
}

// Dialer returns a dialler that refuses what the guard does not allow with a *TargetError.
func (g *Guard) Dialer(timeout time.Duration) *net.Dialer {
	return &net.Dialer{
		Timeout:        timeout,
		KeepAlive:      30 * time.Second,
		Resolver:       g.Resolver,
		ControlContext: g.control,
	}
}

// control runs after the name was resolved and before anything is sent, once for each address that is tried.
func (g *Guard) control(_ context.Context, network, address string, _ syscall.RawConn) error {
	if g.AllowPrivate {
		return nil
	}
	if !strings.HasPrefix(network, "tcp") {
		return &TargetError{Kind: TargetAddress, Message: "Webhooks are sent over TCP only."}
	}
	ap, err := netip.ParseAddrPort(address)
	if err != nil {
		return &TargetError{Kind: TargetAddress, Message: "The address of the receiver could not be read."}
	}
	if err := g.checkAddr("", ap.Addr()); err != nil {
		return err
	}
	return g.checkPort(ap.Port())
}

// checkAddr refuses addr unless webhooks may go there. host is the name that led to it, empty if it is not known, or the
// address itself. The sentence has the address only if its reader wrote it: what a name of the operator's network resolves
// to is nobody else's business.
func (g *Guard) checkAddr(host string, addr netip.Addr) error {
	if g.AllowPrivate {
		return nil
	}
	reason := blockedReason(addr)
	if reason == "" {
		return nil
	}
	subject := addr.String() + " is " + reason
	switch host {
	case addr.String():
	case "":
		subject = "The name of the receiver leads to an address that is not public"
	default:
		subject = host + " leads to an address that is not public"
	}
	return &TargetError{Kind: TargetAddress, Addr: addr, Message: subject +
		"; webhooks go to public addresses only, unless the operator allows private ones."}
}

// checkPort keeps webhooks from talking to services that are not HTTP: below 1024 only its own two ports are open.
func (g *Guard) checkPort(port uint16) error {
	switch {
	case g.AllowPrivate && port != 0:
		return nil
	case len(g.Ports) > 0:
		if slices.Contains(g.Ports, port) {
			return nil
		}
		return &TargetError{Kind: TargetPort,
			Message: fmt.Sprintf("Port %d is not one of those that the operator allows for webhooks.", port)}
	case port == 80, port == 443, port >= 1024:
		return nil
	}
	return &TargetError{Kind: TargetPort,
		Message: fmt.Sprintf("Port %d is not for webhooks; use 443, 80 or one from 1024 to 65535.", port)}
}
