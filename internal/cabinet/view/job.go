package view

import "time"

// Job is background work: how far it has come and what it did.
type Job struct {
	ID          int64
	Path        string // of the page that shows it
	Section     Section
	Title       string
	Noun        [2]string // what it works on: one, many
	Back        Link
	Total, Done int64
	Outcomes    []Outcome
	Problem     string
	Canceled    bool
	CanUndo     bool
	RequestedBy string
	StartedAt   time.Time
	FinishedAt  *time.Time
}

// Outcome counts what became of some records.
type Outcome struct {
	Tone  Tone
	Label string
	Count int64
}

func (j Job) running() bool { return j.FinishedAt == nil }

// actWords are what the acts are called, and what they did.
var actWords = map[string]struct{ title, done string }{
	"extend":   {"Extend deadlines", "extended"},
	"grant":    {"Grant another attempt", "granted another attempt"},
	"require":  {"Make required", "made required"},
	"optional": {"Make optional", "made optional"},
	"revoke":   {"Revoke assignments", "revoked"},
	"restore":  {"Undo the revocation", "restored"},
}

// ActTitle is the title of an act on many assignments.
func ActTitle(kind string, days int) string {
	if kind == "extend" && days > 0 {
		return "Extend deadlines by " + formatDays(days)
	}
	return actWords[kind].title
}

// ActOutcomes describes what an act did, leaving out what there is none of.
func ActOutcomes(kind string, tally map[string]int64) []Outcome {
	return outcomes([]Outcome{
		{ToneGreen, actWords[kind].done, tally["done"]},
		{ToneGrey, "already so", tally["unchanged"]},
		{ToneGrey, "changed since, left alone", tally["changed"]},
		{ToneGrey, "completed, left alone", tally["assignment_completed"]},
		{ToneGrey, "not failed, left alone", tally["idempotency_conflict"]},
		{ToneGrey, "revoked or gone", tally["assignment_revoked"] + tally["assignment_not_found"]},
	})
}

// AssignOutcomes describes what assigning did, leaving out what there is none of.
func AssignOutcomes(tally map[string]int64) []Outcome {
	return outcomes([]Outcome{
		{ToneGreen, "assigned", tally["done"]},
		{ToneGrey, "already had it, skipped", tally["already"]},
		{ToneGrey, "person has left", tally["employee_offboarded"]},
		{ToneAmber, "course no longer available", tally["course_not_found"] + tally["course_archived"]},
		{ToneAmber, "person has too many assignments", tally["too_many_assignments"]},
	})
}

func outcomes(all []Outcome) (out []Outcome) {
	for _, o := range all {
		if o.Count > 0 {
			out = append(out, o)
		}
	}
	return out
}

// JobCancel asks whether to stop background work.
func JobCancel(j Job) Confirm {
	return Confirm{
		Section: j.Section, Title: "Cancel this work?", Crumbs: []Link{j.Back, {j.Title, PathJob(j.ID)}},
		Effects: []string{"Done so far: " + formatCount(j.Done) + " of " + plural(j.Total, j.Noun[0], j.Noun[1]) + ". That stays. The rest will not be done."},
		Action:  PathJob(j.ID, "cancel"), Verb: "Cancel the work", Danger: true, Cancel: PathJob(j.ID), Keep: "Continue the work",
	}
}

// BulkForm is an act on several assignments, before it is confirmed.
type BulkForm struct {
	Filter   AssignmentFilter
	Act      string
	All      bool
	IDs      []string
	Days     string
	Matching int64 // picked
	Affected int64 // those that the act can change
	People   int64
	More     bool // there are more than were counted
	Errors   Errors
}

// effects describes what the act will do.
func (f BulkForm) effects() []string {
	if f.More {
		return []string{"More than " + formatCount(f.Matching-1) + " assignments match. " + map[string]string{
			"extend":   "Moves the deadlines of all that are not completed by the number of days you enter.",
			"grant":    "Allows one more attempt at all that have failed.",
			"require":  "Makes all of them required.",
			"optional": "Makes all of them optional.",
			"revoke":   "Revokes all of them. You can undo this within a minute.",
		}[f.Act]}
	}
	people := plural(f.People, "person", "people")
	var out []string
	switch f.Act {
	case "extend":
		out = append(out, "Moves "+plural(f.Affected, "deadline", "deadlines")+" of "+people+" by the number of days you enter.")
	case "grant":
		out = append(out, "Allows "+people+" one more attempt at "+plural(f.Affected, "assignment", "assignments")+".")
	case "require":
		out = append(out, "Makes "+plural(f.Affected, "assignment", "assignments")+" of "+people+" required. Required assignments count in the figures on Home.")
	case "optional":
		out = append(out, "Makes "+plural(f.Affected, "assignment", "assignments")+" of "+people+" optional. Deadlines stay.")
	case "revoke":
		out = append(out, "Revokes "+plural(f.Affected, "assignment", "assignments")+" of "+people+". You can undo this within a minute.")
	}
	if left := f.Matching - f.Affected; left > 0 {
		reason := map[string]string{"extend": "completed", "grant": "not failed", "require": "required already", "optional": "optional already"}[f.Act]
		out = append(out, formatCount(left)+" of the "+formatCount(f.Matching)+" chosen are "+reason+" and stay as they are.")
	}
	return out
}

func (f BulkForm) verb() string {
	if f.More {
		return map[string]string{
			"extend": "Extend all deadlines", "grant": "Grant all attempts", "require": "Make all required", "optional": "Make all optional",
			"revoke": "Revoke all that match",
		}[f.Act]
	}
	switch f.Act {
	case "grant":
		return "Grant " + plural(f.Affected, "attempt", "attempts")
	case "require":
		return "Make " + formatCount(f.Affected) + " required"
	case "optional":
		return "Make " + formatCount(f.Affected) + " optional"
	case "revoke":
		return "Revoke " + plural(f.Affected, "assignment", "assignments")
	}
	return "Extend " + plural(f.Affected, "deadline", "deadlines")
}

// StatusWord is a status of an assignment in words, with its colour.
func StatusWord(status string) (string, Tone) {
	s := assignmentStatuses[status]
	return s.word, s.tone
}
