package publicapi

import (
	"net/url"
	"time"

	v1 "github.com/coursebridge/coursebridge/api/v1"
	"github.com/coursebridge/coursebridge/internal/domain"
)

// setFilter adds a filter to the query of the link to the next page. An empty value
// means that the request had no such filter.
func setFilter(v url.Values, name, value string) {
	if value != "" {
		v.Set(name, value)
	}
}

// dateTime returns t in the format of the contract.
func dateTime(t time.Time) v1.DateTime { return v1.DateTime{Time: t} }

func nullableDateTime(t *time.Time) *v1.DateTime {
	if t == nil {
		return nil
	}
	return &v1.DateTime{Time: *t}
}

// nullablePoints returns p as a JSON number, or nil for null.
func nullablePoints(p *domain.Points) *float64 {
	if p == nil {
		return nil
	}
	f := p.Float()
	return &f
}
