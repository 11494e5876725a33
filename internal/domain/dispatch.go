package domain

import "time"

// What passes between the queue of deliveries and those who send them. An
// endpoint's deliveries are sent by one replica at a time, which holds its lease.

// LaneAsk asks for an endpoint's due deliveries, but for those at hand already.
type LaneAsk struct {
	Key   EndpointKey
	Limit int
	Skip  []int64 // by Seq
}

// Lane is an endpoint with its lease and what is due there, in the order to send it.
type Lane struct {
	Endpoint Endpoint
	Owner    string
	Until    time.Time
	Due      []DueDelivery
	Next     *time.Time // when more will be due, if that is known
}

// DueDelivery is a delivery to send now.
type DueDelivery struct {
	Seq         int64
	ID          string
	EventID     int64
	Kind        EventKind
	Attempts    int
	RoundStart  int
	RequestedBy string
	DueAt       time.Time
	CreatedAt   time.Time
	Body        []byte
	Erased      bool // nothing is left to send
}

// DeliveryResult is what became of one due delivery.
type DeliveryResult struct {
	Endpoint EndpointKey
	Delivery DueDelivery
	State    DeliveryState
	DueAt    time.Time // of the next attempt, while pending
	Gone     bool      // the receiver wants nothing more
	Attempt  Attempt   // its Number is 0 when nothing was sent
}

// Recorded is what the queue made of results: others may have asked for another
// round, or recorded the attempt, meanwhile.
type Recorded struct {
	Deliveries []RecordedDelivery
	Disabled   []EndpointKey // endpoints that the results have disabled
}

// RecordedDelivery is where a delivery stands after its result was recorded.
type RecordedDelivery struct {
	Seq   int64
	State DeliveryState
	DueAt time.Time
}

// Backlog is the work there is, by endpoint.
type Backlog struct {
	Endpoints []Waiting
	Depth     int64 // deliveries due now, counted up to MaxDepth
}

// MaxDepth is as far as a backlog is counted.
const MaxDepth = 100_000

// Waiting is an endpoint with pending deliveries, the first of them due at Due.
type Waiting struct {
	Key   EndpointKey
	Owner string
	Until time.Time
	Due   time.Time
}
