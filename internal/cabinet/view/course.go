package view

import "strconv"

// Course is a course of the company with its figures.
type Course struct {
	ID         int64
	ParentID   int64 // 0: not a slice
	ExternalID string
	Name       string
	Assessment bool
	Modules    int64
	Archived   bool
	Assigned   int64
	Started    int64 // or ended, but not completed
	Completed  int64
	Overdue    int64
	Tried      int64 // have ended an attempt
}

// kind is what the course is.
func (c Course) kind() string {
	switch {
	case c.ParentID != 0 && c.Assessment:
		return "Slice, assessment"
	case c.ParentID != 0:
		return "Slice"
	case c.Assessment:
		return "Assessment"
	}
	return "Course"
}

// passRate is the share of those who have ended an attempt that have passed.
func (c Course) passRate() string {
	if !c.Assessment {
		return "–"
	}
	return formatPercent(c.Completed, c.Tried)
}

// CourseFilter is what the list is narrowed to, as it stands in the address.
type CourseFilter struct {
	Search string
	Show   string // assessments, slices, archived or empty
	Sort   string // assigned, overdue, completion or empty
}

var (
	courseChips  = []Option{{"", "All"}, {"assessments", "Assessments"}, {"slices", "Slices"}, {"archived", "Archived"}}
	courseOrders = []Option{{"", "By name"}, {"assigned", "Most assigned"}, {"overdue", "Most overdue"}, {"completion", "Least completed"}}
)

func (f CourseFilter) active() bool { return f.Search+f.Show+f.Sort != "" }

func (f CourseFilter) exportPath() string {
	return withQuery(PathCoursesExport, "q", f.Search, "show", f.Show, "sort", f.Sort)
}

// CourseList is the page of courses.
type CourseList struct {
	Filter    CourseFilter
	Courses   []Course
	Total     int64
	Pager     Pager
	CanChange bool
}

func (l CourseList) empty() empty {
	switch {
	case l.Filter.Search != "":
		return empty{"Nothing matches", "No course matches this filter. Search finds the beginning of a word of the name, or of the external id.", Link{"Clear the filter", PathCourses}}
	case l.Filter.Show == "assessments":
		return empty{"No assessments", "None of your courses is decided by a score.", Link{"Show all courses", PathCourses}}
	case l.Filter.Show == "slices":
		return empty{"No slices yet", "A slice is a course of your own, made of some modules of another one. Open a course to make one.", Link{"Show all courses", PathCourses}}
	case l.Filter.Show == "archived":
		return empty{"Nothing is archived", "Archived courses stay in reports and can't be assigned.", Link{"Show all courses", PathCourses}}
	}
	return empty{title: "No courses yet", sentence: "The learning platform decides which courses your company can assign. Ask the operator of the platform for the first one."}
}

// CourseDetail is the page of one course.
type CourseDetail struct {
	Course
	Parent     Link // of a slice, if the company may see it
	PassMark   string
	Attempts   string
	Titles     []string
	Slices     []Course
	People     []Assignment // the latest ones
	MedianDays string       // empty: nobody has completed it
	CanChange  bool
	Own        bool // the company's own: it can be archived
}

// figures are the course's figures in their order.
func (d CourseDetail) figures() []homeFigure {
	out := []homeFigure{
		{label: "Assigned", value: formatCount(d.Assigned), path: d.list("")},
		{label: "Completed", value: formatPercent(d.Completed, d.Assigned), path: d.list("completed")},
		{label: "Overdue", value: formatCount(d.Overdue), late: d.Overdue > 0, path: d.list("overdue")},
	}
	if d.Assessment {
		out = append(out, homeFigure{label: "Pass rate", value: d.passRate(), path: d.list("failed")})
	}
	median := "–"
	if d.MedianDays != "" {
		median = d.MedianDays
	}
	return append(out, homeFigure{label: "Median time to complete", value: median})
}

func (d CourseDetail) list(tab string) string {
	return AssignmentFilter{Tab: tab, Course: formatInt(d.ID)}.Path()
}

// funnel is the bar from assigned over started to completed, in hundredths.
func (d CourseDetail) funnel() []bar {
	if d.Assigned == 0 {
		return nil
	}
	share := func(n int64) float64 { return float64(n) / float64(d.Assigned) * 100 }
	return []bar{
		{class: "funnel-completed", x: "0", width: formatPixels(share(d.Completed))},
		{class: "funnel-started", x: formatPixels(share(d.Completed)), width: formatPixels(share(d.Started))},
	}
}

// SliceForm makes or edits a slice.
type SliceForm struct {
	ID         int64 // 0: a new one
	ParentID   int64
	Parent     string
	Title      string // the slice's name before it is edited
	Name       string
	ExternalID string
	Modules    []SliceModule
	Errors     Errors
}

// SliceModule is a module of the course that a slice is made of.
type SliceModule struct {
	Position int
	Title    string
	Chosen   bool
	Place    string // where in the slice it comes
}

func (m SliceModule) placeName() string { return "place-" + strconv.Itoa(m.Position) }

func (f SliceForm) head() Head {
	if f.ID == 0 {
		return Head{
			Section: SectionCourses, Title: "Make a slice", Crumbs: []Link{{"Courses", PathCourses}, {f.Parent, PathCourse(f.ParentID)}},
			Sentence: "A slice is a course of your own, made of the modules you choose. It can be assigned like any other.",
		}
	}
	return Head{
		Section: SectionCourses, Title: "Edit slice", Crumbs: []Link{{"Courses", PathCourses}, {f.Title, PathCourse(f.ID)}},
		Sentence: "Made of modules of “" + f.Parent + "”.",
	}
}

func (f SliceForm) action() string {
	if f.ID == 0 {
		return PathCourse(f.ParentID, "slice")
	}
	return PathCourse(f.ID, "edit")
}

func (f SliceForm) cancel() string {
	if f.ID == 0 {
		return PathCourse(f.ParentID)
	}
	return PathCourse(f.ID)
}

// CourseArchive asks whether to archive a course.
func CourseArchive(c Course) Confirm {
	effects := []string{"Nobody can be assigned to it any more."}
	switch open := c.Assigned - c.Completed; {
	case open == 1:
		effects = append(effects, "1 person who has not finished keeps the assignment and can still complete it.")
	case open > 1:
		effects = append(effects, formatCount(open)+" assignments that are not completed stay and can still be completed.")
	}
	return Confirm{
		Section: SectionCourses, Crumbs: []Link{{"Courses", PathCourses}, {c.Name, PathCourse(c.ID)}}, Title: "Archive “" + c.Name + "”?",
		Effects: append(effects, "Results stay in reports. You can restore it later."), Action: PathCourse(c.ID, "archive"), Verb: "Archive", Danger: true,
		Cancel: PathCourse(c.ID),
	}
}

// CourseRestore asks whether to bring an archived course back.
func CourseRestore(c Course) Confirm {
	return Confirm{
		Section: SectionCourses, Crumbs: []Link{{"Courses", PathCourses}, {c.Name, PathCourse(c.ID)}}, Title: "Restore “" + c.Name + "”?",
		Effects: []string{"It can be assigned again."}, Action: PathCourse(c.ID, "restore"), Verb: "Restore", Cancel: PathCourse(c.ID),
	}
}

// DayCount writes a number of whole days.
func DayCount(days int) string {
	if days == 0 {
		return "Under 1 day"
	}
	return formatDays(days)
}
