package domain

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
)

// Attributes are the fields that a company adds to an employee, such as a cost centre.
type Attributes map[string]string

// Limits of attributes; lengths are in characters.
const (
	MaxAttributes     = 50
	MaxAttributeValue = 255
)

var attributeKey = regexp.MustCompile(`^[A-Za-z0-9._-]{1,64}$`)

// problem returns what is wrong with the attributes: too many, a wrong key or too long a
// value. It names the first wrong key.
func (a Attributes) problem() error {
	if len(a) > MaxAttributes {
		return fmt.Errorf("must have at most %d entries", MaxAttributes)
	}
	for _, key := range slices.Sorted(maps.Keys(a)) {
		if !attributeKey.MatchString(key) {
			return fmt.Errorf("%q can't be a key: use 1 to 64 letters, digits, dots, hyphens or underscores", key)
		}
		err := checkText(a[key])
		if err == nil {
			err = checkLength(a[key], 1, MaxAttributeValue)
		}
		if err != nil {
			return fmt.Errorf("the value of %q %w", key, err)
		}
	}
	return nil
}
