package storetest_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store"
	"github.com/coursebridge/coursebridge/internal/store/storetest"
)

func TestSavedViewsStayWithinTheLimit(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		c := storetest.Company(t, s, "Acme")
		add := func(n int) error {
			return s.AddSavedView(t.Context(), c, domain.SavedView{Page: domain.ViewOverdue, Filter: "tag=a", Name: fmt.Sprint("View ", n)})
		}
		for n := range domain.MaxSavedViews - 3 {
			if err := add(n); err != nil {
				t.Fatal("save:", err)
			}
		}
		var wg sync.WaitGroup
		for n := range 8 {
			wg.Go(func() {
				if err := add(1000 + n); err != nil && !errors.Is(err, domain.ErrTooManyViews) {
					t.Errorf("save: %v", err)
				}
			})
		}
		wg.Wait()
		views, err := s.SavedViews(t.Context(), c.Company.ID)
		if err != nil || len(views) != domain.MaxSavedViews {
			t.Errorf("the company has %d views, %v; want %d", len(views), err, domain.MaxSavedViews)
		}
	})
}
