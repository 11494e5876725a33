package domain

import "time"

// PastRecord is an employee or an assignment of the demo, and when it came into being.
type PastRecord struct {
	ID int64
	At time.Time
}
