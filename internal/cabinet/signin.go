package cabinet

import (
	"errors"
	"net/http"
	"time"

	"github.com/coursebridge/coursebridge/internal/cabinet/view"
	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/service"
)

// pathFirstPassword is where a person without a password chooses one.
const pathFirstPassword = view.PathPassword

func asError(err error) (*domain.Error, bool) {
	var e *domain.Error
	ok := errors.As(err, &e)
	return e, ok
}

func (c *Cabinet) signInPages(public register) {
	public("GET "+view.PathSignIn, signInForm)
	public("POST "+view.PathSignIn, signIn)
	public("GET "+view.PathSignInCode, codeForm)
	public("POST "+view.PathSignInCode, enterCode)
	public("GET /cabinet/enter/{token}", withLink(confirmInvitation, passwordForm))
	public("POST /cabinet/enter/{token}", withLink(acceptInvitation, signInAndSetPassword))
	public("POST "+view.PathSignOut, signOut)
	public("GET "+view.PathSignedOut, func(p *page) error { return p.renderOK(view.SignedOutPage(p.bare())) })
	public("POST "+view.PathTheme, setTheme)
}

func signInForm(p *page) error {
	if p.Sessions.AdministratorID(p.r.Context()) != 0 {
		return p.redirect(localPath(p.query("next")))
	}
	return p.renderOK(view.SignInPage(p.bare(), view.SignIn{Next: localPath(p.query("next"))}))
}

func signIn(p *page) error {
	ctx, email, next := p.r.Context(), p.field("email"), localPath(p.field("next"))
	in, err := p.SignIn.Password(ctx, email, p.rawField("password"), p.origin())
	if problem, ok := signInProblem(err); ok {
		return p.renderInvalid(view.SignInPage(p.bare(), view.SignIn{Email: email, Next: next, Problem: problem, RetryAt: retryAt(err)}))
	}
	if err != nil {
		return err
	}
	if in.NeedsCode() {
		if err := p.session.RenewToken(ctx); err != nil {
			return err
		}
		p.session.Put(ctx, keyPendingSignIn, in.Begun)
		p.session.Put(ctx, keyNext, next)
		return p.redirect(view.PathSignInCode)
	}
	if err := p.startSession(in.Administrator); err != nil {
		return err
	}
	return p.redirect(next)
}

// startSession signs the administrator in, under a new session token, and makes the
// device known.
func (p *page) startSession(who domain.Administrator) error {
	if err := p.session.RenewToken(p.r.Context()); err != nil {
		return err
	}
	p.session.Remove(p.r.Context(), keyPendingSignIn)
	p.session.Put(p.r.Context(), keyCompany, int64(0))
	p.Sessions.Bind(p.r.Context(), who.ID)
	http.SetCookie(p.w, &http.Cookie{
		Name: p.deviceCookie(), Value: p.SignIn.DeviceToken(who.Email), Path: "/", MaxAge: int(service.DeviceLifetime.Seconds()),
		HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: p.session.Cookie.Secure,
	})
	return nil
}

// deviceCookie returns the name of the cookie that tells a device which has signed in
// before from a stranger's.
func (p *page) deviceCookie() string {
	if p.Secure {
		return "__Host-cb_device"
	}
	return "cb_device"
}

// signInProblem returns the message of a refused sign-in.
func signInProblem(err error) (string, bool) {
	e, ok := asError(err)
	if !ok || e.Code != domain.CodeUnauthorized && e.Code != domain.CodeRateLimited && !errors.Is(err, domain.ErrSignInBusy) {
		return "", false
	}
	return e.Message, true
}

// retryAt returns when a throttled person may try again, or nil for at once.
func retryAt(err error) *time.Time {
	var wait *domain.ThrottledError
	if !errors.As(err, &wait) {
		return nil
	}
	return &wait.Until
}

// kindRecovery marks a form that asks for a recovery code.
const kindRecovery = "recovery"

func codeForm(p *page) error {
	if p.session.GetString(p.r.Context(), keyPendingSignIn) == "" {
		return p.redirect(view.PathSignIn)
	}
	return p.renderOK(view.SecondFactorPage(p.bare(), view.SecondFactor{Recovery: p.query("kind") == kindRecovery}))
}

func enterCode(p *page) error {
	ctx := p.r.Context()
	begun := p.session.GetString(ctx, keyPendingSignIn)
	if begun == "" {
		return p.redirect(view.PathSignIn)
	}
	who, err := p.SignIn.Code(ctx, begun, p.field("code"), p.origin())
	if errors.Is(err, domain.ErrSignInExpired) {
		p.session.Remove(ctx, keyPendingSignIn)
		return p.renderInvalid(view.SignInPage(p.bare(), view.SignIn{
			Next: localPath(p.session.GetString(ctx, keyNext)), Problem: domain.ErrSignInExpired.Message,
		}))
	}
	if problem, ok := signInProblem(err); ok {
		return p.renderInvalid(view.SecondFactorPage(p.bare(), view.SecondFactor{
			Problem: problem, RetryAt: retryAt(err), Recovery: p.field("kind") == kindRecovery,
		}))
	}
	if err != nil {
		return err
	}
	next := localPath(p.session.PopString(ctx, keyNext))
	if err := p.startSession(who); err != nil {
		return err
	}
	return p.redirect(next)
}

func signOut(p *page) error {
	ctx := p.r.Context()
	id, err := p.SignIn.Identify(ctx, p.Sessions.AdministratorID(ctx), p.session.GetInt64(ctx, keyCompany))
	if err := p.session.Destroy(ctx); err != nil {
		return err
	}
	if err == nil { // else nobody was signed in
		if err := p.SignIn.SignOut(ctx, id, p.origin()); err != nil {
			return err
		}
	}
	return p.redirect(view.PathSignedOut)
}

const themeLifetime = 365 * 24 * time.Hour

func setTheme(p *page) error {
	value := p.field("theme")
	cookie := &http.Cookie{
		Name: themeCookie, Value: value, Path: "/", MaxAge: int(themeLifetime.Seconds()), HttpOnly: true,
		SameSite: http.SameSiteLaxMode, Secure: p.session.Cookie.Secure,
	}
	if t := view.Theme(value); t != view.ThemeLight && t != view.ThemeDark {
		cookie.Value, cookie.MaxAge = "", -1
	}
	http.SetCookie(p.w, cookie)
	return p.redirect(localPath(p.field("back")))
}
