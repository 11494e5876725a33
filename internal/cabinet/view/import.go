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
	Problems  []ImportProblem // the first ones
	Changes   []ImportChange  // the first ones
	CanChange bool
}

// ImportProblem is a row that can't be imported.
type ImportProblem struct {
	Row     int64 // as the spreadsheet numbers it
	Problem string
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
	importFields = []Option{{"", "Leave out"}, {"name", "Name"}, {"email", "E-mail"}, {"externalId", "External id"}, {"tags", "Tags"}}
)

func (c ImportColumn) name() string { return "column" + formatInt(int64(c.Number)) }

func (c ImportColumn) samples() string { return strings.Join(c.Samples, " · ") }

func (c ImportColumn) head() string {
	if c.Head == "" {
		return "Column " + formatInt(int64(c.Number+1))
	}
	return c.Head
}

func (v ImportCheck) effect() int64 { return v.New + v.Changed }
