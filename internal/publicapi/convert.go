package publicapi

import (
	"context"
	"net/url"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/httpapi"
	"github.com/coursebridge/coursebridge/internal/publicapi/oas"
)

// answer joins a way to find an assignment with a way to show it.
func answer[T any](
	h *handler,
	find func(context.Context, string) (domain.Assignment, error),
	show func(domain.Assignment, time.Time) *T,
) func(context.Context, string) (*T, error) {
	return func(ctx context.Context, key string) (*T, error) {
		a, err := find(ctx, key)
		if err != nil {
			return nil, err
		}
		return show(a, h.svc.Now()), nil
	}
}

func (h *handler) byID(ctx context.Context, text string) (domain.Assignment, error) {
	id, err := pathID(text)
	if err != nil {
		return domain.Assignment{}, err
	}
	return h.svc.Assignment(ctx, callerFrom(ctx), id)
}

func (h *handler) byExternalID(ctx context.Context, text string) (domain.Assignment, error) {
	externalID, err := pathIdentifier(text)
	if err != nil {
		return domain.Assignment{}, err
	}
	return h.svc.AssignmentByExternalID(ctx, callerFrom(ctx), externalID)
}

func pathID(text string) (int64, error) {
	var q httpapi.Query
	id := q.PathID("id", text)
	return id, q.Err()
}

func pathIdentifier(text string) (string, error) {
	var q httpapi.Query
	externalID := q.PathIdentifier("externalId", text)
	return externalID, q.Err()
}

func pagination(p httpapi.Paging, total int64) oas.Pagination {
	return oas.Pagination{Page: p.Shown, Limit: p.Limit, Total: total, Pages: p.Pages(total)}
}

// keep puts a filter that was asked for into the link to the next page.
func keep(v url.Values, name, value string) {
	if value != "" {
		v.Set(name, value)
	}
}

func nilInstant(t *time.Time) oas.NilString {
	if t == nil {
		return oas.NilString{Null: true}
	}
	return oas.NilString{Value: domain.FormatInstant(*t)}
}

func nilPoints(p *domain.Points) oas.NilFloat64 {
	if p == nil {
		return oas.NilFloat64{Null: true}
	}
	return oas.NilFloat64{Value: p.Float()}
}
