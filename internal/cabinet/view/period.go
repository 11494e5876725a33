package view

// The periods that a list can be narrowed to.
const (
	Period1Hour   = "1h"
	Period24Hours = "24h"
	Period7Days   = "7d"
	Period30Days  = "30d"
	PeriodCustom  = "custom"
)

// Period is what a list is narrowed to in time, as it stands in the address.
type Period struct {
	Choice   string // one of the periods, or empty for any time
	From, To string // of a custom period, as the inputs write them, in the company's zone
}

var periods = []Option{
	{"", "Any time"}, {Period1Hour, "Last hour"}, {Period24Hours, "Last 24 hours"}, {Period7Days, "Last 7 days"},
	{Period30Days, "Last 30 days"}, {PeriodCustom, "Custom period"},
}

// query returns the period as pairs of an address.
func (p Period) query() []string {
	if p.Choice != PeriodCustom {
		return []string{"period", p.Choice}
	}
	return []string{"period", p.Choice, "from", p.From, "to", p.To}
}
