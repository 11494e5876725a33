package model

import (
	"fmt"
	"strconv"
)

// rule decides when an assignment of a course is done.
type rule struct {
	assessment bool
	passMark   float64
	attempts   int // 0 is unlimited
}

// progress is how far a learner has come with an assignment, as RULES section 5 says.
type progress struct {
	status                                             string
	percent                                            float64
	score                                              *float64
	attempts                                           int
	started, attempt, ended, completed, activityLatest *stamp
}

// activity is one item of the platform's report.
type activity struct {
	id      string
	of      *assignment
	kind    string
	at      *stamp
	percent *float64
	score   *float64
}

// apply moves the assignment and reports whether it changed.
func (p *progress) apply(r rule, a activity) bool {
	switch {
	case p.status == "completed" || p.status == "failed":
		return false
	case p.status == "needs_retry" && a.at.before(p.ended):
		return false
	case p.status == "started" && p.attempts > 1 && a.at.before(p.attempt):
		return false
	}
	old := *p
	if p.status != "started" {
		p.status, p.attempt = "started", a.at
		p.attempts++
		if r.assessment {
			p.percent = 0
		}
	}
	if p.started == nil || a.at.before(p.started) {
		p.started, p.attempt = a.at, a.at
	}
	if p.activityLatest == nil || p.activityLatest.before(a.at) {
		p.activityLatest = a.at
	}
	if a.percent != nil {
		p.percent = max(p.percent, *a.percent)
	}
	if r.assessment {
		p.endAttempt(r, a)
	} else {
		p.advance(a)
	}
	return *p != old
}

func (p *progress) endAttempt(r rule, a activity) {
	if a.kind != "attempt_finished" {
		return
	}
	p.score, p.ended = a.score, a.at
	switch {
	case *a.score >= r.passMark:
		p.status, p.percent, p.completed = "completed", 100, a.at
	case r.attempts == 0 || p.attempts < r.attempts:
		p.status = "needs_retry"
	default:
		p.status, p.completed = "failed", a.at
	}
}

func (p *progress) advance(a activity) {
	if a.kind == "attempt_finished" && (p.ended == nil || !a.at.before(p.ended)) {
		p.score, p.ended = a.score, a.at
	}
	if p.percent < 100 {
		return
	}
	p.status, p.completed, p.ended = "completed", a.at, a.at
	full := 100.0
	switch {
	case a.score != nil:
		p.score = a.score
	case p.score == nil:
		p.score = &full
	}
}

// completion returns the state and the sentence of /results.
func (p *progress) completion(r rule) (state, summary string) {
	number := p.attempts
	if p.status == "started" && p.ended != nil && p.attempts > 1 {
		number--
	}
	attempt := fmt.Sprintf("attempt %d", number)
	if r.attempts > 0 {
		attempt += fmt.Sprintf(" of %d", r.attempts)
	}
	switch {
	case p.status == "completed" && r.assessment:
		return "success", fmt.Sprintf("Passed with %s on %s.", number2(*p.score), attempt)
	case p.status == "completed":
		return "success", fmt.Sprintf("Completed with %s.", number2(*p.score))
	case p.status == "failed":
		return "failure", fmt.Sprintf("Failed with %s on %s.", number2(*p.score), attempt)
	case p.ended != nil && r.assessment:
		return "failure", fmt.Sprintf("Not passed yet: %s on %s, %s is needed.", number2(*p.score), attempt, number2(r.passMark))
	case p.status == "assigned":
		return "not_started", "Not started yet."
	}
	return "in_progress", fmt.Sprintf("In progress, %s percent complete.", number2(p.percent))
}

// number2 formats a number of at most two decimals.
func number2(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

func number2OrNull(f *float64) any {
	if f == nil {
		return nil
	}
	return *f
}
