package domain

import "time"

// These types pass between the queue of deliveries and the dispatchers. An
// endpoint's deliveries are sent by one replica at a time, which holds its lease.

// RecordKey names what keeps the events of one person in order: an employee and
// the employee's assignments are one record.
type RecordKey struct{ CompanyID, EmployeeID int64 }

// FetchRequest asks for an endpoint's due deliveries, without those at hand.
type FetchRequest struct {
	Key   EndpointKey
	Limit int
	Skip  []int64 // by sequence
}

// EndpointLease is an endpoint with its lease and its due deliveries, in the order
// of their sequence.
type EndpointLease struct {
	Endpoint  Endpoint
	Owner     string
	Remaining time.Duration // until the lease runs out
	Due       []DueDelivery
	NextDue   *time.Time // when the next delivery will be due, if there is one
}

// DueDelivery is a delivery to send now.
type DueDelivery struct {
	ID          string
	Sequence    int64
	EmployeeID  int64
	Kind        EventKind
	Attempts    int
	RoundStart  int
	RequestedBy string
	DueAt       time.Time
	CreatedAt   time.Time
	Body        []byte
	Erased      bool // nothing is left to send
}

// DeliveryResult is the result of one due delivery.
type DeliveryResult struct {
	Endpoint EndpointKey
	Delivery DueDelivery
	State    DeliveryState
	DueAt    time.Time // of the next attempt, while pending
	Gone     bool      // the receiver wants nothing more
	Attempt  Attempt   // none if the person had been erased; see HasAttempt
}

// HasAttempt reports whether an attempt was made. Otherwise nothing was sent, because the
// person had been erased.
func (r *DeliveryResult) HasAttempt() bool { return r.Attempt.Number > 0 }

// JudgesReceiver reports whether the result says something about the receiver, which the
// service's own failure to make the request does not.
func (r *DeliveryResult) JudgesReceiver() bool {
	return r.HasAttempt() && r.Attempt.ErrorKind != ErrorInternal
}

// Recorded is what the queue made of results. Somebody may have asked for another
// round meanwhile, or another replica may have recorded the attempt.
type Recorded struct {
	Deliveries []RecordedDelivery
	Disabled   []EndpointKey // endpoints that the results have disabled
}

// RecordedDelivery is the state of a delivery after its result was recorded.
type RecordedDelivery struct {
	ID    string
	State DeliveryState
	DueAt time.Time
}

// Backlog is the work that waits, by endpoint.
type Backlog struct {
	Endpoints []WaitingEndpoint // longest waiting first
	Depth     int64             // deliveries due now, of the endpoints that were asked for, within the limits below
}

// The depth of a backlog is counted for the endpoints that wait longest, and up to
// a limit for each: counting must stay cheap however much waits.
const (
	MaxDepthEndpoints   = 50
	MaxDepthPerEndpoint = 1000
)

// WaitingEndpoint is an endpoint with pending deliveries, the first of which is
// due at Due.
type WaitingEndpoint struct {
	Key   EndpointKey
	Due   time.Time
	Owner string // the replica that has not given up its lease, "" if there is none; the lease may have ended
}
