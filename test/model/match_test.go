package model

import (
	"errors"
	"fmt"
	"maps"
	"slices"
)

// object is a JSON object. In an expectation its values may be matchers.
type object = map[string]any

// A matcher stands for a value that is not known before the answer.
type matcher func(got any) error

// match compares a decoded JSON value with an expectation, which holds matchers, Go
// integers and the types of encoding/json.
func match(got, want any) error {
	switch want := want.(type) {
	case matcher:
		return want(got)
	case object:
		return matchObject(got, want)
	case []any:
		list, ok := got.([]any)
		if !ok || len(list) != len(want) {
			return fmt.Errorf("got %v, want a list of %d", got, len(want))
		}
		var errs []error
		for i := range want {
			errs = append(errs, at(fmt.Sprintf("[%d]", i), match(list[i], want[i])))
		}
		return errors.Join(errs...)
	case int:
		return match(got, float64(want))
	case int64:
		return match(got, float64(want))
	}
	if got != want {
		return fmt.Errorf("got %#v, want %#v", got, want)
	}
	return nil
}

func matchObject(got any, want object) error {
	fields, ok := got.(object)
	if !ok {
		return fmt.Errorf("got %v, want an object", got)
	}
	if names, wanted := slices.Sorted(maps.Keys(fields)), slices.Sorted(maps.Keys(want)); !slices.Equal(names, wanted) {
		return fmt.Errorf("got the fields %v, want %v", names, wanted)
	}
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(want)) {
		errs = append(errs, at("."+name, match(fields[name], want[name])))
	}
	return errors.Join(errs...)
}

func at(place string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", place, err)
}

// anyText matches every text but the empty one.
var anyText = matcher(func(got any) error {
	if text, _ := got.(string); text == "" {
		return fmt.Errorf("got %v, want a text", got)
	}
	return nil
})

// texts returns a list of texts as an expectation.
func texts(list []string) []any {
	out := make([]any, len(list))
	for i, s := range list {
		out[i] = s
	}
	return out
}
