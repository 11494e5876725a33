package store_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store"
	"github.com/coursebridge/coursebridge/internal/store/db"
	"github.com/coursebridge/coursebridge/internal/store/storetest"
)

// A company has used up its share of the connections with provisions that wait for locks,
// and sends more. Another company's provisions share batches with some of these, but they
// neither wait for the first company's share nor are refused because of it.
func TestProvisionsOfACompanyAtItsLimitStopNobody(t *testing.T) {
	t.Parallel()
	address := storetest.Postgres(t)
	if address == "" {
		return // SQLite has one writer: nothing can wait for a row
	}
	s, err := store.OpenWith(t.Context(), address, db.Options{MaxConnections: 10})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	observer := storetest.Open(t, address)
	busy, neighbour := storetest.Company(t, s, "busy"), storetest.Company(t, s, "neighbour")
	release := storetest.HoldLocks(t, observer, `INSERT INTO accounts (email_folded, created_at) VALUES ('held@x.test', $1)`, s.Now())
	var all, ours sync.WaitGroup
	sendBusy := func(i int) {
		all.Go(func() {
			in := domain.Provision{ExternalID: fmt.Sprintf("b%d", i), Email: "held@x.test", Name: "Held"}
			_, _, _ = s.Provision(domain.WithCompany(t.Context(), busy.Company.ID), busy, in) // refused after a while
		})
	}
	for i := range 8 {
		sendBusy(i)
	}
	storetest.WaitForLocks(t, observer, 5)
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		for i := 8; ; i++ {
			select {
			case <-stop:
				return
			case <-tick.C:
				sendBusy(i)
			}
		}
	}()
	took := make([][]time.Duration, 8)
	for worker := range took {
		ours.Go(func() {
			for i := range 40 {
				began := time.Now()
				in := person(fmt.Sprintf("n%d-%d", worker, i))
				if _, _, err := s.Provision(domain.WithCompany(t.Context(), neighbour.Company.ID), neighbour, in); err != nil {
					t.Errorf("a neighbour's provision: %v", err)
				}
				took[worker] = append(took[worker], time.Since(began))
			}
		})
	}
	ours.Wait()
	close(stop)
	<-stopped
	release()
	all.Wait()
	sorted := slices.Sorted(slices.Values(slices.Concat(took...)))
	if slowest := sorted[len(sorted)-1]; slowest > 2*time.Second {
		t.Errorf("the slowest of a neighbour's provisions took %s, the median %s", slowest, sorted[len(sorted)/2])
	}
}
