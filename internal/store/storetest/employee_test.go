package storetest_test

import (
	"sync"
	"testing"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store"
	"github.com/coursebridge/coursebridge/internal/store/storetest"
)

func TestProvisionRace(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		c := storetest.Company(t, s, "Race")
		var wg sync.WaitGroup
		got := make([]domain.ProvisionStatus, 32)
		for i := range got {
			wg.Go(func() {
				_, status, err := s.Provision(t.Context(), c, domain.Provision{ExternalID: "E1", Email: "e1@x.test", Name: "Eve"})
				if err != nil {
					t.Error(err)
				}
				got[i] = status
			})
		}
		wg.Wait()
		counts := map[domain.ProvisionStatus]int{}
		for _, g := range got {
			counts[g]++
		}
		if counts[domain.ProvisionCreated] != 1 || counts[domain.ProvisionFound] != 31 {
			t.Errorf("32 concurrent provisions: %v, want one created and 31 found", counts)
		}
	})
}
