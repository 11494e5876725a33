package httpapi

import (
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/coursebridge/coursebridge/internal/domain"
)

// Opt is a parameter that may be absent.
type Opt interface {
	Get() (value string, present bool)
}

// Query reads query and path parameters and collects what is wrong with them. A
// parameter that is present but empty is wrong, not absent: a filter that was
// meant but came out empty must not answer with everything.
type Query struct{ checks domain.Checks }

// Err gives everything that was wrong, nil when nothing was.
func (q *Query) Err() error { return q.checks.Err() }

// Int reads an integer from least to most.
func (q *Query) Int(name string, o Opt, least, most, otherwise int64) int64 {
	s, present := o.Get()
	if !present {
		return otherwise
	}
	n, err := decimal(s)
	if err != nil || n < least || n > most {
		q.checks.Add(name, fmt.Errorf("must be an integer from %d to %d", least, most))
		return otherwise
	}
	return n
}

// Count reads a positive integer.
func (q *Query) Count(name string, o Opt, otherwise int64) int64 {
	s, present := o.Get()
	if !present {
		return otherwise
	}
	n, err := decimal(s)
	switch {
	case errors.Is(err, strconv.ErrRange):
		q.checks.Add(name, errors.New("must be a positive integer of at most 18 digits"))
		return otherwise
	case err != nil || n < 1:
		q.checks.Add(name, errors.New("must be a positive integer"))
		return otherwise
	}
	return n
}

// ID reads an identifier of ours, 0 when absent. One that nothing can have is
// given as -1: it finds nothing.
func (q *Query) ID(name string, o Opt) int64 {
	s, present := o.Get()
	if !present {
		return 0
	}
	if n := q.PathID(name, s); n > 0 {
		return n
	}
	return -1
}

// PathID reads an identifier of ours from a path. Any integer will do: one that
// nothing has is not found, which is not for a parser to say.
func (q *Query) PathID(name, value string) int64 {
	n, err := decimal(value)
	switch {
	case errors.Is(err, strconv.ErrRange):
		q.checks.Add(name, errRange)
	case err != nil:
		q.checks.Add(name, errors.New("must be an integer"))
	}
	return n
}

// decimal reads an optional minus and digits, and unlike strconv no plus.
func decimal(s string) (int64, error) {
	if strings.HasPrefix(s, "+") {
		return 0, strconv.ErrSyntax
	}
	return strconv.ParseInt(s, 10, 64)
}

// Identifier reads someone else's identifier, empty when absent.
func (q *Query) Identifier(name string, o Opt) string {
	if s, present := o.Get(); present {
		return q.PathIdentifier(name, s)
	}
	return ""
}

// PathIdentifier reads someone else's identifier from a path.
func (q *Query) PathIdentifier(name, value string) string {
	q.checks.Add(name, domain.CheckIdentifier(value))
	return value
}

// Email reads an address to look for, empty when absent. One that no employee
// could have finds nobody.
func (q *Query) Email(name string, o Opt) string {
	s, present := o.Get()
	if !present {
		return ""
	}
	return q.PathIdentifier(name, strings.TrimSpace(s))
}

// Tag reads a tag in the form in which tags are kept, empty when absent.
func (q *Query) Tag(name string, o Opt) string {
	s, present := o.Get()
	if !present {
		return ""
	}
	tags, err := domain.NormalizeTags([]string{s})
	if err != nil {
		q.checks.Add(name, errors.Unwrap(err)) // without the position in a list
		return ""
	}
	return tags[0]
}

// Status reads a status, empty when absent.
func (q *Query) Status(name string, o Opt) domain.Status {
	s, present := o.Get()
	if !present {
		return ""
	}
	status, err := domain.ParseStatus(s)
	q.checks.Add(name, err)
	return status
}

// Instant reads a date-time, nil when absent. An unencoded plus of the offset
// arrives as a space and is read as the plus that was meant.
func (q *Query) Instant(name string, o Opt) *time.Time {
	s, present := o.Get()
	if !present {
		return nil
	}
	t, err := ParseQueryInstant(s)
	if err != nil {
		q.checks.Add(name, err)
		return nil
	}
	return &t
}

// ParseQueryInstant reads a date-time from a query string.
func ParseQueryInstant(s string) (time.Time, error) {
	if i := len(s) - len(" 00:00"); i > 0 && s[i] == ' ' {
		s = s[:i] + "+" + s[i+1:]
	}
	return domain.ParseInstant(s)
}

// Bool reads true or false, false when absent.
func (q *Query) Bool(name string, o Opt) bool {
	s, present := o.Get()
	if present && s != "true" && s != "false" {
		q.checks.Add(name, errors.New("must be true or false"))
	}
	return s == "true"
}

// CheckQuery refuses a query string of which parsing would silently drop a part.
func CheckQuery(raw string) error {
	if !strings.ContainsAny(raw, "%;") {
		return nil // nothing that could be malformed
	}
	if _, err := url.ParseQuery(raw); err != nil {
		return domain.Errorf(domain.CodeInvalid, "The query string is not valid. Percent-encode what is not a letter, digit or one of - . _ ~.").WithCause(err)
	}
	return nil
}
