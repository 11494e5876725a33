package domain

import (
	"errors"
	"slices"
	"time"
)

// PeopleActKind names what an administrator can do to several employees at once.
type PeopleActKind string

// The acts.
const (
	PeopleTag      PeopleActKind = "tag"
	PeopleUntag    PeopleActKind = "untag"
	PeopleOffboard PeopleActKind = "offboard"
)

// PeopleAction is what to do to employees.
type PeopleAction struct {
	Kind PeopleActKind `json:"kind"`
	Tags []string      `json:"tags,omitempty"` // of PeopleTag and PeopleUntag
	At   *time.Time    `json:"at,omitempty"`   // of PeopleOffboard: nil is now
}

// Normalize normalises the tags and reports every field that is wrong.
func (act *PeopleAction) Normalize(now time.Time) error {
	var c Checks
	switch act.Kind {
	case PeopleTag, PeopleUntag:
		tags, err := NormalizeTags(act.Tags)
		if err == nil && len(tags) == 0 {
			err = errors.New("enter at least one tag")
		}
		c.Add("tags", err)
		act.Tags = tags
	case PeopleOffboard:
		if act.At != nil && !act.At.After(now) {
			c.Add("date", errors.New("choose a date in the future, or offboard the people now"))
		}
	default:
		c.Add("act", errors.New("is not an action on employees"))
	}
	return c.Err()
}

// ApplyTags returns the tags of an employee after the act. Codes: invalid_request if
// they would be too many.
func (act PeopleAction) ApplyTags(tags []string) ([]string, error) {
	out := slices.Clone(tags)
	if act.Kind == PeopleUntag {
		return slices.DeleteFunc(out, func(tag string) bool { return slices.Contains(act.Tags, tag) }), nil
	}
	for _, tag := range act.Tags {
		if !slices.Contains(out, tag) {
			out = append(out, tag)
		}
	}
	if _, err := NormalizeTags(out); err != nil {
		return tags, Errorf(CodeInvalid, "The employee would have more than %d tags. Remove some first.", MaxTags)
	}
	return out, nil
}

// PeopleCount is how many employees an act meets, and their open assignments.
type PeopleCount struct {
	People int64
	Open   int64
	More   bool // only MaxActCount people or assignments were counted
}
