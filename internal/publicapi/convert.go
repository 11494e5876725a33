package publicapi

import (
	"net/url"
	"time"

	v1 "github.com/coursebridge/coursebridge/api/v1"
	"github.com/coursebridge/coursebridge/internal/domain"
)

// setFilter puts a filter that was asked for into the link to the next page.
func setFilter(v url.Values, name, value string) {
	if value != "" {
		v.Set(name, value)
	}
}

func dateTime(t time.Time) v1.DateTime { return v1.DateTime{Time: t} }

func nullableDateTime(t *time.Time) *v1.DateTime {
	if t == nil {
		return nil
	}
	return &v1.DateTime{Time: *t}
}

func nullableNumber(p *domain.Points) *float64 {
	if p == nil {
		return nil
	}
	f := p.Float()
	return &f
}
