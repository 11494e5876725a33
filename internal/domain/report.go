package domain

// EmployeeSummary is an employee as a report shows one: with the number of live
// assignments in each status, and of those that are overdue.
type EmployeeSummary struct {
	Employee
	Assigned   int64
	Started    int64
	Completed  int64
	Failed     int64
	NeedsRetry int64
	Overdue    int64
}
