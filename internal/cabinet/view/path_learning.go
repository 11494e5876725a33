package view

// Paths of the pages about assignments, courses and reports.
const (
	PathAssign            = "/cabinet/assignments/new"
	PathAssignPreview     = "/cabinet/assignments/new/preview"
	PathBulk              = "/cabinet/assignments/bulk"
	PathAssignmentsExport = "/cabinet/assignments/export.csv"
	PathJobs              = "/cabinet/jobs"
)

// PathAssignment is an assignment's page, or with a verb (deadline, required, grant,
// revoke) an action on it.
func PathAssignment(id int64, verb ...string) string {
	return itemPath(PathAssignments, formatInt(id), verb)
}

// PathJob is the progress of background work, or with a verb (cancel, undo) an action
// on it.
func PathJob(id int64, verb ...string) string { return itemPath(PathJobs, formatInt(id), verb) }

// PathReport is a report, or with the verb export the report as a file.
func PathReport(kind string, verb ...string) string { return itemPath(PathReports, kind, verb) }

// PathCoursesExport is the list of courses as a file.
const PathCoursesExport = "/cabinet/courses/export.csv"

// PathCourse is a course's page, or with a verb (slice, edit, archive, restore) an action on it.
func PathCourse(id int64, verb ...string) string { return itemPath(PathCourses, formatInt(id), verb) }
