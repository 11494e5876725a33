package cabinet_test

import (
	"encoding/base32"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/coursebridge/coursebridge/internal/app"
	"github.com/coursebridge/coursebridge/internal/apptest"
	"github.com/coursebridge/coursebridge/internal/cabinet/view"
	"github.com/coursebridge/coursebridge/internal/domain"
)

func (v *visitor) signIn(email, password string) reply {
	v.Helper()
	return v.post(view.PathSignIn, "email", email, "password", password)
}

func TestFirstSignIn(t *testing.T) {
	t.Parallel()
	each(t, func(o office) {
		v := o.visitor()
		v.get(view.PathOverview).leads(view.PathSignIn)
		link, err := url.Parse(o.company.SignInURL)
		if err != nil {
			o.Fatal(err)
		}
		v.post(link.Path, "password", "short", "repeat", "short").is(http.StatusUnprocessableEntity).has("Must have at least 12 characters")
		v.post(link.Path, "password", password, "repeat", "another").is(http.StatusUnprocessableEntity).has("This is not the same password.")
		v.enterBy(o.company.SignInURL)
		v.get(view.PathSignIn).leads(view.PathOverview)
		o.visitor().get(link.Path).is(http.StatusNotFound).has("works once")

		v.post(view.PathSignOut).leads(view.PathSignedOut)
		v.get(view.PathTokens + "?all=1").leads(view.PathSignIn + "?next=" + url.QueryEscape(view.PathTokens+"?all=1"))
		v.post(view.PathSignIn, "email", "Anna@Baltic.example", "password", password, "next", view.PathTokens).leads(view.PathTokens)
		v.post(view.PathSignOut)
		v.post(view.PathSignIn, "email", admin, "password", password, "next", "//evil.example/x").leads(view.PathOverview)
	})
}

func TestWrongPasswordTellsNothing(t *testing.T) {
	t.Parallel()
	each(t, func(o office) {
		o.enter()
		v := o.visitor()
		known := v.signIn(admin, "a wrong password, plainly").is(http.StatusUnprocessableEntity).has(domain.ErrSignIn.Message)
		unknown := v.signIn("nobody@baltic.example", "a wrong password, plainly").is(http.StatusUnprocessableEntity)
		if got := strings.ReplaceAll(unknown.raw, "nobody@baltic.example", admin); got != known.raw {
			o.Errorf("known and unknown addresses are answered differently:\n%s\n%s", known.main(), unknown.main())
		}
		// The waits grow, so that even on a slow machine one of them is met.
		const tries = 20
		for n := 0; ; n++ {
			r := v.signIn(admin, "a wrong password, plainly").is(http.StatusUnprocessableEntity)
			if strings.Contains(r.text, "Too many attempts. You can try again") {
				break
			}
			if n == tries {
				o.Fatalf("%d wrong passwords in a row are taken", tries)
			}
		}
		v.get(view.PathOverview).leads(view.PathSignIn)
	})
}

// code is what an app shows for a secret, the given number of steps from now.
func code(o office, secret string, steps int64) string {
	o.Helper()
	key, err := base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString(secret)
	if err != nil {
		o.Fatal(err)
	}
	return domain.TOTPCode(key, domain.TOTPStep(time.Now())+steps)
}

