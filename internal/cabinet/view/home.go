package view

import "time"

// Home is an administrator's first page: what needs attention and how the company is
// doing.
type Home struct {
	Counting    bool // the figures of an older database are being counted
	Fresh       bool // the company has neither people nor assignments
	CanChange   bool
	Attention   []Attention
	Work        []Work // in the background: under way, or ended lately
	Figures     HomeFigures
	Weeks       []Week // oldest first
	Courses     []CourseBar
	MoreCourses bool   // there are more courses than are shown
	Steps       []Step // empty once everything is done
}

// Work is background work, with the page that shows how far it has come.
type Work struct {
	Title       string
	Path        string
	Total, Done int64
	IsRunning   bool
	Stopped     bool // by a failure or by a person
	StartedAt   time.Time
}

func (w Work) tone() Tone {
	switch {
	case w.IsRunning:
		return ToneBlue
	case w.Stopped:
		return ToneAmber
	}
	return ToneGreen
}

func (w Work) state() string {
	switch {
	case w.IsRunning:
		return formatPercent(w.Done, w.Total) + " done"
	case w.Stopped:
		return "Stopped"
	}
	return "Done"
}

// AttentionKind is a reason for an administrator to act.
type AttentionKind string

// The reasons in their order.
const (
	AttentionOverdue  AttentionKind = "overdue"
	AttentionDueSoon  AttentionKind = "due_soon"
	AttentionFailed   AttentionKind = "failed"
	AttentionRetry    AttentionKind = "retry"
	AttentionWebhook  AttentionKind = "webhook"
	AttentionDisabled AttentionKind = "disabled"
	AttentionToken    AttentionKind = "token"
)

// Attention is something to act on, and the page where it is listed.
type Attention struct {
	Kind AttentionKind
	N    int64
	Path string
}

var attentions = map[AttentionKind]struct {
	tone          Tone
	one, many, do string
}{
	AttentionOverdue:  {ToneRed, "assignment is overdue", "assignments are overdue", "See who is late, or extend the deadline"},
	AttentionDueSoon:  {ToneAmber, "assignment is due within 7 days", "assignments are due within 7 days", "See who has not finished"},
	AttentionFailed:   {ToneRed, "assignment has failed", "assignments have failed", "Grant another attempt"},
	AttentionRetry:    {ToneAmber, "assignment needs another attempt", "assignments need another attempt", "See who has to try again"},
	AttentionWebhook:  {ToneRed, "webhook is failing", "webhooks are failing", "See what your system answers"},
	AttentionDisabled: {ToneRed, "webhook was disabled because it kept failing", "webhooks were disabled because they kept failing", "Enable it again"},
	AttentionToken:    {ToneAmber, "token expires within 14 days", "tokens expire within 14 days", "Regenerate in time"},
}

func (a Attention) words() string {
	return plural(a.N, attentions[a.Kind].one, attentions[a.Kind].many)
}

// HomeFigures are the four figures and what they are compared with.
type HomeFigures struct {
	Employees         int64
	Overdue           int64
	Required          int64
	RequiredCompleted int64
	Completed         int64 // in the last 30 days
	CompletedBefore   int64 // in the 30 days before them
	Since             *time.Time
	Before            EarlierFigures // at Since
}

// EarlierFigures are the figures of an earlier day.
type EarlierFigures struct {
	Employees         int64
	Overdue           int64
	Required          int64
	RequiredCompleted int64
}

// homeFigure is one figure with its change, which is empty if it is not known.
type homeFigure struct {
	label, value, change string
	path                 string
	late                 bool
}

// list returns the figures in their order.
func (f HomeFigures) list() []homeFigure {
	since := func(change string) string {
		if f.Since == nil {
			return ""
		}
		return change + " since " + f.Since.UTC().Format("2 Jan")
	}
	return []homeFigure{
		{label: "Active employees", value: formatCount(f.Employees), change: since(formatChange(f.Employees - f.Before.Employees)), path: PathEmployees},
		{
			label: "Required completed", value: formatPercent(f.RequiredCompleted, f.Required), change: since(f.requiredChange()),
			path: AssignmentFilter{Required: "yes"}.Path(),
		},
		{
			label: "Overdue", value: formatCount(f.Overdue), change: since(formatChange(f.Overdue - f.Before.Overdue)), late: f.Overdue > 0,
			path: AssignmentFilter{Tab: "overdue"}.Path(),
		},
		{
			label: "Completed in 30 days", value: formatCount(f.Completed),
			change: formatChange(f.Completed-f.CompletedBefore) + " on the 30 days before", path: AssignmentFilter{Tab: "completed", Recent: "1"}.Path(),
		},
	}
}

// requiredChange is the change of the completion of required courses in points of a
// percent.
func (f HomeFigures) requiredChange() string {
	percent := func(part, whole int64) int64 {
		if whole == 0 {
			return 0
		}
		return (part*200/whole + 1) / 2
	}
	change := percent(f.RequiredCompleted, f.Required) - percent(f.Before.RequiredCompleted, f.Before.Required)
	return formatChange(change) + map[bool]string{true: " point", false: " points"}[change == 1 || change == -1]
}

// formatChange writes a difference with its sign.
func formatChange(n int64) string {
	switch {
	case n > 0:
		return "+" + formatCount(n)
	case n < 0:
		return "−" + formatCount(-n)
	}
	return "±0"
}

// Week is how many assignments were completed in the week that begins at Start.
type Week struct {
	Start time.Time
	N     int64
}

// weekBars lays weeks out in columns of 100 units of height. What is above zero is
// visible.
func weekBars(weeks []Week) []bar {
	top := int64(1)
	for _, w := range weeks {
		top = max(top, w.N)
	}
	out := make([]bar, len(weeks))
	for i, w := range weeks {
		height := float64(w.N) / float64(top) * 100
		if w.N > 0 {
			height = max(2, height)
		}
		out[i] = bar{y: formatPixels(100 - height), height: formatPixels(height)}
	}
	return out
}

func weekTotal(weeks []Week) (n int64) {
	for _, w := range weeks {
		n += w.N
	}
	return n
}

// CourseBar is how far the people of a course are.
type CourseBar struct {
	ID        int64
	Name      string
	Assigned  int64
	Completed int64
}
