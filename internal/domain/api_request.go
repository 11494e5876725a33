package domain

import "time"

// APIRequest is one call of the public API, as the company's log of requests keeps
// it. The route is the pattern, never the path, and there is no query: both name people.
// A failed call also has a message and a body, with the personal fields masked that
// the company does not want to see.
type APIRequest struct {
	CompanyID int64
	ID        int64
	At        time.Time
	TokenID   int64
	TokenName string // read, never written: the token's present name
	Method    string
	Route     string
	Status    int
	Duration  time.Duration
	RequestID string
	Code      Code // of the error in the answer, empty for a success

	LoggedBody // of a failed call; lists leave the text out
}

// Failed reports whether the call was answered with an error.
func (r APIRequest) Failed() bool { return r.Status >= 400 }

// ServerError reports whether the call failed for a reason that is not the caller's.
func (r APIRequest) ServerError() bool { return r.Status >= 500 }

// APIRequestOutcome selects requests by how they were answered.
type APIRequestOutcome string

// The outcomes. Requests that were answered with any status have none.
const (
	RequestSucceeded APIRequestOutcome = "succeeded"
	RequestFailed    APIRequestOutcome = "failed"
)

// APIRequestFilter narrows the log of requests; zero fields do not.
type APIRequestFilter struct {
	Outcome APIRequestOutcome
	TokenID int64
	From    *time.Time
	To      *time.Time // exclusive
	Search  string     // the beginning of a request id
}

// APIRequestHour counts the calls of one hour. All calls are counted, also those that
// a busy log leaves out.
type APIRequestHour struct {
	From         time.Time
	Succeeded    int64
	Failed       int64
	ServerErrors int64 // how many of the failed ones
}

// APIRequestCount is a number of calls that is added to an hour.
type APIRequestCount struct {
	CompanyID    int64
	Hour         time.Time
	TokenID      int64
	Succeeded    int64
	Failed       int64
	ServerErrors int64 // how many of the failed ones
}
