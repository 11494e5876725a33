package cabinet

import (
	"strconv"

	"github.com/coursebridge/coursebridge/internal/cabinet/view"
	"github.com/coursebridge/coursebridge/internal/domain"
)

func (c *Cabinet) settingsPages(inside register) {
	inside("GET "+view.PathSettings, companySettings)
	inside("POST "+view.PathSettings, changeCompany)
	c.administratorPages(inside)
}

func companySettings(p *page) error {
	c := p.identity.Company
	return p.show(view.CompanySettingsPage(p.shell(), view.CompanySettings{
		Name: c.Name, TimeZone: c.TimeZone, TimeZones: timeZones(c.TimeZone), DeadlineDays: strconv.Itoa(c.DefaultDeadlineDays),
	}))
}

func changeCompany(p *page) error {
	name, zone, text := p.field("name"), p.field("timeZone"), p.field("deadlineDays")
	days, err := strconv.Atoi(text)
	if err != nil {
		days = -1 // refused below, with the sentence that says what to enter
	}
	_, err = p.Companies.UpdateSettings(p.r.Context(), p.caller(), domain.CompanySettings{Name: &name, TimeZone: &zone, DefaultDeadlineDays: &days})
	if errs, ok := invalid(err); ok {
		return p.again(view.CompanySettingsPage(p.shell(), view.CompanySettings{
			Name: name, TimeZone: zone, TimeZones: timeZones(zone), DeadlineDays: text, Errors: errs,
		}))
	}
	if err != nil {
		return err
	}
	return p.done("The settings are saved.", view.PathSettings)
}
