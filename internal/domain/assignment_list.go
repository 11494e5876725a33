package domain

import (
	"slices"
	"time"
)

// AssignmentTab is one of the views that the cabinet sorts assignments into. An
// assignment may be in several of them.
type AssignmentTab string

// The tabs in their order.
const (
	TabAll        AssignmentTab = ""
	TabOverdue    AssignmentTab = "overdue"
	TabDueSoon    AssignmentTab = "due_soon"
	TabInProgress AssignmentTab = "in_progress"
	TabNeedsRetry AssignmentTab = "needs_retry"
	TabFailed     AssignmentTab = "failed"
	TabCompleted  AssignmentTab = "completed"
)

// AssignmentTabs lists every tab.
var AssignmentTabs = []AssignmentTab{TabAll, TabOverdue, TabDueSoon, TabInProgress, TabNeedsRetry, TabFailed, TabCompleted}

// DueSoon is how long before its deadline an assignment counts as due soon.
const DueSoon = 7 * 24 * time.Hour

// AssignmentQuery narrows the cabinet's list of assignments; zero fields do not.
type AssignmentQuery struct {
	Tab        AssignmentTab `json:"tab,omitempty"`
	EmployeeID int64         `json:"employeeId,omitempty"`
	CourseID   int64         `json:"courseId,omitempty"`
	Tag        string        `json:"tag,omitempty"`
	Required   *bool         `json:"required,omitempty"`
	Search     string        `json:"search,omitempty"` // the beginning of a name, an e-mail address or an external id
	Recent     bool          `json:"recent,omitempty"` // of TabCompleted: only those completed after RecentSince
}

// Normalize turns an unknown tab into TabAll. Only TabCompleted has recent assignments.
func (q *AssignmentQuery) Normalize() {
	if !slices.Contains(AssignmentTabs, q.Tab) {
		q.Tab = TabAll
	}
	q.Recent = q.Recent && q.Tab == TabCompleted
}

// In returns the query of another tab.
func (q AssignmentQuery) In(tab AssignmentTab) AssignmentQuery {
	q.Tab = tab
	return q
}

// ByDeadline reports whether the list is ordered by deadline, the nearest first.
// Other lists begin with the newest assignment.
func (q AssignmentQuery) ByDeadline() bool { return q.Tab == TabOverdue || q.Tab == TabDueSoon }

// MaxTabCount is how many assignments are counted for the tabs of a narrowed list.
const MaxTabCount = 1000

// TabCounts is the number of assignments in each tab.
type TabCounts struct {
	N    map[AssignmentTab]int64
	More bool // only some were counted, so that a tab has at least this many
}

// Add counts n more assignments with the status.
func (t TabCounts) Add(status Status, n int64) {
	t.N[TabAll] += n
	switch status {
	case StatusStarted:
		t.N[TabInProgress] += n
	case StatusNeedsRetry, StatusFailed, StatusCompleted:
		t.N[AssignmentTab(status)] += n
	}
}

// AssignmentChange is one entry of an assignment's history.
type AssignmentChange struct {
	At       time.Time
	From, To Status // equal if the status did not change
	Cause    string // an ActivityType, an ActKind or CauseAssigned
	Detail   string
	Via      string // an ActorKind or ViaImport; empty for learners
	By       string
}

// CauseAssigned is the cause of an assignment's first entry.
const CauseAssigned = "assigned"
