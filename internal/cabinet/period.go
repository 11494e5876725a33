package cabinet

import (
	"time"

	"github.com/coursebridge/coursebridge/internal/cabinet/view"
)

var periodLengths = map[string]time.Duration{
	view.Period1Hour: time.Hour, view.Period24Hours: 24 * time.Hour,
	view.Period7Days: 7 * 24 * time.Hour, view.Period30Days: 30 * 24 * time.Hour,
}

// period is a choice of the period control together with the instants that it means.
type period struct {
	shown    view.Period
	from, to *time.Time // nil: open
}

// readPeriod reads the period control. Fields that are not a time become errors.
func (p *page) readPeriod(read fieldReader, errs view.Errors) period {
	out := period{shown: view.Period{Choice: read("period"), From: read("from"), To: read("to")}}
	if length, known := periodLengths[out.shown.Choice]; known {
		from := p.Now().Add(-length)
		out.shown.From, out.shown.To, out.from = "", "", &from
		return out
	}
	out.shown.Choice = view.PeriodCustom
	if out.shown.From == "" && out.shown.To == "" && read("period") != view.PeriodCustom {
		out.shown.Choice = ""
	}
	out.from = p.parseTime("from", out.shown.From, errs)
	out.to = p.parseTime("to", out.shown.To, errs)
	if out.from != nil && out.to != nil && !out.from.Before(*out.to) {
		errs["to"] = "Choose an end that is later than the start."
	}
	return out
}

// parseTime reads a date and time in the company's time zone. A text that is not
// one becomes an error under name.
func (p *page) parseTime(name, text string, errs view.Errors) *time.Time {
	if text == "" {
		return nil
	}
	for _, layout := range []string{"2006-01-02T15:04", "2006-01-02T15:04:05", time.DateOnly} {
		if at, err := time.ParseInLocation(layout, text, p.zone()); err == nil {
			at = at.UTC()
			return &at
		}
	}
	errs[name] = "Enter a date and time such as 2026-11-14 09:30."
	return nil
}
