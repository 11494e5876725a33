package httpapi

import (
	"net/url"
	"strconv"

	"github.com/coursebridge/coursebridge/internal/domain"
)

// maxPage lies past the end of any list, and far enough below the largest
// integer that nobody who multiplies it with a limit overflows.
const maxPage = 1_000_000_000_000

// Paging is the part of a list that was asked for. Shown is the page number of
// the answer: the number asked for, even where Page.Number was cut to maxPage,
// and on a walk by cursor the count of pages seen.
type Paging struct {
	domain.PageRequest
	Shown int64
	list  List
}

// Page reads page and limit of a list without cursors.
func (q *Query) Page(page, limit Opt) Paging {
	shown := q.Count("page", page, 1)
	return Paging{
		PageRequest: domain.PageRequest{
			Number: int(min(shown, maxPage)),
			Limit:  int(q.Int("limit", limit, 1, domain.MaxLimit, domain.DefaultLimit)),
		},
		Shown: shown,
	}
}

// Walk reads page, limit and after. A cursor outweighs a page number.
func (q *Query) Walk(list List, page, limit, after Opt) Paging {
	p := q.Page(page, limit)
	p.list = list
	s, present := after.Get()
	if !present {
		return p
	}
	cursor, err := ParseCursor(list, s)
	if err != nil {
		q.checks.Add("after", err)
		return p
	}
	p.After, p.Number = &cursor, min(cursor.Page+1, maxPage)
	p.Shown = int64(p.Number)
	return p
}

// Pages counts the pages of the whole list.
func (p Paging) Pages(total int64) int64 {
	return (total + int64(p.Limit) - 1) / int64(p.Limit)
}

// Next writes the Link header that leads to what follows the last record of this
// page. The URL keeps the filters and the limit.
func (p Paging) Next(path string, filters url.Values, last domain.Cursor) string {
	last.Page = p.Number
	filters.Set("limit", strconv.Itoa(p.Limit))
	filters.Set("after", FormatCursor(p.list, last))
	return "<" + path + "?" + filters.Encode() + `>; rel="next"`
}
