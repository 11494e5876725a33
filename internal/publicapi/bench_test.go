package publicapi_test

import (
	"bufio"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/publicapi"
	"github.com/coursebridge/coursebridge/internal/server"
)

// newServer returns the API inside the server, without the network.
func newServer(b *testing.B, assignments int) http.Handler {
	b.Helper()
	f := &fake{}
	for i := range 10 {
		f.courses = append(f.courses, domain.Course{ID: int64(i), Name: "Forklift safety " + strconv.Itoa(i), ExternalID: "forklift"})
	}
	f.employee = anna
	for range assignments {
		f.list.Items = append(f.list.Items, passed)
	}
	s, err := server.New(server.Options{
		Log:      slog.New(slog.NewJSONHandler(io.Discard, nil)),
		Registry: prometheus.NewRegistry(),
		Mounts: []server.Mount{
			{Prefix: "/api/v1", API: true, Handler: newAPI(b, f, publicapi.Options{Limiter: server.NewLimiter(1e9, 1e6)})},
			{Prefix: "/platform/v1", API: true, Handler: http.NotFoundHandler()},
			{Prefix: "/cabinet", Handler: http.NotFoundHandler()},
		},
	})
	if err != nil {
		b.Fatal(err)
	}
	return s.Handler()
}

// discardWriter is a response writer that discards the answer.
type discardWriter struct{ header http.Header }

func (q *discardWriter) Header() http.Header         { return q.header }
func (q *discardWriter) Write(p []byte) (int, error) { return len(p), nil }
func (q *discardWriter) WriteHeader(int)             {}

func BenchmarkCourses(b *testing.B) { benchmarkGet(b, newServer(b, 0), "/courses") }

// BenchmarkEmployee reads an employee with the assignments of an ordinary year.
func BenchmarkEmployee(b *testing.B) { benchmarkGet(b, newServer(b, 5), "/employees/HR-1042") }

func BenchmarkListOf500(b *testing.B) { benchmarkGet(b, newServer(b, 500), "/assignments?limit=500") }

func benchmarkGet(b *testing.B, h http.Handler, path string) {
	b.Helper()
	r := httptest.NewRequest(http.MethodGet, "/api/v1"+path, nil)
	r.Header.Set("Authorization", "Bearer read")
	b.ReportAllocs()
	for b.Loop() {
		h.ServeHTTP(&discardWriter{header: http.Header{}}, r)
	}
}

// BenchmarkOverNetwork holds the API against a handler that does nothing but
// write the same bytes: what is lost between the two is ours.
func BenchmarkOverNetwork(b *testing.B) {
	h := newServer(b, 0)
	rec := httptest.NewRecorder()
	r := httptest.NewRequest(http.MethodGet, "/api/v1/courses", nil)
	r.Header.Set("Authorization", "Bearer read")
	h.ServeHTTP(rec, r)
	if rec.Code != 200 {
		b.Fatal(rec.Code, rec.Body)
	}
	body := rec.Body.Bytes()
	bare := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		_, _ = w.Write(body)
	})
	b.Run("bare", func(b *testing.B) { overNetwork(b, bare) })
	b.Run("courses", func(b *testing.B) { overNetwork(b, h) })
}

// overNetwork asks with a client that does as little as one can, so that the
// server is what is measured.
func overNetwork(b *testing.B, h http.Handler) {
	srv := httptest.NewServer(h)
	defer srv.Close()
	request := []byte("GET /api/v1/courses HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer read\r\n\r\n")
	b.SetParallelism(8)
	b.RunParallel(func(pb *testing.PB) {
		c, err := net.Dial("tcp", srv.Listener.Addr().String())
		if err != nil {
			b.Error(err)
			return
		}
		defer func() { _ = c.Close() }()
		in := bufio.NewReader(c)
		for pb.Next() {
			if _, err := c.Write(request); err != nil {
				b.Error(err)
				return
			}
			resp, err := http.ReadResponse(in, nil)
			if err != nil {
				b.Error(err)
				return
			}
			_, _ = io.Copy(io.Discard, resp.Body)
			_ = resp.Body.Close()
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "req/s")
}
