package view

import (
	"net/url"
	"slices"
	"strconv"
	"time"
)

// Report is one of the ready questions: its words, its filter and where its answer
// stands. The answer itself is in the struct of its page.
type Report struct {
	Kind      string // overdue, courses, tags, compliance, matrix or person
	Filter    ReportFilter
	Courses   []Option
	Tags      []Option
	CountedAt time.Time // zero: counted for this page
	Pending   bool      // the figures are still being counted
	CanChange bool
	Views     []SavedView
	Pager     Pager
}

// ReportFilter is what a report is narrowed to, as it stands in the address.
type ReportFilter struct {
	Search   string
	Course   string
	Tag      string
	Required string // yes, no or empty
	On       string // a day such as 2026-11-14; always set for compliance
	Today    string // the value of On that is no filter
	Part     string // which part of the courses the matrix shows; empty for the first
}

// query returns the filter as pairs of an address.
func (f ReportFilter) query() []string {
	on := f.On
	if on == f.Today {
		on = ""
	}
	return []string{"q", f.Search, "course", f.Course, "tag", f.Tag, "required", f.Required, "on", on, "part", f.Part}
}

func (f ReportFilter) active() bool { return f.narrowed() || f.Search != "" }

func (f ReportFilter) narrowed() bool {
	return f.Course+f.Tag+f.Required != "" || f.On != f.Today
}

// path returns the address of the report with its filter.
func (r Report) path() string { return withQuery(PathReport(r.Kind), r.Filter.query()...) }

// export returns the address of the report as a file.
func (r Report) export(format string) string {
	return withQuery(PathReport(r.Kind, "export"), append(r.Filter.query(), "format", format)...)
}

// narrowedTo describes the filter for paper, where its fields are not shown. It is empty
// without one.
func (r Report) narrowedTo() string {
	v := SavedView{Page: r.Kind, Filter: url.Values{}, Courses: map[string]string{}}
	for _, o := range r.Courses {
		v.Courses[o.Value] = o.Label
	}
	for pairs := range slices.Chunk(r.Filter.query(), 2) {
		if pairs[0] != "on" { // the answer names the day
			v.Filter.Set(pairs[0], pairs[1])
		}
	}
	words := v.words()
	switch {
	case r.Filter.Search == "" && words == everything:
		return ""
	case r.Filter.Search == "":
		return "Only: " + words + "."
	case words == everything:
		return "Only: search “" + r.Filter.Search + "”."
	}
	return "Only: " + words + ", search “" + r.Filter.Search + "”."
}

func (r Report) words() reportWords { return reportTexts[r.Kind] }

// reportWords are the words of a report.
type reportWords struct{ question, sentence string }

var reportTexts = map[string]reportWords{
	"overdue":    {"Who is overdue?", "Everybody who has missed a deadline, the longest overdue first."},
	"courses":    {"How far is each course?", "How many people have completed each course, and how many are late."},
	"tags":       {"How far is each group?", "The same by tag: teams, sites or shifts, as you have tagged your people."},
	"compliance": {"Were we compliant on a date?", "Required courses that were due by a date, and whether they had been completed by then. People who have left are not included."},
	"person":     {"What has one person done?", "The record of one person, ready to print."},
	"matrix":     {"People and courses", "Who has done what, at a glance."},
}

// reportOrder is the order of the reports on the page that lists them.
var reportOrder = []string{"matrix", "overdue", "courses", "tags", "compliance", "person"}

// ReportPages returns the reports for the palette.
func ReportPages() []Found {
	var out []Found
	for _, kind := range reportOrder {
		out = append(out, Found{Kind: "Report", Label: reportTexts[kind].question, Path: PathReport(kind)})
	}
	return out
}

func reportCrumbs() []Link { return []Link{{"Reports", PathReports}} }

// Reports is the page that lists the reports.
type Reports struct {
	Views     []SavedView
	CanChange bool
}

// shownRows is how many rows of a report a page shows at most; the file has all.
const shownRows = 200

// chartRows is how many bars a chart has at most.
const chartRows = 12

// OverdueReport lists who is overdue.
type OverdueReport struct {
	Report
	Late []LateStep
	Rows []Assignment
}

// LateStep counts the assignments that are late by up to some days.
type LateStep struct {
	Label string
	Count int64
}

func (o OverdueReport) total() int64 {
	total := int64(0)
	for _, s := range o.Late {
		total += s.Count
	}
	return total
}

