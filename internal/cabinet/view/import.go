package view

import (
	"strings"
	"time"
)

// ImportForm is the page that takes a file or pasted rows.
type ImportForm struct {
	Text   string
	Errors Errors
}

// Import is the page on which columns are matched.
type Import struct {
	ID       int64
	FileName string
	Total    int64
	Columns  []ImportColumn
	Errors   Errors
}

// ImportColumn is a column of the file with some of its values.
type ImportColumn struct {
	Number  int
	Head    string
	Field   string
	Samples []string
}

// ImportCheck is the page that shows what an import would do.
type ImportCheck struct {
	ID        int64
	FileName  string
	New       int64
	Changed   int64
	Same      int64
	Failed    int64
	Assigns   bool  // a column names courses
	Assign    int64 // courses to assign
	Already   int64 // courses that people have already
	Missing   int64 // employees who are not in the file
	CanChange bool

	// The first ones of each.
	Problems      []ImportProblem
	Changes       []ImportChange
	MissingPeople []PersonOption
}

// ImportCell is a cell of a row that failed.
type ImportCell struct {
	Column int
	Field  string
	Value  string
}

// ImportCellName is the name of the field that corrects a cell.
func ImportCellName(row int64, column int) string {
	return "cell" + formatInt(row) + "-" + formatInt(int64(column))
}

func (c ImportCell) label() string {
	for _, o := range importFields {
		if o.Value == c.Field {
			return o.Label
		}
	}
	return c.Field
}

// ImportProblem is a row that can't be imported.
type ImportProblem struct {
	Number  int64
	Row     int64 // as the spreadsheet numbers it
	Problem string
	Cells   []ImportCell // what can be corrected; none once the import has run
}

// ImportChange is one changed field of a person.
type ImportChange struct {
	PersonID             int64
	Name                 string
	Field, Before, After string
}

// ImportResult is the progress of an import, and its outcome.
type ImportResult struct {
	ID         int64
	FileName   string
	Total      int64
	Done       int64
	Failed     int64
	Problem    string
	StartedBy  string
	FinishedAt *time.Time
	Problems   []ImportProblem
}

// JoinTags writes a list of tags in one line.
func JoinTags(tags []string) string { return strings.Join(tags, ", ") }

var (
	importCrumbs = []Link{{"Employees", PathEmployees}, {"Import", PathImport}}
	importFields = []Option{{"", "Leave out"}, {"name", "Name"}, {"email", "E-mail"}, {"externalId", "External id"}, {"tags", "Tags"}, {"course", "Course to assign"}, {"deadline", "Deadline"}, {"required", "Required"}}
)

func (c ImportColumn) name() string { return "column" + formatInt(int64(c.Number)) }

func (c ImportColumn) samples() string { return strings.Join(c.Samples, " · ") }

func (c ImportColumn) head() string {
	if c.Head == "" {
		return "Column " + formatInt(int64(c.Number+1))
	}
	return c.Head
}

func (v ImportCheck) effect() int64 { return v.New + v.Changed + v.Assign }

func (v ImportCheck) verb() string {
	switch people := plural(v.New+v.Changed, "person", "people"); {
	case v.Assign == 0:
		return "Import " + people
	case v.New+v.Changed == 0:
		return "Assign " + plural(v.Assign, "course", "courses")
	default:
		return "Import " + people + ", assign " + plural(v.Assign, "course", "courses")
	}
}
