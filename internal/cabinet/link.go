package cabinet

import (
	"net/http"
	"slices"

	"github.com/coursebridge/coursebridge/internal/cabinet/view"
	"github.com/coursebridge/coursebridge/internal/domain"
)

// withLink returns a handler that looks up the one-time link in the path. It calls accept,
// signed in, for a link that only adds a company, and choosePassword for any other.
func withLink(accept, choosePassword func(*page, domain.SignInLink) error) handler {
	return func(p *page) error {
		link, err := p.SignIn.Link(p.r.Context(), p.r.PathValue("token"))
		if domain.CodeOf(err) == domain.CodeNotFound {
			p.render(http.StatusNotFound, view.SetPasswordPage(p.bare(), view.SetPassword{Expired: true}))
			return nil
		}
		if err != nil {
			return err
		}
		addsCompany, err := p.onlyAddsCompany(link)
		if err != nil {
			return err
		}
		if addsCompany {
			return p.withIdentity(func() error { return accept(p, link) })
		}
		return choosePassword(p, link)
	}
}

func (p *page) linkView(link domain.SignInLink) view.SetPassword {
	who := link.Administrator
	return view.SetPassword{
		Email: who.Email, Company: link.CompanyName, Action: view.PathSignInLink(p.r.PathValue("token")),
		New: !who.HasPassword, MinChars: domain.MinPassword, NeedsCode: link.NeedsCode(),
	}
}

// onlyAddsCompany reports whether the link only adds a company to those of a person who
// has a password: they sign in with it and accept. An operator's link to someone whose
// address was never proved, or who serves the company already, lets them choose a new
// password.
func (p *page) onlyAddsCompany(link domain.SignInLink) (bool, error) {
	if !link.SignsIn() {
		return true, nil
	}
	if link.CompanyID == 0 || !link.Vouched || !link.Administrator.HasPassword {
		return false, nil
	}
	who, err := p.SignIn.Identify(p.r.Context(), link.Administrator.ID, 0)
	if domain.CodeOf(err) == domain.CodeUnauthorized { // serves no company, and can't sign in
		return false, nil
	}
	serves := slices.ContainsFunc(who.Companies, func(m domain.Membership) bool { return m.ID == link.CompanyID })
	return !serves, err
}

// confirmInvitation and passwordForm do not use the link up, because mail scanners open
// it too.
func confirmInvitation(p *page, link domain.SignInLink) error {
	return p.showConfirm(view.InvitationAccept(link.CompanyName, view.PathSignInLink(p.r.PathValue("token"))))
}

func passwordForm(p *page, link domain.SignInLink) error {
	return p.renderOK(view.SetPasswordPage(p.bare(), p.linkView(link)))
}

// withIdentity handles a link for someone who already has an account: they have
// to sign in before then runs.
func (p *page) withIdentity(then func() error) error {
	administrator := p.Sessions.AdministratorID(p.r.Context())
	if administrator == 0 {
		return p.redirectToSignIn()
	}
	var err error
	if p.identity, err = p.SignIn.Identify(p.r.Context(), administrator, 0); err != nil {
		return err
	}
	return then()
}

func acceptInvitation(p *page, _ domain.SignInLink) error {
	company, err := p.SignIn.Accept(p.r.Context(), p.actor(), p.r.PathValue("token"))
	if err != nil {
		return err
	}
	p.session.Put(p.r.Context(), keyCompany, company)
	return p.redirectDone("You are now an administrator of this company.", view.PathHome)
}

// signInAndSetPassword uses the link up.
func signInAndSetPassword(p *page, link domain.SignInLink) error {
	v := p.linkView(link)
	v.Errors = checkNewPassword(p, link.Administrator.Email)
	if len(v.Errors) > 0 {
		v.Password, v.Repeat = p.rawField("password"), p.rawField("repeat")
		return p.renderInvalid(view.SetPasswordPage(p.bare(), v))
	}
	ctx := p.r.Context()
	who, err := p.SignIn.Enter(ctx, p.r.PathValue("token"), p.field("code"), p.origin())
	if problem, ok := signInProblem(err); ok {
		v.Errors = view.Errors{"code": problem}
		return p.renderInvalid(view.SetPasswordPage(p.bare(), v))
	}
	if err != nil {
		return err
	}
	if err := p.startSession(who); err != nil {
		return err
	}
	if p.identity, err = p.SignIn.Identify(ctx, who.ID, link.CompanyID); err != nil {
		return err
	}
	p.session.Put(ctx, keyCompany, link.CompanyID)
	if err := p.SignIn.SetPassword(ctx, p.actor(), p.rawField("password"), p.sessionToken()); err != nil {
		return err
	}
	return p.redirectDone("Welcome. Your password is set.", view.PathHome)
}

// checkNewPassword checks a password that was typed twice.
func checkNewPassword(p *page, email string) view.Errors {
	errs := view.Errors{}
	if err := domain.CheckPassword(p.rawField("password"), email); err != nil {
		errs["password"] = sentence(err.Error())
	} else if p.rawField("password") != p.rawField("repeat") {
		errs["repeat"] = "The passwords don't match. Type the same password twice."
	}
	return errs
}
