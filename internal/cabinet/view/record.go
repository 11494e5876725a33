package view

import "time"

// Record is the printable record of one person.
type Record struct {
	Employee
	JoinedAt    time.Time
	Assigned    int64
	Completed   int64
	Assignments []Assignment
	More        bool // there are more assignments than the page shows
}

func (r Record) bars() []shareBar {
	rest := r.Open - r.Overdue
	return []shareBar{{label: "Completed", value: formatPercent(r.Completed, r.Assigned), parts: []sharePart{
		{"bar-delivered", share(r.Completed, r.Assigned)}, {"bar-none", share(rest, r.Assigned)}, {"bar-failed", share(r.Overdue, r.Assigned)},
	}}}
}

func (r Record) export(format string) string {
	return withQuery(PathEmployee(r.ID, "record", "export"), "format", format)
}
