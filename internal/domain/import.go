package domain

import (
	"slices"
	"strings"
	"time"
)

// JobImport is the kind of the background work that carries out an import.
const JobImport JobKind = "import"

// ImportField is what a column of an import holds; the empty one is left out.
type ImportField string

// The fields of an import.
const (
	ImportExternalID ImportField = "externalId"
	ImportEmail      ImportField = "email"
	ImportName       ImportField = "name"
	ImportTags       ImportField = "tags"
)

// importHeads are the heads by which a column is recognised, folded.
var importHeads = map[string]ImportField{
	"externalid": ImportExternalID, "external id": ImportExternalID, "id": ImportExternalID, "employee id": ImportExternalID,
	"personnel number": ImportExternalID, "табельный номер": ImportExternalID,
	"email": ImportEmail, "e-mail": ImportEmail, "mail": ImportEmail, "почта": ImportEmail,
	"name": ImportName, "full name": ImportName, "employee": ImportName, "имя": ImportName, "фио": ImportName,
	"tags": ImportTags, "tag": ImportTags, "department": ImportTags, "отдел": ImportTags,
	"course": ImportCourse, "training": ImportCourse, "courseid": ImportCourse, "курс": ImportCourse,
	"deadline": ImportDeadline, "due": ImportDeadline, "due date": ImportDeadline, "срок": ImportDeadline,
	"required": ImportRequired, "mandatory": ImportRequired, "обязательный": ImportRequired,
}

// GuessImportFields proposes a field for each column by its head: the one that was
// chosen for this head before, otherwise a usual one. No field is proposed twice.
func GuessImportFields(header []string, before map[string]ImportField) []ImportField {
	out := make([]ImportField, len(header))
	for i, head := range header {
		field, known := before[head]
		if !known {
			field = importHeads[strings.ToLower(strings.TrimSpace(head))]
		}
		if !slices.Contains(out[:i], field) {
			out[i] = field
		}
	}
	return out
}

// Import is a table of employees that was uploaded. JobID is 0 until it is carried
// out.
type Import struct {
	CompanyID int64
	ID        int64
	FileName  string
	Header    []string
	Fields    []ImportField // one per column
	Total     int64
	JobID     int64
	CreatedAt time.Time
}

// CheckFields reports what is wrong with the choice of columns.
func (i Import) CheckFields() error {
	if !slices.Contains(i.Fields, ImportEmail) || !slices.Contains(i.Fields, ImportName) {
		return Errorf(CodeInvalid, "Choose the columns that hold the name and the e-mail.")
	}
	for n, field := range i.Fields {
		if field != "" && slices.Contains(i.Fields[:n], field) {
			return Errorf(CodeInvalid, "Two columns hold the same. Choose one of them.")
		}
	}
	if !i.Assigns() && (slices.Contains(i.Fields, ImportDeadline) || slices.Contains(i.Fields, ImportRequired)) {
		return Errorf(CodeInvalid, "Choose the column that holds the course, or leave out deadline and required.")
	}
	return nil
}

// ImportRow is one row of an import and what became of it.
type ImportRow struct {
	Number  int64 // from 1, without the head
	Cells   []string
	Outcome ImportOutcome // empty until the row was carried out
	Course  ImportCourseOutcome
	Problem string
}

// ImportOutcome is what an import does, or did, with a row.
type ImportOutcome string

// The outcomes.
const (
	ImportNew     ImportOutcome = "new"
	ImportChanged ImportOutcome = "changed"
	ImportSame    ImportOutcome = "same"
	ImportFailed  ImportOutcome = "failed"
)

// Person reads the employee that a row describes. Tags is nil without a column for
// them.
func (i Import) Person(cells []string) (Provision, error) {
	var in Provision
	for n, field := range i.Fields {
		if n >= len(cells) {
			break
		}
		switch field {
		case ImportExternalID:
			in.ExternalID = cells[n]
		case ImportEmail:
			in.Email = cells[n]
		case ImportName:
			in.Name = cells[n]
		case ImportTags:
			in.Tags = []string{}
			for tag := range strings.FieldsFuncSeq(cells[n], func(r rune) bool { return r == ';' || r == ',' }) {
				if tag = strings.TrimSpace(tag); tag != "" {
					in.Tags = append(in.Tags, tag)
				}
			}
		}
	}
	err := in.checkImported()
	return in, err
}

// checkImported is Check for somebody who may have no externalId.
func (p *Provision) checkImported() error {
	var c Checks
	var err error
	if p.ExternalID != "" {
		c.Add("externalId", CheckExternalID(p.ExternalID))
	}
	p.Email, err = NormalizeEmail(p.Email)
	c.Add("email", err)
	p.Name, err = NormalizeName(p.Name)
	c.Add("name", err)
	if p.Tags != nil {
		p.Tags, err = NormalizeTags(p.Tags)
		c.Add("tags", err)
	}
	return c.Err()
}

// DecideImport returns what a row does with the employees that exist. For a changed
// one it returns the employee and the patch.
func DecideImport(in Provision, s ProvisionState) (ImportOutcome, Employee, EmployeePatch, error) {
	found := s.ByExternalID
	switch {
	case found != nil && s.ByEmail != nil && s.ByEmail.ID != found.ID:
		return ImportFailed, Employee{}, EmployeePatch{}, ErrEmailTaken
	case found == nil && s.ByEmail != nil && in.ExternalID != "" && s.ByEmail.ExternalID != "":
		return ImportFailed, Employee{}, EmployeePatch{}, Errorf(CodeEmailTaken, "An employee with this e-mail has the external id %s. Correct the external id or the e-mail of this row.", s.ByEmail.ExternalID)
	case found == nil:
		found = s.ByEmail
	}
	if found == nil {
		return ImportNew, Employee{}, EmployeePatch{}, nil
	}
	patch := EmployeePatch{Name: &in.Name}
	if FoldEmail(found.Email) != FoldEmail(in.Email) {
		patch.Email = &in.Email
	}
	if in.ExternalID != "" {
		patch.ExternalID = &in.ExternalID
	}
	if in.Tags != nil {
		patch.Tags = &in.Tags
	}
	if !patch.Changes(*found) {
		return ImportSame, *found, patch, nil
	}
	return ImportChanged, *found, patch, nil
}

// ImportCheck is what an import would do: how many rows have each outcome, how many
// courses are assigned, how many employees are missing from the file, and the first
// of those that fail, change or are missing.
type ImportCheck struct {
	Counts  map[ImportOutcome]int64
	Assign  int64
	Already int64 // courses that people have already
	Missing int64

	Failed        []ImportRow
	Changes       []ImportChange
	MissingPeople []Employee
}

// ImportChange is an employee before and after an import.
type ImportChange struct {
	Number        int64
	Before, After Employee
}

// Errors about imports.
var (
	ErrImportNotFound = Errorf(CodeNotFound, "There is no such import. Imports are kept for 30 days.")
	ErrImportStarted  = Errorf(CodeConflict, "This import was already started. Its page shows how far it has come.")
	ErrImportRunning  = Errorf(CodeConflict, "Another import is running. Wait until it has finished.")
)