func (o OverdueReport) bars() []shareBar {
	most := int64(1)
	for _, s := range o.Late {
		most = max(most, s.Count)
	}
	var out []shareBar
	for _, s := range o.Late {
		out = append(out, shareBar{label: s.Label, value: formatCount(s.Count), parts: []sharePart{{"bar-failed", share(s.Count, most)}}})
	}
	return out
}

// daysLate writes how many days ago the deadline passed.
func (a Assignment) daysLate(c Clock) string {
	days := int64(c.Now.Sub(a.Deadline) / (24 * time.Hour))
	if days < 1 {
		return "under a day"
	}
	return plural(days, "day", "days")
}

// CompletionReport is the completion by course or by tag.
type CompletionReport struct {
	Report
	Rows []CompletionRow
}

// CompletionRow is a course or a tag.
type CompletionRow struct {
	Label      string
	CourseID   int64 // 0 for a tag
	People     int64 // who have the tag
	Assigned   int64
	Started    int64
	Completed  int64
	NeedsRetry int64
	Failed     int64
	Overdue    int64
}

func (c CompletionReport) byTag() bool { return c.Kind == "tags" }

func (c CompletionReport) noun() string {
	if c.byTag() {
		return "tag"
	}
	return "course"
}

func (c CompletionReport) chartTitle() string {
	title := "Completed, by " + c.noun()
	if len(c.Rows) > chartRows {
		title += " (the " + strconv.Itoa(chartRows) + " with the most assignments)"
	}
	return title
}

func (c CompletionReport) bars() []shareBar {
	var out []shareBar
	for _, r := range c.Rows[:min(chartRows, len(c.Rows))] {
		out = append(out, shareBar{
			label: r.Label, value: formatPercent(r.Completed, r.Assigned), parts: []sharePart{{"bar-delivered", share(r.Completed, r.Assigned)}},
		})
	}
	return out
}

// shown returns the rows that fit on the page.
func (c CompletionReport) shown() []CompletionRow { return c.Rows[:min(shownRows, len(c.Rows))] }

// list returns the address of the assignments that a row counts.
func (c CompletionReport) list(r CompletionRow, tab string) string {
	f := AssignmentFilter{Tab: tab, Course: c.Filter.Course, Tag: c.Filter.Tag, Required: c.Filter.Required}
	if c.byTag() {
		f.Tag = r.Label
	} else {
		f.Course = formatInt(r.CourseID)
	}
	return f.Path()
}

// ComplianceReport is how compliant the company was on a day.
type ComplianceReport struct {
	Report
	Day  string // as it is read
	Rows []ComplianceRow
}

// ComplianceRow is a course with the required assignments that were due.
type ComplianceRow struct {
	Course  string
	InTime  int64
	Late    int64
	Missing int64
}

func (r ComplianceRow) due() int64 { return r.InTime + r.Late + r.Missing }

func (r ComplianceRow) percent() string { return formatPercent(r.InTime+r.Late, r.due()) }

// all sums up the courses.
func (c ComplianceReport) all() ComplianceRow {
	var sum ComplianceRow
	for _, r := range c.Rows {
		sum.InTime += r.InTime
		sum.Late += r.Late
		sum.Missing += r.Missing
	}
	return sum
}

func (c ComplianceReport) shown() []ComplianceRow { return c.Rows[:min(shownRows, len(c.Rows))] }

func (c ComplianceReport) bars() []shareBar {
	var out []shareBar
	for _, r := range c.Rows[:min(chartRows, len(c.Rows))] {
		out = append(out, shareBar{label: r.Course, value: r.percent(), parts: []sharePart{
			{"bar-delivered", share(r.InTime, r.due())}, {"bar-retrying", share(r.Late, r.due())}, {"bar-failed", share(r.Missing, r.due())},
		}})
	}
	return out
}

// sentence sums the report up.
func (c ComplianceReport) sentence() string {
	all := c.all()
	return "On " + c.Day + ", " + formatCount(all.InTime+all.Late) + " of " + plural(all.due(), "due assignment", "due assignments") +
		" had been completed: " + all.percent() + "."
}

// shareBar is a labelled bar of a chart. Its parts are percentages of its whole width.
type shareBar struct {
	label string
	value string
	parts []sharePart
}

type sharePart struct {
	class   string
	percent float64
}

func share(part, whole int64) float64 {
	if whole <= 0 {
		return 0
	}
	return float64(part) / float64(whole) * 100
}

// rects lays the parts out one after the other.
func (b shareBar) rects() []bar {
	var out []bar
	at := 0.0
	for _, p := range b.parts {
		if p.percent > 0 {
			out = append(out, bar{class: p.class, x: formatPixels(at), y: "0", width: formatPixels(p.percent), height: "10"})
		}
		at += p.percent
	}
	return out
}
