package service_test

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/coursebridge/coursebridge/internal/delivery"
	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/secret"
	"github.com/coursebridge/coursebridge/internal/service"
	"github.com/coursebridge/coursebridge/internal/store"
	"github.com/coursebridge/coursebridge/internal/store/storetest"
)

// failingRedelivery is a store that can't continue one redelivery.
type failingRedelivery struct {
	*store.Store
	mu     sync.Mutex
	broken int64
	ended  chan int64 // the redeliveries that ended
}

func (f *failingRedelivery) ContinueRedelivery(ctx context.Context, company, id int64, limit int) (bool, error) {
	f.mu.Lock()
	broken := f.broken
	f.mu.Unlock()
	if id == broken {
		return false, errors.New("a row that can't be read")
	}
	finished, err := f.Store.ContinueRedelivery(ctx, company, id, limit)
	if finished {
		f.ended <- id
	}
	return finished, err
}

// Issue 12.19: a redelivery that always failed was tried for ever, and kept those
// behind it waiting.
func TestRedeliveryThatKeepsFailingEndsAndBlocksNoOther(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		box, err := secret.Open(t.Context(), s, secret.Options{Key: "a passphrase for tests"})
		if err != nil {
			t.Fatal(err)
		}
		sender := delivery.NewSender(delivery.Config{Guard: anywhere})
		t.Cleanup(sender.Close)
		failing := &failingRedelivery{Store: s, ended: make(chan int64, 10)}
		w := service.NewWebhooks(failing, sender, box, service.WebhookOptions{Log: slog.New(slog.DiscardHandler)})
		h := &webhooksFixture{w, t, s, storetest.Company(t, s, t.Name())}
		ask := func() int64 {
			from, to := s.Now().Add(-time.Hour), s.Now()
			job, err := w.RedeliverRange(t.Context(), h.c, domain.RedeliveryFilter{From: &from, To: &to})
			if err != nil {
				t.Fatal(err)
			}
			return job.ID
		}
		failing.mu.Lock()
		failing.broken = ask()
		failing.mu.Unlock()
		ctx, cancel := context.WithCancel(t.Context())
		stopped := make(chan struct{})
		go func() { defer close(stopped); w.Run(ctx) }()
		for range 5 { // each request starts a round
			id := ask()
			select {
			case ended := <-failing.ended:
				if ended != id {
					t.Fatalf("redelivery %d ended, want %d", ended, id)
				}
			case <-time.After(20 * time.Second):
				t.Fatal("the redelivery behind the one that fails did not end")
			}
		}
		cancel()
		<-stopped
		job, err := w.RedeliveryJob(t.Context(), h.c, failing.broken)
		if err != nil || job.FinishedAt == nil || job.Problem == "" {
			t.Errorf("after more than five failures: %+v, %v; want it ended with a problem", job, err)
		}
	})
}
