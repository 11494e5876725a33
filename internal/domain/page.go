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
}
