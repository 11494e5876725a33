package service

import (
	"context"

	"github.com/coursebridge/coursebridge/internal/domain"
)

// SavedViewStore keeps the views that companies have saved.
type SavedViewStore interface {
	SavedViews(ctx context.Context, company int64) ([]domain.SavedView, error)
	SavedView(ctx context.Context, company, id int64) (domain.SavedView, error)
	AddSavedView(ctx context.Context, c domain.Caller, v domain.SavedView) error
	RenameSavedView(ctx context.Context, c domain.Caller, id int64, name string) error
	RemoveSavedView(ctx context.Context, c domain.Caller, id int64) error
}

// SavedViews keeps the filters that people have named. A company shares them.
type SavedViews struct{ store SavedViewStore }

// NewSavedViews returns the use cases on a store.
func NewSavedViews(store SavedViewStore) *SavedViews { return &SavedViews{store: store} }

// List returns the company's views by name.
func (s *SavedViews) List(ctx context.Context, c domain.Caller) ([]domain.SavedView, error) {
	return s.store.SavedViews(ctx, c.Company.ID)
}

// Get returns one view. Codes: not_found.
func (s *SavedViews) Get(ctx context.Context, c domain.Caller, id int64) (domain.SavedView, error) {
	return s.store.SavedView(ctx, c.Company.ID, id)
}

// Save keeps a new view. Codes: invalid_request, also if the name is taken;
// idempotency_conflict when the company has too many.
func (s *SavedViews) Save(ctx context.Context, c domain.Caller, v domain.SavedView) error {
	if err := c.Authorize(domain.PermissionChange); err != nil {
		return err
	}
	if err := v.Normalize(); err != nil {
		return err
	}
	return s.store.AddSavedView(ctx, c, v)
}

// Rename changes the name of a view. Codes: not_found, invalid_request, also if the
// name is taken.
func (s *SavedViews) Rename(ctx context.Context, c domain.Caller, id int64, name string) error {
	if err := c.Authorize(domain.PermissionChange); err != nil {
		return err
	}
	name, err := domain.NormalizeViewName(name)
	if err != nil {
		return err
	}
	return s.store.RenameSavedView(ctx, c, id, name)
}

// Remove removes a view. Codes: not_found.
func (s *SavedViews) Remove(ctx context.Context, c domain.Caller, id int64) error {
	if err := c.Authorize(domain.PermissionChange); err != nil {
		return err
	}
	return s.store.RemoveSavedView(ctx, c, id)
}
