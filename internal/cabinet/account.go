package cabinet

import (
	"net/http"

	"github.com/coursebridge/coursebridge/internal/cabinet/view"
	"github.com/coursebridge/coursebridge/internal/domain"
)

func (c *Cabinet) accountPages(inside register) {
	inside("GET "+view.PathCompanies, companyChoices)
	inside("POST "+view.PathCompanies, switchCompany)
	inside("GET "+view.PathMySignIn, mySignIn)
	inside("GET "+view.PathPassword, firstPassword)
	inside("POST "+view.PathPassword, changePassword)
	c.secondFactorPages(inside)
	c.sessionPages(inside)
}

func companyChoices(p *page) error {
	v := view.Companies{Next: local(p.query("next"))}
	for _, c := range p.identity.Companies {
		v.List = append(v.List, view.CompanyChoice{ID: c.ID, Name: c.Name, Current: c.ID == p.identity.Company.ID})
	}
	return p.show(view.CompaniesPage(p.bare(), v))
}

func switchCompany(p *page) error {
	company, err := parseID(p.field("company"))
	if err != nil {
		return err
	}
	if err := p.identity.Serves(company); err != nil {
		return err
	}
	p.session.Put(p.r.Context(), keyCompany, company)
	return p.redirect(local(p.field("next")))
}

// setsPassword says whether a request is about choosing a password, which is all
// that someone without one may do.
func setsPassword(r *http.Request) bool { return r.URL.Path == pathFirstPassword }

func (p *page) signInView() view.MySignIn {
	who := p.identity.Administrator
	return view.MySignIn{
		Email: who.Email, MinChars: domain.MinPassword, SecondFactor: who.HasSecondFactor, RecoveryLeft: who.RecoveryLeft,
		SecondSince: who.SecondFactorSince, PasswordChanged: who.PasswordChangedAt,
	}
}

func mySignIn(p *page) error { return p.show(view.MySignInPage(p.shell(), p.signInView())) }

// firstPassword is for someone whose link was used but who chose no password.
func firstPassword(p *page) error {
	who := p.identity.Administrator
	if who.HasPassword {
		return p.redirect(view.PathMySignIn)
	}
	return p.show(view.EnterPage(p.bare(), view.Enter{Email: who.Email, Action: view.PathPassword, New: true, MinChars: domain.MinPassword}))
}

func changePassword(p *page) error {
	who := p.identity.Administrator
	errs := newPasswordErrors(p, who.Email)
	if !who.HasPassword {
		if len(errs) > 0 {
			return p.again(view.EnterPage(p.bare(), view.Enter{Email: who.Email, Action: view.PathPassword, New: true, MinChars: domain.MinPassword, Errors: errs}))
		}
		if err := p.SignIn.SetPassword(p.r.Context(), p.actor(), p.field("password"), p.sessionToken()); err != nil {
			return err
		}
		return p.done("Your password is set.", view.PathOverview)
	}
	if len(errs) == 0 {
		err := p.SignIn.ChangePassword(p.r.Context(), p.actor(), p.field("current"), p.field("password"), p.sessionToken())
		if problem, ok := signInProblem(err); ok {
			errs["current"] = problem
		} else if err != nil {
			return err
		}
	}
	if len(errs) > 0 {
		v := p.signInView()
		v.PasswordErrors = errs
		return p.again(view.MySignInPage(p.shell(), v))
	}
	return p.done("Your password is changed. Your other sessions have ended.", view.PathMySignIn)
}
