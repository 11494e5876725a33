package domain

// AssignmentTotals is how many live assignments a company has, by course.
type AssignmentTotals map[int64]*CourseTotals

// CourseTotals is how many live assignments a course has in a company.
type CourseTotals struct {
	ByStatus map[Status]int
	// Overdue is how many of them are overdue; they have a status too.
	Overdue int
}

// Add counts n more assignments of a course: with the status, or as overdue if the
// status is empty.
func (t AssignmentTotals) Add(course int64, status Status, n int) {
	if n == 0 {
		return
	}
	c := t[course]
	if c == nil {
		c = &CourseTotals{ByStatus: map[Status]int{}}
		t[course] = c
	}
	if status == "" {
		c.Overdue += n
		return
	}
	c.ByStatus[status] += n
}

// Count returns how many assignments there are.
func (c *CourseTotals) Count() int {
	n := 0
	for _, count := range c.ByStatus {
		n += count
	}
	return n
}

// Company returns the totals of all courses together.
func (t AssignmentTotals) Company() CourseTotals {
	out := CourseTotals{ByStatus: map[Status]int{}}
	for _, c := range t {
		out.Overdue += c.Overdue
		for status, n := range c.ByStatus {
			out.ByStatus[status] += n
		}
	}
	return out
}

// WrongTotal is a kept total that differs from what is counted. Number and Text are
// the keys of the total: a course and a status, an instant in seconds, or a tag.
type WrongTotal struct {
	Kind    string
	Number  int64
	Text    string
	Missing int64 // what is counted, less what is kept
}
