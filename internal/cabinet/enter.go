package cabinet

import (
	"net/http"

	"github.com/coursebridge/coursebridge/internal/cabinet/view"
	"github.com/coursebridge/coursebridge/internal/domain"
)

// link finds what the one-time link in the path is for. A link that is no longer
// good has been answered.
func (p *page) link() (link domain.SignInLink, good bool, err error) {
	link, err = p.SignIn.Link(p.r.Context(), p.r.PathValue("token"))
	if domain.CodeOf(err) == domain.CodeNotFound {
		p.render(http.StatusNotFound, view.EnterPage(p.bare(), view.Enter{Expired: true}))
		return link, false, nil
	}
	return link, err == nil, err
}

func (p *page) enterView(link domain.SignInLink) view.Enter {
	who := link.Administrator
	return view.Enter{
		Email: who.Email, Company: link.CompanyName, Action: view.PathEnter(p.r.PathValue("token")),
		New: !who.HasPassword, MinChars: domain.MinPassword, NeedsCode: who.HasSecondFactor,
	}
}

// enterForm only looks at the link: programs that scan mail open pages too.
func enterForm(p *page) error {
	link, good, err := p.link()
	if err != nil || !good {
		return err
	}
	if !link.SignsIn() {
		return p.asSignedIn(func() error {
			return p.confirm(view.InvitationAccept(link.CompanyName, view.PathEnter(p.r.PathValue("token"))))
		})
	}
	return p.show(view.EnterPage(p.bare(), p.enterView(link)))
}

// asSignedIn is for a link that lets nobody in by itself: its holder has an
// account, and signs in with it first.
func (p *page) asSignedIn(then func() error) error {
	administrator := p.Sessions.AdministratorID(p.r.Context())
	if administrator == 0 {
		return p.toSignIn()
	}
	var err error
	if p.identity, err = p.SignIn.Identify(p.r.Context(), administrator, 0); err != nil {
		return err
	}
	return then()
}

func (p *page) acceptInvitation() error {
	company, err := p.SignIn.Accept(p.r.Context(), p.actor(), p.r.PathValue("token"))
	if err != nil {
		return err
	}
	p.session.Put(p.r.Context(), keyCompany, company)
	return p.done("You administer this company now.", view.PathOverview)
}

func enter(p *page) error {
	link, good, err := p.link()
	if err != nil || !good {
		return err
	}
	if !link.SignsIn() {
		return p.asSignedIn(p.acceptInvitation)
	}
	v := p.enterView(link)
	v.Errors = newPasswordErrors(p, link.Administrator.Email)
	if len(v.Errors) > 0 {
		return p.again(view.EnterPage(p.bare(), v))
	}
	ctx := p.r.Context()
	who, err := p.SignIn.Enter(ctx, p.r.PathValue("token"), p.field("code"), p.from())
	if problem, ok := signInProblem(err); ok {
		v.Errors = view.Errors{"code": problem}
		return p.again(view.EnterPage(p.bare(), v))
	}
	if err != nil {
		return err
	}
	if err := p.bind(who.ID); err != nil {
		return err
	}
	if p.identity, err = p.SignIn.Identify(ctx, who.ID, link.CompanyID); err != nil {
		return err
	}
	p.session.Put(ctx, keyCompany, link.CompanyID)
	if err := p.SignIn.SetPassword(ctx, p.actor(), p.field("password"), p.sessionToken()); err != nil {
		return err
	}
	return p.done("Welcome. Your password is set.", view.PathOverview)
}

// newPasswordErrors checks a password that was typed twice.
func newPasswordErrors(p *page, email string) view.Errors {
	errs := view.Errors{}
	if err := domain.CheckPassword(p.field("password"), email); err != nil {
		errs["password"] = sentence(err.Error())
	} else if p.field("password") != p.field("repeat") {
		errs["repeat"] = "This is not the same password. Type it once more."
	}
	return errs
}
