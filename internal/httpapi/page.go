package httpapi

import (
	"errors"
	"net/url"
	"strconv"

	v1 "github.com/coursebridge/coursebridge/api/v1"
	"github.com/coursebridge/coursebridge/internal/domain"
)

var errCursor = errors.New("is not a cursor of this list; take the URL from the Link header as it is")

// Paging is the requested part of a list. Shown is the page number of the
// answer: the requested number, even if PageRequest.Number was limited to
// MaxPage, and on a walk by cursor the number of pages seen.
type Paging struct {
	domain.PageRequest
	Shown int64
	list  domain.List
}

// Page reads page and limit of a list without cursors.
func (p *Params) Page() Paging {
	shown := p.Count("page", 1)
	return Paging{
		PageRequest: domain.PageRequest{
			Number: int(min(shown, domain.MaxPage)),
			Limit:  int(p.Int("limit", 1, domain.MaxLimit, domain.DefaultLimit)),
		},
		Shown: shown,
	}
}

// Walk reads page, limit and after. A cursor takes precedence over a page number.
func (p *Params) Walk(list domain.List) Paging {
	paging := p.Page()
	paging.list = list
	text, present := p.get("after")
	if !present {
		return paging
	}
	cursor, err := domain.ParseCursor(list, text)
	if err != nil || cursor.Page < 1 {
		p.checks.Add("after", errCursor)
		return paging
	}
	paging.After, paging.Number = &cursor, min(cursor.Page+1, domain.MaxPage)
	paging.Shown = int64(paging.Number)
	return paging
}

// Pagination returns where the page stands in a list of total records.
func (p Paging) Pagination(total int64) v1.Pagination {
	pages := (total + int64(p.Limit) - 1) / int64(p.Limit)
	return v1.Pagination{Page: p.Shown, Limit: p.Limit, Total: total, Pages: pages}
}

// Next returns the value of the Link header that leads to the records after the
// last one of this page. The URL keeps the filters and the limit. Next sets limit and
// after in filters, so callers pass a copy.
func (p Paging) Next(path string, filters url.Values, last domain.Cursor) string {
	last.Page = p.Number
	filters.Set("limit", strconv.Itoa(p.Limit))
	filters.Set("after", last.Format(p.list))
	return "<" + path + "?" + filters.Encode() + `>; rel="next"`
}
