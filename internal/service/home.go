package service

import (
	"context"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
)

// HomeStore is what the cabinet's first page needs of the database.
type HomeStore interface {
	HomeFigures(ctx context.Context, company int64, completedSince time.Time) (domain.HomeFigures, error)
	CourseNames(ctx context.Context, ids []int64) (map[int64]string, error)
}

// CourseNames returns the names of some courses.
func (l *Learning) CourseNames(ctx context.Context, ids []int64) (map[int64]string, error) {
	return l.store.CourseNames(ctx, ids)
}

// HomeFigures returns the figures of the company's learning, with its completions per
// week of the company's time zone.
func (l *Learning) HomeFigures(ctx context.Context, c domain.Caller) (domain.HomeFigures, []domain.WeekCount, error) {
	zone, err := c.Company.Location()
	if err != nil {
		zone = time.UTC // an administrator must be able to choose another one
	}
	weeks := domain.LastWeeks(l.store.Now(), zone, domain.ChartWeeks)
	figures, err := l.store.HomeFigures(ctx, c.Company.ID, weeks[0].Start)
	if err != nil {
		return figures, nil, err
	}
	domain.AddToWeeks(weeks, figures.Completions)
	return figures, weeks, nil
}
