package domain

import "context"

// PlatformWork stands for the platform where work is counted by company.
const PlatformWork = -1

type companyKey struct{}

// WithCompany returns a context of work on behalf of a company. The store lets the
// waiting changes of one company take only a share of the database's connections.
func WithCompany(ctx context.Context, company int64) context.Context {
	return context.WithValue(ctx, companyKey{}, company)
}

// CompanyFrom returns the company on whose behalf the work of ctx is done, or 0.
func CompanyFrom(ctx context.Context) int64 {
	company, _ := ctx.Value(companyKey{}).(int64)
	return company
}

type replicaKey struct{}

// AllowReplica returns a context whose reads may be served by a read replica. It shows
// every change that was acknowledged before the read, so that this is a question of cost
// only: it pays for lists, reports and pages, not for reads of one record.
func AllowReplica(ctx context.Context) context.Context {
	return context.WithValue(ctx, replicaKey{}, true)
}

// MayUseReplica reports whether reads may be served by a read replica.
func MayUseReplica(ctx context.Context) bool {
	allowed, _ := ctx.Value(replicaKey{}).(bool)
	return allowed
}
