package load

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// client is a minimal HTTP client on one connection. It sends prepared bytes and
// parses as little of a response as possible, so that the processor time goes to
// the server.
type client struct {
	conn net.Conn
	in   *bufio.Reader
}

func dial(address string) (*client, error) {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return nil, err
	}
	return &client{conn, bufio.NewReaderSize(conn, 16<<10)}, nil
}

func (c *client) close() { _ = c.conn.Close() }

// do sends a request and returns an error unless the response is a 200.
func (c *client) do(request []byte) error {
	_, err := c.body(request, false)
	return err
}

// body is like do, and returns the body if keep is true.
func (c *client) body(request []byte, keep bool) ([]byte, error) {
	if _, err := c.conn.Write(request); err != nil {
		return nil, err
	}
	return c.answer(keep)
}

// later is like do, and begins to read the response after a while.
func (c *client) later(request []byte, wait time.Duration) error {
	if _, err := c.conn.Write(request); err != nil {
		return err
	}
	time.Sleep(wait)
	_, err := c.answer(false)
	return err
}

// answer reads a response and returns its body if keep is true.
func (c *client) answer(keep bool) ([]byte, error) {
	status, err := c.in.ReadSlice('\n')
	if err != nil {
		return nil, err
	}
	ok := bytes.HasPrefix(status, []byte("HTTP/1.1 200 "))
	said := string(bytes.TrimSpace(status[:min(len(status), 64)]))
	length, err := c.header()
	if err != nil {
		return nil, err
	}
	var body []byte
	switch {
	case length < 0:
		body, err = c.chunks(keep || !ok)
	case keep || !ok:
		body = make([]byte, length)
		_, err = io.ReadFull(c.in, body)
	default:
		_, err = c.in.Discard(length)
	}
	if err == nil && !ok {
		err = fmt.Errorf("%s: %s", said, body)
	}
	return body, err
}

// header reads the header and returns the length of the body, -1 if it is chunked.
func (c *client) header() (int, error) {
	length := -1
	for {
		line, err := c.in.ReadSlice('\n')
		if err != nil {
			return 0, err
		}
		if len(line) <= 2 {
			return length, nil
		}
		if rest, ok := bytes.CutPrefix(line, []byte("Content-Length: ")); ok {
			if length, err = strconv.Atoi(string(bytes.TrimSpace(rest))); err != nil {
				return 0, err
			}
		}
	}
}

// chunks reads a chunked body and returns it if keep is true.
func (c *client) chunks(keep bool) ([]byte, error) {
	var body []byte
	for {
		line, err := c.in.ReadSlice('\n')
		if err != nil {
			return nil, err
		}
		n, err := strconv.ParseInt(string(bytes.TrimSpace(line)), 16, 32)
		if err != nil {
			return nil, err
		}
		isLast := n == 0
		if keep {
			chunk := make([]byte, n)
			if _, err := io.ReadFull(c.in, chunk); err != nil {
				return nil, err
			}
			body = append(body, chunk...)
			n = 0
		}
		if _, err := c.in.Discard(int(n) + len("\r\n")); err != nil || isLast {
			return body, err
		}
	}
}

func get(path, token string) []byte {
	return fmt.Appendf(nil, "GET %s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n\r\n", path, token)
}

func post(path, token string, body []byte) []byte {
	head := fmt.Appendf(nil, "POST %s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n",
		path, token, len(body))
	return append(head, body...)
}

// connections is the number of concurrent clients, unless a figure names another.
const connections = 16

// fleet is the clients of one server.
type fleet []*client

func newFleet(b *testing.B, address string, n int) fleet {
	b.Helper()
	out := make(fleet, n)
	for i := range out {
		c, err := dial(address)
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(c.close)
		out[i] = c
	}
	return out
}

// drive lets every client send requests for d, one after the other, and returns
// the responses per second. next returns the next request of a client.
func (f fleet) drive(b *testing.B, d time.Duration, next func(client int) []byte) float64 {
	b.Helper()
	var done atomic.Int64
	var all sync.WaitGroup
	began := time.Now()
	end := began.Add(d)
	for i, c := range f {
		all.Go(func() {
			n := int64(0)
			defer func() { done.Add(n) }()
			for ; time.Now().Before(end); n++ {
				if err := c.do(next(i)); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	return float64(done.Load()) / time.Since(began).Seconds()
}

func TestAllChunksOfABodyAreRead(t *testing.T) {
	t.Parallel()
	c := &client{in: bufio.NewReader(strings.NewReader("3\r\nabc\r\n2\r\nde\r\n0\r\n\r\nrest"))}
	body, err := c.chunks(true)
	left, _ := io.ReadAll(c.in)
	if err != nil || string(body) != "abcde" || string(left) != "rest" {
		t.Errorf("read %q, %v and left %q", body, err, left)
	}
}
