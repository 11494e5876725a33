package domain_test

import (
	"testing"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
)

func TestActivityCheck(t *testing.T) {
	t.Parallel()
	named := func(a domain.Activity) domain.Activity {
		a.ID, a.AssignmentID = "x", 1
		return a
	}
	for _, good := range []domain.Activity{started(0), progress(0, 0), ended(0, 0), {Type: domain.ActivityStarted}} {
		if err := named(good).Check(noon); err != nil {
			t.Errorf("%s: %v", good.Type, err)
		}
	}
	ahead := named(started(0))
	ahead.OccurredAt = noon.Add(domain.MaxFuture)
	if err := ahead.Check(noon); err != nil {
		t.Error("a clock that is ahead is borne with:", err)
	}
	ahead.OccurredAt = ahead.OccurredAt.Add(time.Millisecond)
	wantFields(t, ahead.Check(noon), "occurredAt")
	wantFields(t, domain.Activity{}.Check(noon), "id", "assignmentId", "type")
	wantFields(t, named(domain.Activity{Type: domain.ActivityProgress}).Check(noon), "completionPercent")
	wantFields(t, named(domain.Activity{Type: domain.ActivityAttemptFinished}).Check(noon), "score")
}
