package domain

import (
	"encoding/json"
	"time"
)

// JobKind names the work of a job.
type JobKind string

// Job is background work of a company that is done step by step. Every step is
// saved together with the position that it came to, so that a job continues there
// after a crash.
type Job struct {
	CompanyID   int64
	ID          int64
	Kind        JobKind
	Input       json.RawMessage // what was asked for, without personal data
	Total       int64           // records to work on, counted when the job was started
	Done        int64           // records worked on so far
	Cursor      string          // the position that the last step came to; empty at first
	Result      json.RawMessage // what the steps have done so far; null at first
	Problem     string          // why it stopped early; empty if it did not
	RequestedBy string
	Actor       Actor
	Role        CabinetRole
	CreatedAt   time.Time
	FinishedAt  *time.Time
	CanceledAt  *time.Time
}

// MaxOpenJobs is how many jobs of a company may be unfinished at once.
const MaxOpenJobs = 20

// Running reports whether more steps follow.
func (j Job) Running() bool { return j.FinishedAt == nil }

// NewJob is a request for background work.
type NewJob struct {
	Kind  JobKind
	Input any   // encoded as JSON
	Total int64 // records to work on; ignored if Items are given
	// Items are the ids of the records to work on. Steps read them with JobItems.
	Items []int64
}

// JobProgress is what one step has done.
type JobProgress struct {
	Cursor   string
	Done     int64 // records worked on in this step
	Result   any   // replaces the result if it is not nil
	Finished bool
	// Saved means that the step has saved this progress itself, in the transaction
	// that did the work.
	Saved bool
}

// JobItem is one record of a job and what became of it.
type JobItem struct {
	ID      int64
	Outcome string     // empty until the job has come to it
	At      *time.Time // when that was
}

// Errors about jobs.
var (
	ErrJobNotFound = Errorf(CodeNotFound, "There is no such background work. It is kept for 30 days.")
	ErrTooManyJobs = Errorf(CodeConflict, "Your company has %d pieces of background work that are not finished. Wait until one of them has finished, or cancel one.", MaxOpenJobs)
	// ErrJobMoved stops a step whose job was canceled or continued by another replica
	// meanwhile. Nothing of the step is saved.
	ErrJobMoved = Errorf(CodeConflict, "The background work was canceled or is continued elsewhere. Reload the page to see how far it has come.")
)
