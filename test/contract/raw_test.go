package contract_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

func readAll(t *testing.T, r *http.Response) string {
	t.Helper()
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// sendRaw sends a request as raw bytes. With half, it closes the sending side afterwards.
func (c caller) sendRaw(t *testing.T, method, path, rest string, half bool) *answer {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(c.origin, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(eventTimeout)); err != nil {
		t.Fatal(err)
	}
	head := fmt.Sprintf("%s %s HTTP/1.1\r\nHost: contract\r\nAuthorization: Bearer %s\r\nConnection: close\r\n", method, c.contract.Base+path, c.token)
	if _, err := io.WriteString(conn, head+rest); err != nil {
		t.Fatal(err)
	}
	if half {
		if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
			t.Fatal(err)
		}
	}
	response, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: method})
	if err != nil {
		t.Fatalf("%s %s: %v", method, path, err)
	}
	return c.check(t, method, path, response, []byte(readAll(t, response)))
}

// connections sends requests that end early or have a wrong Content-Length.
func connections(t *testing.T, s *suite) {
	f := s.newCompany(t)
	body := fmt.Sprintf(`{"externalId":"H1","email":%q,"name":"H"}`, f.email("h"))
	whole := fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(body), body)
	a := f.sendRaw(t, "POST", "/employees/provision", whole, true)
	wantData(t, "a whole request on a half-closed connection", `{"externalId":"H1","status":"created"}`, a.body["data"])
	if a := f.sendRaw(t, "GET", "/employees/H1", "\r\n", true); a.status != 200 {
		t.Errorf("a read on a half-closed connection: %d %s", a.status, a.text)
	}
	if a := f.sendRaw(t, "GET", "/employees/H1", "\r\n", false); a.status != 200 {
		t.Errorf("a read: %d %s", a.status, a.text)
	}
	for name, rest := range map[string]string{
		"less than promised":       fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(body)+10, body),
		"nothing of what promised": "Content-Length: 10\r\n\r\n",
		"no end of chunks":         fmt.Sprintf("Transfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n", len(body), body),
		"a broken chunk":           "Transfer-Encoding: chunked\r\n\r\nzz\r\n",
	} {
		f.sendRaw(t, "POST", "/employees/provision", rest, true).wantFailure(t, name, 400, "invalid_request", "")
	}
	chunked := fmt.Sprintf("Transfer-Encoding: chunked\r\n\r\n5\r\n%s\r\n%x\r\n%s\r\n0\r\n\r\n", body[:5], len(body)-5, body[5:])
	wantData(t, "in chunks", `{"externalId":"H1","status":"found"}`, f.sendRaw(t, "POST", "/employees/provision", chunked, false).body["data"])
	a = f.sendRaw(t, "POST", "/employees/provision", fmt.Sprintf("Content-Length: %d\r\nExpect: 100-continue\r\n\r\n", 5<<20), false)
	a.wantFailure(t, "a client that asks before it sends too much", 413, "payload_too_large", "")
	for _, megabytes := range []int{2, 20} {
		whole := fmt.Sprintf("Content-Length: %d\r\n\r\n%s", megabytes<<20, strings.Repeat("x", megabytes<<20))
		a = f.sendRaw(t, "POST", "/employees/provision", whole, false)
		a.wantFailure(t, "a client that reads once it has sent everything", 413, "payload_too_large", "")
		a = f.withToken("cb_").sendRaw(t, "POST", "/employees/provision", whole, false)
		a.wantFailure(t, "such a client without a token", 401, "unauthorized", "")
	}
	f.sendRaw(t, "GET", "/employees/%zz", "\r\n", false).wantFailure(t, "a path that is not encoded", 400, "invalid_request", "percent-encoding")
	a = f.sendRaw(t, "GET", "/employees/..", "\r\n", false)
	a.wantFailure(t, "a client that does not tidy paths", 404, "employee_not_found", "")
}
