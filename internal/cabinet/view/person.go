package view

import (
	"strings"
	"time"
)

// PersonRecord is the page of one employee.
type PersonRecord struct {
	Employee
	Role        string
	JoinedAt    time.Time
	Leaving     *time.Time // when a planned offboarding happens
	Attributes  []Option   // by name
	Assigned    int64
	Completed   int64
	Assignments []PersonAssignment // the newest ones
	History     []HistoryEntry
	CanChange   bool
}

// PersonAssignment is a row of a person's assignments.
type PersonAssignment struct {
	ID         int64
	CourseName string
	Status     string
	Overdue    bool
	Percent    int64
	Score      string // empty: none yet
	Deadline   time.Time
	Required   bool
}

// HistoryEntry is a line of a person's history.
type HistoryEntry struct {
	At         time.Time
	Via        string // person, token, operator, platform, system or import
	Actor      string
	Action     string
	CourseName string
	Detail     string
}

// PersonForm is the form that adds or edits an employee.
type PersonForm struct {
	ID         int64 // 0: a new one
	Title      string
	Name       string
	Email      string
	ExternalID string
	Tags       string // separated by commas
	Role       string
	Attributes string // one per line
	Errors     Errors
}

// OffboardForm is the form that offboards an employee now or on a date.
type OffboardForm struct {
	Employee Employee
	When     string // now or date
	Date     string
	MinDate  string
	Errors   Errors
}

var (
	personCrumbs = []Link{{"Employees", PathEmployees}}
	personRoles  = []Option{{"employee", "Employee"}, {"manager", "Manager"}, {"admin", "Administrator"}}
	leaveChoices = []Option{{"now", "Now"}, {"date", "On a date"}}
)

func (e Employee) crumbs() []Link {
	return []Link{{"Employees", PathEmployees}, {e.Name, PathEmployee(e.ID)}}
}

func (f PersonForm) crumbs() []Link {
	if f.ID == 0 {
		return personCrumbs
	}
	return Employee{ID: f.ID, Name: f.Title}.crumbs()
}

func (f PersonForm) action() string {
	if f.ID == 0 {
		return PathEmployeeNew
	}
	return PathEmployee(f.ID, "edit")
}

func (f PersonForm) cancel() string {
	if f.ID == 0 {
		return PathEmployees
	}
	return PathEmployee(f.ID)
}

func (f PersonForm) title() string {
	if f.ID == 0 {
		return "Add employee"
	}
	return "Edit " + f.Title
}

// attributeFacts lists attributes by name.
func attributeFacts(list []Option) []fact {
	out := make([]fact, len(list))
	for i, a := range list {
		out[i] = fact{a.Value, text(a.Label)}
	}
	return out
}

// noAssignments describes an empty list and what to do about it.
func (p PersonRecord) noAssignments() empty {
	out := empty{title: "No assignments", sentence: "Courses that are assigned to this person appear here."}
	if p.CanChange && p.LeftAt == nil {
		out.action = Link{"Assign a course", withQuery(PathAssign, "person", formatInt(p.ID))}
	}
	return out
}

func (p PersonRecord) roleWord() string {
	for _, o := range personRoles {
		if o.Value == p.Role {
			return o.Label
		}
	}
	return p.Role
}

func (a PersonAssignment) tone() Tone {
	switch a.Status {
	case "started":
		return ToneBlue
	case "completed":
		return ToneGreen
	case "needs_retry":
		return ToneAmber
	case "failed":
		return ToneRed
	}
	return ToneGrey
}

func (a PersonAssignment) word() string { return actionWords(a.Status) }

// historyWords are the actions that read badly as they are stored.
var historyWords = map[string]string{
	"employee.provisioned": "Added", "employee.joined": "Added by hand", "employee.linked": "External id set",
	"employee.changed": "Changed", "employee.offboarded": "Offboarded", "employee.brought_back": "Brought back",
	"employee.offboarding_planned": "Offboarding planned", "employee.offboarding_canceled": "Planned offboarding canceled",
	"assignment.created": "Assigned", "assignment.revoked": "Revoked", "assignment.started": "Started",
	"assignment.deadline_changed": "Deadline changed", "assignment.required_changed": "Required changed",
	"assignment.attempt_granted": "Another attempt granted", "assignment.restored": "Revocation undone",
	"assignment.completed": "Completed", "assignment.failed": "Failed", "assignment.needs_retry": "Needs another attempt",
}

func (h HistoryEntry) words() string {
	words, known := historyWords[h.Action]
	if !known {
		_, verb, _ := strings.Cut(h.Action, ".")
		words = actionWords(verb)
	}
	if h.CourseName != "" {
		words += ": " + h.CourseName
	}
	return words
}

func (h HistoryEntry) detail() string {
	return changedFields(h.Detail)
}

// changedFields leaves of a detail that lists changed fields only their names.
func changedFields(detail string) string {
	if list, found := strings.CutPrefix(detail, "Changed: "); found {
		return strings.ReplaceAll(strings.ReplaceAll(strings.TrimSuffix(list, "."), " ", ", "), "externalId", "external id")
	}
	return detail
}

func (h HistoryEntry) by() string {
	if h.Via == "import" {
		return h.Actor + ", by import"
	}
	return AuditEntry{ActorKind: h.Via, Actor: h.Actor}.actorLabel()
}

// EmployeeBringBack asks before a former employee comes back.
func EmployeeBringBack(e Employee) Confirm {
	return Confirm{
		Section: SectionEmployees, Crumbs: e.crumbs(), Title: "Bring " + e.Name + " back?",
		Effects: []string{"The person becomes an employee again, with the same tags and without assignments. Connected systems are notified."},
		Action:  PathEmployee(e.ID, "bring-back"), Verb: "Bring back", Cancel: PathEmployee(e.ID),
	}
}

// EmployeeErase asks before a person is erased, and counts what goes with them.
func EmployeeErase(e Employee, assignments, results, events int64) Confirm {
	effects := "Name, e-mail, tags and history are removed for good"
	if assignments > 0 {
		effects += ", with " + plural(assignments, "assignment", "assignments")
	}
	effects += ". "
	if results > 0 {
		effects += plural(results, "result stays", "results stay") + " in the figures, without the name. "
	}
	if events > 0 {
		effects += "The content of " + plural(events, "stored event", "stored events") + " is emptied."
	}
	return Confirm{
		Section: SectionEmployees, Crumbs: e.crumbs(), Title: "Erase " + e.Name + "?",
		Effects: []string{effects, "This cannot be undone. To keep the results with the name, offboard the person instead."},
		Action:  PathEmployee(e.ID, "erase"), Verb: "Erase person", Danger: true, Cancel: PathEmployee(e.ID),
	}
}

// EmployeeKeep asks before a planned offboarding is canceled.
func EmployeeKeep(e Employee) Confirm {
	return Confirm{
		Section: SectionEmployees, Crumbs: e.crumbs(), Title: "Cancel the planned offboarding of " + e.Name + "?",
		Effects: []string{"The person stays an employee and keeps their assignments."},
		Action:  PathEmployee(e.ID, "keep"), Verb: "Cancel offboarding", Cancel: PathEmployee(e.ID), Keep: "Back",
	}
}

// offboardEffects counts what offboarding does.
func offboardEffects(e Employee) string {
	effect := "The person leaves the company and can no longer learn here."
	if e.Open > 0 {
		effect += " " + plural(e.Open, "open assignment is revoked.", "open assignments are revoked.")
	}
	return effect + " Connected systems are notified. You can bring the person back later."
}
