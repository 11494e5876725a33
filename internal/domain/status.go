package domain

import "time"

// StuckEndpoint is an endpoint whose deliveries do not move.
type StuckEndpoint struct {
	CompanyID   int64
	CompanyName string
	EndpointID  int64
	URL         string
	Disabled    bool
	Due         int64      // deliveries that should have been sent by now
	Held        int64      // deliveries that wait until the endpoint is enabled
	OldestDue   *time.Time // nil if none is due
}

// CompanyUsage is what one company takes of the service.
type CompanyUsage struct {
	CompanyID   int64
	Name        string
	Employees   int64
	Assignments int64
	Calls       int64      // of the API since the instant that was asked for, in whole hours
	SlowestCall int64      // in milliseconds, of the calls in the log of requests
	Events      int64      // since then
	Attempts    int64      // attempts of deliveries since then
	SlowestMs   int64      // the slowest of these attempts
	LastCall    *time.Time // when one of its tokens was last used
}

// EndpointCounts counts the endpoints of all companies.
type EndpointCounts struct {
	Enabled, Disabled int64
	Holding           int64 // those with deliveries that are held
}

// InstallationCounts is what an installation holds and has to do.
type InstallationCounts struct {
	Companies, Suspended           int64
	Endpoints, DisabledEndpoints   int64
	Pending, Due, Held, FailedHour int64 // deliveries
	OldestDue                      *time.Time
	SendingServers                 int64 // servers that hold a lease of an endpoint
}
