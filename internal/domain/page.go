package domain

import "time"

// Limits of lists.
const (
	DefaultLimit = 50
	MaxLimit     = 500
)

// PageRequest asks for one page of a list, by number or, when After is set, by cursor.
type PageRequest struct {
	Number int
	Limit  int
	After  *Cursor
}

// MaxOffset is the most records that a page number may skip: the database reads all
// of them. A walk by cursor costs the same on every page.
const MaxOffset = 100_000

// Offset returns how many records the page number skips.
func (p PageRequest) Offset() int64 {
	if p.After != nil {
		return 0
	}
	return int64(p.Number-1) * int64(p.Limit)
}

// CheckDepth refuses a page that skips more than MaxOffset of a list's total records.
// A page past the end of the list is empty, however far it is. Codes: invalid_request.
func (p PageRequest) CheckDepth(total int64) error {
	if offset := p.Offset(); offset > MaxOffset && offset < total {
		return Invalid(FieldError{Field: "page", Message: "must not skip more than 100000 records; follow the Link header of each answer instead, which leads to the next page"})
	}
	return nil
}

// First reports whether the request is for the first page.
func (p PageRequest) First() bool { return p.After == nil && p.Number <= 1 }

// AssignmentPage is a page of assignments; Watermark is set when the list was asked
// for by update time.
type AssignmentPage struct {
	Page[Assignment]
	Watermark *time.Time
}

// Page is one page of a list: the items, the exact total, and whether more follows.
type Page[T any] struct {
	Items []T
	Total int64
	More  bool
	// Capped means that the search has more matches than it looks for.
	Capped bool
}
