package storetest_test

import (
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
)

func progress(id string, assignment int64, at time.Time, percent float64) domain.Activity {
	p := domain.Points(percent * 100)
	return domain.Activity{ID: id, AssignmentID: assignment, Type: domain.ActivityProgress, OccurredAt: at, Percent: &p}
}

func ended(id string, assignment int64, at time.Time, score float64) domain.Activity {
	p := domain.Points(score * 100)
	return domain.Activity{ID: id, AssignmentID: assignment, Type: domain.ActivityAttemptFinished, OccurredAt: at, Score: &p}
}
