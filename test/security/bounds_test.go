package security

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coursebridge/coursebridge/internal/store/storetest"
)

const (
	// memoryBound is the memory of the container that the server is thought to run in;
	// its limit is 80 % of it, as by default.
	memoryBound = 256 << 20
	memoryLimit = memoryBound * 8 / 10
	// shortSiege is how long the attack lasts at least in make test. make torture sets
	// its own.
	shortSiege = 5 * time.Second
	// honestRequests is how many requests of another tenant must be answered meanwhile.
	honestRequests = 30
	// honestBound is how long the slowest of a hundred of them may take.
	honestBound = time.Second
)

// siege is a server under attack by one tenant and by strangers.
type siege struct {
	t              *testing.T
	server         *process
	token, company string // of the attacking tenant
	honest         string // the token of another one
	big            []byte // a body of just under 1 MiB

	// control is a server that nobody attacks, with a token of its own. It measures how
	// slow the machine itself is, which the attackers and other tests keep busy.
	control      *process
	controlToken string
}

// All known ways to waste the service's memory, connections and processors are tried
// at once. The process must stay below its memory bound, and the requests of another
// tenant must be answered quickly all the while.
func TestFloodsStayWithinBounds(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, database string) {
		s := newSiege(t, database)
		s.fill(database)
		duration := shortSiege
		if text := os.Getenv("COURSEBRIDGE_TORTURE"); text != "" {
			var err error
			if duration, err = time.ParseDuration(text); err != nil {
				t.Fatal(err)
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var all sync.WaitGroup
		for name, attack := range map[string]struct {
			workers int
			run     func(context.Context)
		}{
			"too many tags": {3, s.longArray}, "nesting": {2, s.nested}, "many values": {2, s.manyValues}, "large employee": {3, s.largeEmployee},
			"unread report": {26, s.unreadReport}, "sign-in": {20, s.signIn}, "slow header": {100, s.slowHeader}, "large header": {2, s.largeHeader},
			"idle connection": {300, s.idle},
		} {
			for range attack.workers {
				all.Go(func() {
					for ctx.Err() == nil {
						attack.run(ctx)
					}
				})
			}
			t.Logf("%s: %d at once", name, attack.workers)
		}
		took := s.honestWork(duration)
		cancel()
		all.Wait()
		s.check(took)
	})
}

// check compares the memory of the server and the times of honest requests with their
// bounds.
func (s *siege) check(took honestTimes) {
	s.t.Helper()
	peak := s.peakMemory()
	p99, control := percentile(took.attacked, 99), percentile(took.control, 99)
	s.t.Logf("peak memory %d MiB; %d honest requests (%d tries refused): median %s, p99 %s; p99 of a server without attackers %s",
		peak>>20, len(took.attacked), took.refused, percentile(took.attacked, 50), p99, control)
	if peak > memoryBound {
		s.t.Errorf("the server took %d MiB, want at most %d MiB", peak>>20, memoryBound>>20)
	}
	if bound := honestBound + 3*control; p99 > bound {
		s.t.Errorf("the p99 of honest requests is %s, want at most %s", p99, bound)
	}
}

func percentile(list []time.Duration, n int) time.Duration {
	sorted := slices.Sorted(slices.Values(list))
	return sorted[len(sorted)*n/100]
}

func newSiege(t *testing.T, database string) *siege {
	t.Helper()
	control := storetest.SQLite(t)
	if strings.HasPrefix(database, "postgres") {
		control = storetest.Postgres(t)
	}
	limit := fmt.Sprintf("COURSEBRIDGE_MEMORY_LIMIT=%d", memoryLimit)
	s := &siege{t: t, server: launch(t, database, "COURSEBRIDGE_RATE_LIMIT=50", "COURSEBRIDGE_TRUSTED_PROXY=127.0.0.1/32", limit)}
	s.control = launch(t, control, limit)
	s.token, s.company = newTenant(t, database, "attacker")
	s.honest, _ = newTenant(t, database, "honest")
	s.controlToken, _ = newTenant(t, control, "control")
	person := map[string]any{"externalId": "x", "email": "x@people.example", "name": "X"}
	s.must(request{http.MethodPost, s.server.url + "/api/v1/employees/provision", s.token, person})
	s.must(request{http.MethodPost, s.server.url + "/api/v1/employees/provision", s.honest, person})
	s.must(request{http.MethodPost, s.control.url + "/api/v1/employees/provision", s.controlToken, person})
	s.big = []byte(`{"tags":[1` + strings.Repeat(",1", (1<<20-20)/2) + `]}`)
	return s
}

// fill adds an employee with many assignments to the attacking tenant.
func (s *siege) fill(database string) {
	s.t.Helper()
	course := runJSON[struct{ CourseID int64 }](s.t, &logBuffer{}, database, "course", "add", "--company", s.company, "--name", "Course").CourseID
	for page := range 10 {
		var items []map[string]any
		for i := range 500 {
			items = append(items, map[string]any{"employeeExternalId": "x", "courseId": course, "externalId": fmt.Sprintf("a-%d-%d", page, i)})
		}
		s.must(request{http.MethodPost, s.server.url + "/api/v1/assignments/bulk", s.token, map[string]any{"items": items}})
	}
}

// newTenant makes a company and returns a token of it and its id.
func newTenant(t *testing.T, database, name string) (token, company string) {
	t.Helper()
	log := &logBuffer{}
	company = strconv.FormatInt(runJSON[struct{ CompanyID int64 }](t, log, database, "company", "create", "--name", name, "--admin", name+"@x.example").CompanyID, 10)
	return runJSON[struct{ Token string }](t, log, database, "token", "create", "--company", company, "--name", "t",
		"--scope", "b2b_read", "--scope", "b2b_provision", "--scope", "b2b_assignment").Token, company
}

