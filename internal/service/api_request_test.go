package service_test

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/service"
)

// requestLog counts the calls that are written to it one by one.
type requestLog struct {
	service.RequestStore
	written int
}

func (l *requestLog) AddAPIRequests(_ context.Context, list []domain.APIRequest, _ []domain.APIRequestCount) error {
	l.written += len(list)
	return nil
}

// TestNoFailedCallIsLostBetweenFlushes records failed calls, each of a company of its own,
// while the log is written all the time. A call whose body takes long to mask is counted
// in one flush and written by a later one, which may have nothing to count.
func TestNoFailedCallIsLostBetweenFlushes(t *testing.T) {
	t.Parallel()
	const calls = 200
	var log requestLog
	requests := service.NewRequests(&log, true, slog.New(slog.DiscardHandler))
	flushOnce, cancel := context.WithCancel(t.Context())
	cancel()
	done := make(chan struct{})
	var flushing sync.WaitGroup
	flushing.Go(func() {
		for {
			requests.Run(flushOnce) // its context has ended, so that it returns after a flush
			select {
			case <-done:
				return
			default:
			}
		}
	})
	body := []byte(`{"name":"` + strings.Repeat("a", 20_000) + `"}`)
	for i := range calls {
		requests.Record(service.APICall{
			APIRequest: domain.APIRequest{CompanyID: int64(i + 1), At: time.Now(), Method: "POST", Status: 400},
			Failure:    domain.FailedRequest{Body: body, Message: "name: is too long"},
		})
	}
	close(done)
	flushing.Wait()
	requests.Run(flushOnce)
	if log.written != calls {
		t.Errorf("%d calls were written, want %d", log.written, calls)
	}
}
