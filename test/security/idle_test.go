package security

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coursebridge/coursebridge/internal/store/storetest"
)

// idleConnections is how many connections strangers hold open at once.
const idleConnections = 10_000

// Strangers open 10,000 connections and leave them idle: one half has sent a request and
// could send another, the other half has sent nothing. The process stays below its
// memory bound and answers a tenant as before.
func TestIdleConnectionsAreBearable(t *testing.T) {
	t.Parallel()
	s := newSiege(t, storetest.SQLite(t))
	var mu sync.Mutex
	var open []net.Conn
	t.Cleanup(func() {
		for _, c := range open {
			_ = c.Close()
		}
	})
	var all sync.WaitGroup
	for worker := range 20 {
		all.Go(func() {
			for range idleConnections / 20 {
				c, err := dialIdle(t, s.server.url, worker%2 == 0)
				if err != nil {
					t.Errorf("open an idle connection: %v", err)
					return
				}
				mu.Lock()
				open = append(open, c)
				mu.Unlock()
			}
		})
	}
	all.Wait()
	s.check(s.honestWork(time.Second))
}

// dialIdle opens a connection. If used, it sends a request and reads the answer.
func dialIdle(t *testing.T, address string, used bool) (net.Conn, error) {
	t.Helper()
	c, err := (&net.Dialer{Timeout: 30 * time.Second}).DialContext(t.Context(), "tcp", strings.TrimPrefix(address, "http://"))
	if err != nil || !used {
		return c, err
	}
	if _, err := io.WriteString(c, "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
		return c, err
	}
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		return c, err
	}
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil || resp.StatusCode != http.StatusOK {
		return c, fmt.Errorf("%s: %w", resp.Status, err)
	}
	return c, nil
}
