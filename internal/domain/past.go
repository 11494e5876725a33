package domain

// PastAssignment is an assignment of the demo that was made in the past, and what
// the learner has done with it since, in order.
type PastAssignment struct {
	Assignment
	Activities []Activity
}

// PastEvent is an event of the demo that was sent in the past.
type PastEvent struct {
	Event
	Deliveries []PastDelivery
}

// PastDelivery is what came of sending an event to an endpoint. The last attempt
// decided on the state.
type PastDelivery struct {
	EndpointID int64
	State      DeliveryState
	Attempts   []Attempt
}
