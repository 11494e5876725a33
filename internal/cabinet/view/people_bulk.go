package view

// PeopleBulk is an act on several employees, before it is confirmed.
type PeopleBulk struct {
	Filter  EmployeeFilter
	Act     string // tag, untag or offboard
	All     bool
	IDs     []string
	Tags    string
	When    string // now or date
	Date    string
	MinDate string
	Known   []string // the company's tags
	People  int64
	Open    int64 // their open assignments
	More    bool  // there are more people or assignments than were counted
	Errors  Errors
}

// people describes how many people are picked.
func (f PeopleBulk) people() string {
	if f.More && f.All {
		return "all people who match"
	}
	return plural(f.People, "person", "people")
}

// peopleActs are what the acts on employees are called.
var peopleActs = map[string]string{"tag": "Add tags", "untag": "Remove tags", "offboard": "Offboard people"}

// PeopleActTitle is the title of background work on employees.
func PeopleActTitle(kind string, tags []string) string {
	if len(tags) == 0 {
		return peopleActs[kind]
	}
	return peopleActs[kind] + ": " + JoinTags(tags)
}

// PeopleOutcomes describes what an act did, leaving out what there is none of.
func PeopleOutcomes(kind string, planned bool, tally map[string]int64) []Outcome {
	done := map[string]string{"tag": "tagged", "untag": "no longer have it", "offboard": "offboarded"}[kind]
	if planned {
		done = "will be offboarded on the date"
	}
	return outcomes([]Outcome{
		{ToneGreen, done, tally["done"]},
		{ToneGrey, "already so", tally["unchanged"]},
		{ToneGrey, "had left already", tally["employee_offboarded"]},
		{ToneAmber, "would have too many tags", tally["invalid_request"]},
	})
}

func (f PeopleBulk) effect() string {
	people := f.people()
	switch f.Act {
	case "untag":
		return "Removes tags from " + people + "."
	case "offboard":
		if f.More {
			return "Offboards " + people + ". They can no longer learn here, and all their open assignments are revoked." + offboardedMany
		}
		return offboardManyEffects(people, f.Open)
	}
	return "Adds tags to " + people + ". They keep the tags they have."
}

func offboardManyEffects(people string, open int64) string {
	effect := "Offboards " + people + ". They can no longer learn here."
	if open > 0 {
		effect += " " + plural(open, "open assignment is revoked.", "open assignments are revoked.")
	}
	return effect + offboardedMany
}

const offboardedMany = " Connected systems are notified. You can bring people back one by one."

func (f PeopleBulk) verb() string {
	people := f.people()
	switch f.Act {
	case "untag":
		return "Untag " + people
	case "offboard":
		return "Offboard " + people
	}
	return "Tag " + people
}

// hidden returns what the form carries on about who is picked.
func (f PeopleBulk) hidden() [][2]string {
	out := [][2]string{{"act", f.Act}, {"q", f.Filter.Search}, {"tag", f.Filter.Tag}, {"show", f.Filter.Show}}
	if f.All {
		out = append(out, [2]string{"all", "1"})
	}
	for _, id := range f.IDs {
		out = append(out, [2]string{"id", id})
	}
	return out
}