func TestSecondFactor(t *testing.T) {
	t.Parallel()
	each(t, func(o office) {
		v := o.enter()
		v.post(view.PathSecondFactor, "current", "a wrong password, plainly").is(http.StatusUnprocessableEntity).has("The password is wrong.")
		secret := v.post(view.PathSecondFactor, "current", password).is(http.StatusOK).secret()
		v.post(view.PathSecondFactor, "code", "000000x").is(http.StatusUnprocessableEntity).has("The code is wrong", secret)
		recovery := v.post(view.PathSecondFactor, "code", code(o, secret, -1)).is(http.StatusOK).find(`<li>([a-z2-7-]{19})</li>`)

		other := o.visitor()
		other.signIn(admin, password).leads(view.PathSignInCode).has("six digits")
		other.get(view.PathOverview).leads(view.PathSignIn)
		other.post(view.PathSignInCode, "code", "000000x").is(http.StatusUnprocessableEntity).has("The code is wrong")
		other.post(view.PathSignInCode, "code", code(o, secret, 0)).leads(view.PathOverview)

		other = o.visitor()
		other.signIn(admin, password).leads(view.PathSignInCode)
		other.get(view.PathSignInCode + "?kind=recovery").is(http.StatusOK).has("recovery codes you kept")
		other.post(view.PathSignInCode, "kind", "recovery", "code", "aaaa-aaaa-aaaa-aaaa").is(http.StatusUnprocessableEntity).has("recovery codes you kept")
		other.post(view.PathSignInCode, "kind", "recovery", "code", recovery).leads(view.PathOverview)
		other.get(view.PathMySignIn).is(http.StatusOK).has("9 recovery codes left", "Last changed", " since ")

		other.post(view.PathRecovery, "current", password).is(http.StatusOK).has("Keep these now").lacks(recovery)
		other.post(view.PathSecondOff, "current", password).leads(view.PathMySignIn).has("The second factor is off.")
		o.visitor().signIn(admin, password).leads(view.PathOverview)
	})
}

func TestSessionsEnd(t *testing.T) {
	t.Parallel()
	each(t, func(o office) {
		here, there, third := o.enter(), o.visitor(), o.visitor()
		there.signIn(admin, password).leads(view.PathOverview)
		list := here.get(view.PathSessions).is(http.StatusOK).has("2 sessions", "this one")
		here.post(list.find(`action="(`+view.PathSessions+`/\d+/end)"`)).leads(view.PathSessions).has("The session has ended.", "1 session")
		there.get(view.PathOverview).leads(view.PathSignIn)

		third.signIn(admin, password).leads(view.PathOverview)
		here.get(view.PathEndOthers).is(http.StatusOK)
		here.post(view.PathEndOthers).leads(view.PathSessions).has("1 session")
		third.get(view.PathOverview).leads(view.PathSignIn)

		third.signIn(admin, password).leads(view.PathOverview)
		const changed = "other words that differ now"
		here.post(view.PathPassword, "current", "not this one at all", "password", changed, "repeat", changed).is(http.StatusUnprocessableEntity).has("The password is wrong.")
		here.post(view.PathPassword, "current", password, "password", changed, "repeat", changed).leads(view.PathMySignIn).has("Your password is changed.")
		third.get(view.PathOverview).leads(view.PathSignIn)
		third.signIn(admin, password).is(http.StatusUnprocessableEntity)
		third.signIn(admin, changed).leads(view.PathOverview)
	})
}

func TestCookies(t *testing.T) {
	t.Parallel()
	for name, address := range map[string]string{"http": "", "https": "https://cabinet.example"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := apptest.Start(t, apptest.Options{Config: func(c *app.Config) { c.PublicURL = address }})
			o := office{T: t, program: p}
			o.company = o.found("Baltic Freight", admin)
			link, err := url.Parse(o.company.SignInURL)
			if err != nil {
				t.Fatal(err)
			}
			v := o.visitor()
			r := v.post(link.Path, "password", password, "repeat", password).is(http.StatusSeeOther)
			theme := v.post(view.PathTheme, "theme", "dark", "back", view.PathSignIn).is(http.StatusSeeOther)
			for _, cookie := range append((&http.Response{Header: r.header}).Cookies(), (&http.Response{Header: theme.header}).Cookies()...) {
				if !cookie.HttpOnly || cookie.SameSite != http.SameSiteLaxMode || cookie.Path != "/" || cookie.Domain != "" {
					t.Errorf("loose cookie: %s", cookie)
				}
				if cookie.Secure != (name == "https") || strings.HasSuffix(cookie.Name, "session") && strings.HasPrefix(cookie.Name, "__Host-") != cookie.Secure {
					t.Errorf("over %s: %s", name, cookie)
				}
			}
			if got := len((&http.Response{Header: r.header}).Cookies()); got != 1 {
				t.Errorf("%d cookies at sign-in", got)
			}
		})
	}
}
