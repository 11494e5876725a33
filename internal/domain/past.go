package domain

// PastAssignment is an assignment of the demo that was made in the past, and what
// the learner has done with it since, in order.
type PastAssignment struct {
	Assignment
	Activities []Activity
}
