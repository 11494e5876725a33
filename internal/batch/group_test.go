package batch

import (
	"context"
	"slices"
	"sync"
	"testing"
)

func TestGroupRunsEqualKeysTogether(t *testing.T) {
	t.Parallel()
	began, proceed := make(chan []int), make(chan struct{})
	g := NewGroup[string](func(_ context.Context, requests []int) ([]int, error) {
		began <- slices.Clone(requests)
		<-proceed
		return requests, nil
	}, patient)
	var wg sync.WaitGroup
	call := func(key string, n int) {
		wg.Go(func() {
			if got, err := g.Do(t.Context(), key, n); err != nil || got != n {
				t.Errorf("Do(%s, %d) = %d, %v", key, n, got, err)
			}
		})
	}
	call("a", 1)
	if got := <-began; !slices.Equal(got, []int{1}) {
		t.Errorf("the first batch is %v", got)
	}
	call("b", 2)
	if got := <-began; !slices.Equal(got, []int{2}) {
		t.Errorf("a call with another key waited, or was in the batch %v", got)
	}
	call("a", 3)
	call("a", 4)
	g.byKey["a"].waitFor(2)
	proceed <- struct{}{}
	proceed <- struct{}{}
	got := <-began
	slices.Sort(got)
	if !slices.Equal(got, []int{3, 4}) {
		t.Errorf("the calls that waited with the same key ran as %v", got)
	}
	proceed <- struct{}{}
	wg.Wait()
	if len(g.byKey) != 0 {
		t.Errorf("%d keys are kept although no call is under way", len(g.byKey))
	}
}
