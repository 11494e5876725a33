package cabinet

import (
	"net/http"

	"github.com/coursebridge/coursebridge/internal/cabinet/view"
	"github.com/coursebridge/coursebridge/internal/domain"
)

func (c *Cabinet) accountPages(private register) {
	private("GET "+view.PathCompanies, companyChoices)
	private("POST "+view.PathCompanies, switchCompany)
	private("GET "+view.PathMySignIn, mySignIn)
	private("GET "+view.PathPassword, firstPassword)
	private("POST "+view.PathPassword, changePassword)
	c.secondFactorPages(private)
	c.sessionPages(private)
}

func companyChoices(p *page) error {
	v := view.Companies{List: p.companyChoices(), Next: localPath(p.query("next"))}
	return p.renderOK(view.CompaniesPage(p.bare(), v))
}

func switchCompany(p *page) error {
	company, err := parseID(p.field("company"))
	if err != nil {
		return err
	}
	if err := p.SignIn.SwitchCompany(p.r.Context(), p.identity, company, p.origin()); err != nil {
		return err
	}
	p.session.Put(p.r.Context(), keyCompany, company)
	return p.redirect(localPath(p.field("next")))
}

// isPasswordRequest reports whether a request chooses a password, which is all
// that someone without one may do.
func isPasswordRequest(r *http.Request) bool { return r.URL.Path == pathFirstPassword }

func (p *page) signInView() view.MySignIn {
	who := p.identity.Administrator
	return view.MySignIn{
		Email: who.Email, MinChars: domain.MinPassword, SecondFactor: who.HasSecondFactor, RecoveryLeft: who.RecoveryLeft,
		SecondSince: who.SecondFactorSince, PasswordChanged: who.PasswordChangedAt,
	}
}

func mySignIn(p *page) error { return p.renderOK(view.MySignInPage(p.shell(), p.signInView())) }

// firstPassword serves someone who used a link but chose no password.
func firstPassword(p *page) error {
	who := p.identity.Administrator
	if who.HasPassword {
		return p.redirect(view.PathMySignIn)
	}
	return p.renderOK(view.SetPasswordPage(p.bare(), view.SetPassword{Email: who.Email, Action: view.PathPassword, New: true, MinChars: domain.MinPassword}))
}

func changePassword(p *page) error {
	who := p.identity.Administrator
	errs := checkNewPassword(p, who.Email)
	if !who.HasPassword {
		if len(errs) > 0 {
			return p.renderInvalid(view.SetPasswordPage(p.bare(), view.SetPassword{Email: who.Email, Action: view.PathPassword, New: true, MinChars: domain.MinPassword, Errors: errs,
				Password: p.rawField("password"), Repeat: p.rawField("repeat")}))
		}
		if err := p.SignIn.SetPassword(p.r.Context(), p.actor(), p.rawField("password"), p.sessionToken()); err != nil {
			return err
		}
		return p.redirectDone("Your password is set.", view.PathHome)
	}
	if len(errs) == 0 {
		err := p.SignIn.ChangePassword(p.r.Context(), p.actor(), p.rawField("current"), p.rawField("password"), p.sessionToken())
		if problem, ok := signInProblem(err); ok {
			errs["current"] = problem
		} else if err != nil {
			return err
		}
	}
	if len(errs) > 0 {
		v := p.signInView()
		v.PasswordErrors = errs
		v.Typed = view.TypedPasswords{Current: p.rawField("current"), New: p.rawField("password"), Repeat: p.rawField("repeat")}
		if errs["current"] != "" {
			v.Typed.Current = ""
		}
		return p.renderInvalid(view.MySignInPage(p.shell(), v))
	}
	return p.redirectDone("Password changed. Your other sessions have ended.", view.PathMySignIn)
}