func (s *siege) must(r request) {
	s.t.Helper()
	if status, text := send(s.t, r); status != http.StatusOK {
		s.t.Fatalf("%s: %d %.300s", r.url, status, text)
	}
}

// call sends a request and drops the answer: an attacker does not care. It waits a
// little, because the attackers share the processors with the server.
func (s *siege) call(ctx context.Context, method, path string, body []byte, header ...string) {
	time.Sleep(20 * time.Millisecond)
	r, err := http.NewRequestWithContext(ctx, method, s.server.url+path, bytes.NewReader(body))
	if err != nil {
		return
	}
	r.Header.Set("Authorization", "Bearer "+s.token)
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return
	}
	_, _ = io.Copy(io.Discard, resp.Body)
	_ = resp.Body.Close()
}

func (s *siege) longArray(ctx context.Context) {
	s.call(ctx, http.MethodPatch, "/api/v1/employees/x", s.big)
}

func (s *siege) nested(ctx context.Context) {
	s.call(ctx, http.MethodPost, "/api/v1/assignments/bulk", bytes.Repeat([]byte(`{"items":[`), 1<<20/10))
}

func (s *siege) manyValues(ctx context.Context) {
	s.call(ctx, http.MethodGet, "/api/v1/employees?"+strings.Repeat("tag=a&", 10_000), nil)
}

func (s *siege) largeEmployee(ctx context.Context) {
	s.call(ctx, http.MethodGet, "/api/v1/employees/x", nil)
}

func (s *siege) largeHeader(ctx context.Context) {
	s.call(ctx, http.MethodGet, "/api/v1/token", nil, "X-Large", strings.Repeat("x", 900<<10))
}

// signIn tries a password from another address each time.
func (s *siege) signIn(ctx context.Context) {
	form := url.Values{"email": {fmt.Sprintf("x%d@x.example", rand.IntN(1000))}, "password": {"a wrong password here"}}
	s.call(ctx, http.MethodPost, "/cabinet/sign-in", []byte(form.Encode()), "Content-Type", "application/x-www-form-urlencoded",
		"X-Forwarded-For", fmt.Sprintf("198.51.%d.%d", rand.IntN(256), rand.IntN(256)))
}

// connect opens a connection with small buffers, sends a text and holds the
// connection for a while.
func (s *siege) connect(ctx context.Context, text string) {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", strings.TrimPrefix(s.server.url, "http://"))
	if err != nil {
		return
	}
	defer conn.Close()
	_ = conn.(*net.TCPConn).SetReadBuffer(1 << 10)
	_, _ = io.WriteString(conn, text)
	select {
	case <-ctx.Done():
	case <-time.After(3 * time.Second):
	}
}

func (s *siege) unreadReport(ctx context.Context) {
	s.connect(ctx, "GET /api/v1/reports/assignments.csv HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer "+s.token+"\r\n\r\n")
}

func (s *siege) slowHeader(ctx context.Context) { s.connect(ctx, "GET / HTTP/1.1\r\nHost: x\r\nX-") }

func (s *siege) idle(ctx context.Context) { s.connect(ctx, "") }

// honestTimes are the durations of honest requests, to the attacked server and to the
// control.
type honestTimes struct {
	attacked, control []time.Duration
	refused           int // tries that were answered with a 503
}

// honestWork provisions and reads as another tenant for at least a while. A client tries
// again after a 503; every request must succeed within a minute, however busy the
// machine is with other tests.
func (s *siege) honestWork(least time.Duration) (out honestTimes) {
	s.t.Helper()
	start := time.Now()
	for i := 0; time.Since(start) < least || len(out.attacked) < honestRequests; i++ {
		for _, in := range []request{
			{http.MethodPost, "/api/v1/employees/provision", "", map[string]any{"externalId": fmt.Sprint("h", i), "email": fmt.Sprintf("h%d@people.example", i), "name": "H"}},
			{http.MethodGet, "/api/v1/employees?limit=10", "", nil},
			{http.MethodGet, "/api/v1/employees/x", "", nil},
		} {
			attacked, control := in, in
			attacked.url, attacked.token = s.server.url+in.url, s.honest
			control.url, control.token = s.control.url+in.url, s.controlToken
			took, refused := s.timed(attacked)
			out.attacked, out.refused = append(out.attacked, took), out.refused+refused
			took, _ = s.timed(control)
			out.control = append(out.control, took)
			time.Sleep(20 * time.Millisecond) // stays below the rate limit
		}
	}
	return out
}

// timed sends a request until it succeeds.
func (s *siege) timed(in request) (took time.Duration, refused int) {
	s.t.Helper()
	began := time.Now()
	status, text := send(s.t, in)
	for ; status == http.StatusServiceUnavailable && time.Since(began) < time.Minute; refused++ {
		time.Sleep(time.Second)
		status, text = send(s.t, in)
	}
	if status != http.StatusOK {
		s.t.Fatalf("%s %s: %d %.300s", in.method, in.url, status, text)
	}
	return time.Since(began), refused
}

// peakMemory returns the largest resident memory that the server has had.
func (s *siege) peakMemory() int64 {
	s.t.Helper()
	f, err := os.Open(fmt.Sprintf("/proc/%d/status", s.server.cmd.Process.Pid))
	if err != nil {
		s.t.Fatal(err)
	}
	defer f.Close()
	for scan := bufio.NewScanner(f); scan.Scan(); {
		var kib int64
		if n, _ := fmt.Sscanf(scan.Text(), "VmHWM: %d kB", &kib); n == 1 {
			return kib << 10
		}
	}
	s.t.Fatal("the kernel does not report the peak memory")
	return 0
}
