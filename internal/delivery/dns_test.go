package delivery

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"net/netip"
	"strings"
	"sync"
	"testing"
)

// nameserver answers the lookups of one test, over pipes in place of a network.
type nameserver struct {
	mu    sync.Mutex
	zones map[string][]netip.Addr
}

// newResolver returns a resolver that knows the names of zones only, and its nameserver, whose answers can change.
func newResolver(t *testing.T, zones map[string][]netip.Addr) (*net.Resolver, *nameserver) {
	t.Helper()
	ns := &nameserver{zones: zones}
	var serving sync.WaitGroup
	t.Cleanup(serving.Wait)
	return &net.Resolver{
		PreferGo: true,
		Dial: func(context.Context, string, string) (net.Conn, error) {
			client, server := net.Pipe()
			serving.Go(func() {
				defer server.Close()
				ns.serve(server)
			})
			return client, nil
		},
	}, ns
}

func (ns *nameserver) set(name string, addrs ...netip.Addr) {
	ns.mu.Lock()
	defer ns.mu.Unlock()
	ns.zones[name] = addrs
}

// serve speaks DNS over a stream, where each message follows its length, until the resolver hangs up.
func (ns *nameserver) serve(conn net.Conn) {
	for {
		var size [2]byte
		if _, err := io.ReadFull(conn, size[:]); err != nil {
			return
		}
		query := make([]byte, binary.BigEndian.Uint16(size[:]))
		if _, err := io.ReadFull(conn, query); err != nil {
			return
		}
		answer := ns.answer(query)
		if _, err := conn.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(answer))), answer...)); err != nil {
			return
		}
	}
}

const (
	dnsHeaderSize = 12
	dnsTypeA      = 1
	dnsTypeAAAA   = 28
	dnsNameError  = 3
)

func (ns *nameserver) answer(query []byte) []byte {
	var labels []string
	end := dnsHeaderSize
	for query[end] != 0 {
		length := int(query[end])
		labels = append(labels, string(query[end+1:end+1+length]))
		end += 1 + length
	}
	kind := binary.BigEndian.Uint16(query[end+1:])
	question := query[dnsHeaderSize : end+5]

	ns.mu.Lock()
	addrs, known := ns.zones[strings.ToLower(strings.Join(labels, "."))]
	ns.mu.Unlock()
	var records []byte
	count := uint16(0)
	for _, addr := range addrs {
		if addr.Is4() != (kind == dnsTypeA) || (kind != dnsTypeA && kind != dnsTypeAAAA) {
			continue
		}
		count++
		records = append(records, 0xc0, dnsHeaderSize) // the name of the question
		records = binary.BigEndian.AppendUint16(records, kind)
		records = append(records, 0, 1, 0, 0, 0, 0) // class IN, time to live 0
		records = binary.BigEndian.AppendUint16(records, uint16(len(addr.AsSlice())))
		records = append(records, addr.AsSlice()...)
	}
	flags := uint16(0x8180) // a response, recursion available
	if !known {
		flags |= dnsNameError
	}
	message := append([]byte{}, query[:2]...)
	for _, field := range []uint16{flags, 1, count, 0, 0} {
		message = binary.BigEndian.AppendUint16(message, field)
	}
	return append(append(message, question...), records...)
}

func addrs(texts ...string) []netip.Addr {
	var list []netip.Addr
	for _, text := range texts {
		list = append(list, netip.MustParseAddr(text))
	}
	return list
}
