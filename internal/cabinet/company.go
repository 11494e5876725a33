package cabinet

import (
	"slices"
	"strconv"

	"github.com/coursebridge/coursebridge/internal/cabinet/view"
	"github.com/coursebridge/coursebridge/internal/domain"
)

func (c *Cabinet) settingsPages(private register) {
	private("GET "+view.PathSettings, companySettings)
	private("POST "+view.PathSettings, changeCompany)
	c.administratorPages(private)
}

func companySettings(p *page) error {
	c := p.identity.Company
	masked := slices.DeleteFunc(slices.Clone(domain.PersonalFields), c.RequestBodies.Shows)
	return p.renderOK(view.CompanySettingsPage(p.shell(), view.CompanySettings{
		Name: c.Name, TimeZone: c.TimeZone, TimeZones: timeZones(c.TimeZone), DeadlineDays: strconv.Itoa(c.DefaultDeadlineDays),
		KeepBodies: c.RequestBodies != domain.RequestBodiesOff, Masked: masked,
	}))
}

func changeCompany(p *page) error {
	name, zone, text := p.field("name"), p.field("timeZone"), p.field("deadlineDays")
	days, err := strconv.Atoi(text)
	if err != nil {
		days = -1 // refused below, with the sentence that describes what to enter
	}
	bodies, masked := domain.RequestBodiesOff, p.fields("mask")
	if p.checked("keepBodies") {
		bodies = domain.MaskFields(masked)
	}
	_, err = p.Companies.UpdateSettings(p.r.Context(), p.caller(), domain.CompanySettings{
		Name: &name, TimeZone: &zone, DefaultDeadlineDays: &days, RequestBodies: &bodies,
	})
	if errs, ok := formErrors(err); ok {
		return p.renderInvalid(view.CompanySettingsPage(p.shell(), view.CompanySettings{
			Name: name, TimeZone: zone, TimeZones: timeZones(zone), DeadlineDays: text, Errors: errs,
			KeepBodies: p.checked("keepBodies"), Masked: masked,
		}))
	}
	if err != nil {
		return err
	}
	return p.redirectDone("Settings saved.", view.PathSettings)
}
