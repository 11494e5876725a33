package service_test

import (
	"log/slog"
	"testing"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/service"
)

// BenchmarkRecord notes calls that succeed, from several goroutines at once, as the
// server does after each answer. A point read takes about 50 µs of the server.
func BenchmarkRecord(b *testing.B) {
	requests := service.NewRequests(nil, true, slog.Default())
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			requests.Record(service.APICall{APIRequest: domain.APIRequest{
				CompanyID: 1, TokenID: 1, At: time.Now(), Method: "GET", Route: "/api/v1/employees/{externalId}", Status: 200,
				Duration: time.Millisecond, RequestID: "0123456789abcdef0123456789abcdef",
			}})
		}
	})
}
