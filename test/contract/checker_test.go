package contract_test

import (
	"testing"

	"github.com/coursebridge/coursebridge/internal/apicheck"
)

// The coverage must find what was not met.
func TestCoverageFindsGaps(t *testing.T) {
	t.Parallel()
	public, _, err := apicheck.Documents()
	if err != nil {
		t.Fatal(err)
	}
	r := newCoverage()
	all := len(r.gaps(public))
	r.add(public.Find("GET", "/courses"), &answer{status: 200})
	r.add(public.Find("GET", "/courses"), &answer{status: 403, body: object{"code": "insufficient_scope"}})
	if left := len(r.gaps(public)); all < 100 || left != all-3 {
		t.Errorf("%d were missing, then %d", all, left)
	}
}
