package service

import (
	"testing"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
)

// A company that used its tests of an hour up has to wait until the hour is over;
// another company is not affected.
func TestProbesPerHourAreLimited(t *testing.T) {
	t.Parallel()
	now := time.Now()
	l := newProbeLimit()
	l.now = func() time.Time { return now }
	begin := func(company int64) error {
		release, err := l.acquire(company)
		if err == nil {
			release()
		}
		return err
	}
	for i := range maxProbesPerHour {
		if err := begin(1); err != nil {
			t.Fatalf("probe %d: %v", i, err)
		}
	}
	now = now.Add(time.Hour - time.Second)
	if err := begin(1); domain.CodeOf(err) != domain.CodeRateLimited {
		t.Errorf("a probe too many in the hour: %v", err)
	}
	if err := begin(2); err != nil {
		t.Errorf("a probe of another company: %v", err)
	}
	now = now.Add(time.Second)
	if err := begin(1); err != nil {
		t.Errorf("a probe in the next hour: %v", err)
	}
	now = now.Add(3 * time.Hour)
	if err := begin(3); err != nil || len(l.companies) != 1 {
		t.Errorf("%v; %d companies are remembered, want the one that is active", err, len(l.companies))
	}
}
