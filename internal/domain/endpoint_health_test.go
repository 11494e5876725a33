package domain_test

import (
	"testing"

	"github.com/coursebridge/coursebridge/internal/domain"
)

func TestHealthStateFollowsTheFailureRate(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		health domain.EndpointHealth
		want   domain.HealthState
	}{
		{domain.EndpointHealth{}, domain.HealthUnknown},
		{domain.EndpointHealth{Held: 5}, domain.HealthUnknown},
		{domain.EndpointHealth{Delivered: 1}, domain.HealthGood},
		{domain.EndpointHealth{Delivered: 10_000, Retrying: 21}, domain.HealthGood},
		{domain.EndpointHealth{Delivered: 99, Retrying: 1}, domain.HealthDegraded},
		{domain.EndpointHealth{Delivered: 183, Failed: 21}, domain.HealthDegraded},
		{domain.EndpointHealth{Delivered: 5, Retrying: 4, Failed: 1}, domain.HealthFailing},
		{domain.EndpointHealth{Failed: 1}, domain.HealthFailing},
	} {
		if got := row.health.State(); got != row.want {
			t.Errorf("%+v is %q at a failure rate of %.3f, want %q", row.health, got, row.health.FailureRate(), row.want)
		}
	}
}
