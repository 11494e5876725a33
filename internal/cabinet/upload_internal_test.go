package cabinet

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/transfer"
)

const multipartType, formType = "Multipart/form-data; boundary=x", "application/x-www-form-urlencoded"

// uploadServer answers uploads with what the handler returns. The path is the company.
func uploadServer(t *testing.T, u *uploads, h handler) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p := &page{Cabinet: &Cabinet{}, w: w, r: r}
		p.identity.Company.ID, _ = strconv.ParseInt(strings.Trim(r.URL.Path, "/"), 10, 64)
		r.Body = http.MaxBytesReader(w, r.Body, 2<<20)
		if err := u.limit(h)(p); err != nil {
			http.Error(w, string(domain.CodeOf(err)), http.StatusTeapot)
			return
		}
		_, _ = io.WriteString(w, p.field("text"))
	}))
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://")
}

// form is a request of a company. Its body may be shorter than declared.
type form struct {
	company, declared int
	kind, body        string
}

// upload sends a request and returns the function that reads the response: its code if
// it failed, or the text of the form.
func upload(t *testing.T, address string, f form) (answer func() string) {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(time.Minute))
	_, err = fmt.Fprintf(conn, "POST /%d HTTP/1.1\r\nHost: x\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n%s", f.company, f.kind, f.declared, f.body)
	if err != nil {
		t.Fatal(err)
	}
	return func() string {
		response, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			return "no response: " + err.Error()
		}
		defer response.Body.Close()
		text, _ := io.ReadAll(response.Body)
		return strings.TrimSpace(string(text))
	}
}

// file is a form with a field, as browsers send it together with a file.
const file = "--x\r\nContent-Disposition: form-data; name=\"text\"\r\n\r\nhello\r\n--x--\r\n"

func wantAnswer(t *testing.T, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s: %q, want %q", what, got, want)
	}
}

// A company uploads one file at a time, and two are read in all: thirty at once would
// take gigabytes. Other forms are not affected, and the limit ends with the upload.
func TestUploadsAtOnceAreLimited(t *testing.T) {
	t.Parallel()
	begun, end := make(chan struct{}), make(chan struct{})
	u := newUploads(maxArrivals, maxReaders)
	address := uploadServer(t, u, func(p *page) error {
		if isUpload(p.r) {
			begun <- struct{}{}
			<-end
		}
		return nil
	})
	send := func(company int, kind, body string) func() string {
		return upload(t, address, form{company, len(body), kind, body})
	}
	large := "text=" + strings.Repeat("a", smallForm)
	first, second := send(0, multipartType, file), send(1, formType, large)
	<-begun
	<-begun
	wantAnswer(t, "a second file of a company", send(0, multipartType, file)(), "rate_limited")
	wantAnswer(t, "a form without a file", send(0, formType, "text=small")(), "small")
	third := send(3, multipartType, file)
	select {
	case <-begun:
		t.Error("a third file is read while two others are")
	case <-time.After(200 * time.Millisecond):
	}
	end <- struct{}{}
	<-begun // the third one takes the place
	close(end)
	wantAnswer(t, "an upload within the limit", first(), "hello")
	wantAnswer(t, "a table that was pasted", second(), large[len("text="):])
	wantAnswer(t, "an upload that waited", third(), "hello")
	wantAnswer(t, "a file that is too large", send(4, multipartType, strings.Repeat("a", 2<<20+1))(), "payload_too_large")
}

// Clients that send their files slowly, or stop sending them, keep nobody else out:
// neither from being read, nor, if all places are taken, from arriving.
func TestSlowUploadsStopNobody(t *testing.T) {
	t.Parallel()
	u := newUploads(2, 1)
	u.arrivals = transfer.NewQueue(2, 20*time.Millisecond)
	address := uploadServer(t, u, func(*page) error { return nil })
	stalled := make(chan string, 2)
	for company, sent := range []int{0, 1000} {
		answer := upload(t, address, form{company, 2 << 20, multipartType, strings.Repeat("a", sent)})
		go func() { stalled <- answer() }()
	}
	for begun := 0; begun < 2; time.Sleep(time.Millisecond) {
		begun, _ = u.arrivals.Len()
	}
	for range 3 {
		wantAnswer(t, "another company's upload", upload(t, address, form{7, len(file), multipartType, file})(), "hello")
	}
	wantAnswer(t, "the one whose place was needed", <-stalled, "unavailable")
	u.mu.Lock()
	defer u.mu.Unlock()
	if bodies, _ := u.arrivals.Len(); bodies != 1 || len(u.companies) != 1 || len(u.readers) != 0 {
		t.Errorf("%d files arrive of %d companies, %d readers are taken, want the one whose slot nobody needed", bodies, len(u.companies), len(u.readers))
	}
}

// An upload for which no reader becomes free is refused after a while.
func TestUploadsWaitALimitedTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, testLimitedWait)
}

func testLimitedWait(t *testing.T) {
	u := newUploads(1, 1)
	u.readers <- struct{}{}
	p := &page{Cabinet: &Cabinet{}, w: httptest.NewRecorder(), r: httptest.NewRequest(http.MethodPost, "/", strings.NewReader(file))}
	p.r.Header.Set("Content-Type", multipartType)
	if err := u.limit(func(*page) error { return nil })(p); domain.CodeOf(err) != domain.CodeUnavailable {
		t.Errorf("an upload without a reader: %v", err)
	}
	if bodies, waiting := u.arrivals.Len(); len(u.companies)+bodies+waiting != 0 {
		t.Error("the upload that gave up is still counted")
	}
}

// With little memory one file is read at a time.
func TestOneUploadWithLittleMemory(t *testing.T) {
	t.Parallel()
	u := New(Options{LowMemory: true}).uploads
	if cap(u.readers) != 1 {
		t.Errorf("%d are read at once", cap(u.readers))
	}
	for n := range 3 {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		_, err := u.arrivals.Enter(ctx, strconv.Itoa(n), func() {})
		cancel()
		if (err == nil) != (n < 2) {
			t.Errorf("file %d of three that arrive at once: %v", n+1, err)
		}
	}
}
