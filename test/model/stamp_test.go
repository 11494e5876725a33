package model

import (
	"fmt"
	"time"
)

// A stamp is an instant that the service chooses. Until an answer shows it, the model
// only knows the request during which it was chosen; from then on it never changes.
type stamp struct {
	from, to time.Time // the request, or twice the instant itself if the caller chose it
	known    bool
	at       time.Time
	base     *stamp        // if not nil, the stamp is this one plus shift
	shift    time.Duration // the default deadline
}

// exactly returns the stamp of an instant that the caller chose.
func exactly(at time.Time) *stamp { return &stamp{from: at, to: at, known: true, at: at} }

// clockSlack is how far the database's clock may differ from the test's. Both run on
// one machine, but a busy one reads its clocks late.
const clockSlack = 5 * time.Second

const timeFormat = "2006-01-02T15:04:05.999-07:00"

// match compares the stamp with the text of an answer, or learns it.
func (s *stamp) match(got any) error {
	if second, ok := got.(wholeSecond); ok {
		return s.matchSecond(time.Time(second))
	}
	text, _ := got.(string)
	at, err := time.Parse(time.RFC3339, text)
	if err != nil || at.UTC().Format(timeFormat) != text {
		return fmt.Errorf("%v is not an instant of the contract", got)
	}
	return s.learn(at.UTC())
}

func (s *stamp) matchSecond(got time.Time) error {
	switch {
	case s.base != nil:
		return s.base.matchSecond(got.Add(-s.shift))
	case s.known && !got.Equal(s.at.Truncate(time.Second)):
		return fmt.Errorf("got %s, want the second of %s", got.Format(timeFormat), s.at.Format(timeFormat))
	}
	return nil
}

func (s *stamp) learn(at time.Time) error {
	switch {
	case s.base != nil:
		return s.base.learn(at.Add(-s.shift))
	case s.known && !at.Equal(s.at):
		return fmt.Errorf("got %s, want %s", at.Format(timeFormat), s.at.Format(timeFormat))
	case !s.known && (at.Before(s.from.Add(-clockSlack)) || at.After(s.to.Add(clockSlack))):
		return fmt.Errorf("got %s, want an instant from %s to %s", at.Format(timeFormat), s.from.Format(timeFormat), s.to.Format(timeFormat))
	}
	if !s.known {
		learned = append(learned, s)
	}
	s.known, s.at = true, at
	return nil
}

// learned holds the stamps that became known, the latest last.
var learned []*stamp

// resembles is match, but learns nothing.
func resembles(got, want any) error {
	before := len(learned)
	err := match(got, want)
	for _, s := range learned[before:] {
		s.known = false
	}
	learned = learned[:before]
	return err
}

// before reports whether s is earlier than o. Instants that callers choose are minutes
// away from the present, so that the order of the requests decides between the others.
func (s *stamp) before(o *stamp) bool { return s.earliest().Before(o.earliest()) }

func (s *stamp) earliest() time.Time {
	if s.base != nil {
		return s.base.from.Add(s.shift)
	}
	return s.from
}

// orNull returns what matches the stamp, or null if there is none.
func (s *stamp) orNull() any {
	if s == nil {
		return nil
	}
	return matcher(s.match)
}
