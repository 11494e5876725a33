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

func (v *visitor) signIn(email, password string) response {
	v.Helper()
	return v.post(view.PathSignIn, "email", email, "password", password)
}

func TestFirstSignIn(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(f fixture) {
		v := f.visitor()
		v.get(view.PathHome).wantRedirect(view.PathSignIn)
		link, err := url.Parse(f.company.SignInURL)
		if err != nil {
			f.Fatal(err)
		}
		v.post(link.Path, "password", "short", "repeat", "short").wantStatus(http.StatusUnprocessableEntity).wantText("Use at least 12 characters")
		v.post(link.Path, "password", password, "repeat", "another").wantStatus(http.StatusUnprocessableEntity).wantText("The passwords don't match.", `value="`+password+`"`, `value="another"`)
		v.useLink(f.company.SignInURL)
		v.get(view.PathSignIn).wantRedirect(view.PathHome)
		f.visitor().get(link.Path).wantStatus(http.StatusNotFound).wantText("works once")

		v.post(view.PathSignOut).wantRedirect(view.PathSignedOut)
		v.get(view.PathTokens + "?all=1").wantRedirect(view.PathSignIn + "?next=" + url.QueryEscape(view.PathTokens+"?all=1"))
		v.post(view.PathSignIn, "email", "Anna@Baltic.example", "password", password, "next", view.PathTokens).wantRedirect(view.PathTokens)
		v.post(view.PathSignOut)
		v.post(view.PathSignIn, "email", admin, "password", password, "next", "//evil.example/x").wantRedirect(view.PathHome)
	})
}

func TestWrongPasswordTellsNothing(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(f fixture) {
		f.administrator()
		v := f.visitor()
		known := v.signIn(admin, "a wrong password, plainly").wantStatus(http.StatusUnprocessableEntity).wantText(domain.ErrWrongCredentials.Message)
		unknown := v.signIn("nobody@baltic.example", "a wrong password, plainly").wantStatus(http.StatusUnprocessableEntity)
		if got := strings.ReplaceAll(unknown.raw, "nobody@baltic.example", admin); got != known.raw {
			f.Errorf("known and unknown addresses are answered differently:\n%s\n%s", known.mainText(), unknown.mainText())
		}
		// The waits grow, so that even on a slow machine one of them is met.
		const tries = 20
		for n := 0; ; n++ {
			r := v.signIn(admin, "a wrong password, plainly").wantStatus(http.StatusUnprocessableEntity)
			if strings.Contains(r.text, "Too many attempts. You can try again") {
				break
			}
			if n == tries {
				f.Fatalf("%d wrong passwords in a row are taken", tries)
			}
		}
		v.get(view.PathHome).wantRedirect(view.PathSignIn)
	})
}

// totpCode returns what an app shows for a secret, the given number of steps from now.
func totpCode(f fixture, secret string, steps int64) string {
	f.Helper()
	key, err := base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString(secret)
	if err != nil {
		f.Fatal(err)
	}
	return domain.TOTPCode(key, domain.TOTPStep(time.Now())+steps)
}

func TestSecondFactor(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(f fixture) {
		v := f.administrator()
		v.post(view.PathSecondFactor, "current", "a wrong password, plainly").wantStatus(http.StatusUnprocessableEntity).wantText("The password is wrong")
		secret := v.post(view.PathSecondFactor, "current", password).wantRedirect(view.PathSecondFactor).secret()
		v.post(view.PathSecondFactor, "code", "000000x").wantStatus(http.StatusUnprocessableEntity).wantText("The code is wrong", secret).wantNoText("recovery code")
		recovery := v.post(view.PathSecondFactor, "code", totpCode(f, secret, -1)).wantRedirect(view.PathRecoveryCodes).find(`<li>([a-z2-7-]{19})</li>`)

		other := f.visitor()
		other.signIn(admin, password).wantRedirect(view.PathSignInCode).wantText("six-digit code")
		other.get(view.PathHome).wantRedirect(view.PathSignIn)
		other.post(view.PathSignInCode, "code", "000000x").wantStatus(http.StatusUnprocessableEntity).wantText("The code is wrong")
		other.post(view.PathSignInCode, "code", totpCode(f, secret, 0)).wantRedirect(view.PathHome)

		other = f.visitor()
		other.signIn(admin, password).wantRedirect(view.PathSignInCode)
		other.get(view.PathSignInCode + "?kind=recovery").wantStatus(http.StatusOK).wantText("recovery codes")
		other.post(view.PathSignInCode, "kind", "recovery", "code", "aaaa-aaaa-aaaa-aaaa").wantStatus(http.StatusUnprocessableEntity).wantText("recovery codes")
		other.post(view.PathSignInCode, "kind", "recovery", "code", recovery).wantRedirect(view.PathHome)
		other.get(view.PathMySignIn).wantStatus(http.StatusOK).wantText("9 recovery codes left", "Last changed", " since ")

		other.post(view.PathRecovery, "current", password).wantRedirect(view.PathRecoveryCodes).wantText("Save these codes").wantNoText(recovery)
		other.get(view.PathRecoveryCodes).wantRedirect(view.PathMySignIn)
		other.post(view.PathRemoveSecondFactor, "current", password).wantRedirect(view.PathMySignIn).wantText("Two-step verification is off.")
		f.visitor().signIn(admin, password).wantRedirect(view.PathHome)
	})
}

func TestSessionsEnd(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(f fixture) {
		here, there, third := f.administrator(), f.visitor(), f.visitor()
		there.signIn(admin, password).wantRedirect(view.PathHome)
		list := here.get(view.PathSessions).wantStatus(http.StatusOK).wantText("2 sessions", "this device")
		here.post(list.find(`action="(`+view.PathSessions+`/\d+/end)"`)).wantRedirect(view.PathSessions).wantText("The session has ended.", "1 session")
		there.get(view.PathHome).wantRedirect(view.PathSignIn)

		third.signIn(admin, password).wantRedirect(view.PathHome)
		here.get(view.PathEndOthers).wantStatus(http.StatusOK)
		here.post(view.PathEndOthers).wantRedirect(view.PathSessions).wantText("1 session")
		third.get(view.PathHome).wantRedirect(view.PathSignIn)

		third.signIn(admin, password).wantRedirect(view.PathHome)
		const changed = "other words that differ now"
		here.post(view.PathPassword, "current", "not this one at all", "password", changed, "repeat", changed).wantStatus(http.StatusUnprocessableEntity).wantText("The password is wrong")
		here.post(view.PathPassword, "current", password, "password", changed, "repeat", "something else").wantStatus(http.StatusUnprocessableEntity).
			wantText("The passwords don't match.", `value="`+password+`"`, `value="`+changed+`"`, `value="something else"`)
		here.post(view.PathPassword, "current", password, "password", changed, "repeat", changed).wantRedirect(view.PathMySignIn).wantText("Password changed.")
		third.get(view.PathHome).wantRedirect(view.PathSignIn)
		third.signIn(admin, password).wantStatus(http.StatusUnprocessableEntity)
		third.signIn(admin, changed).wantRedirect(view.PathHome)
	})
}

func TestCookies(t *testing.T) {
	t.Parallel()
	for name, address := range map[string]string{"http": "", "https": "https://cabinet.example"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := apptest.Start(t, apptest.Options{Config: func(c *app.Config) { c.PublicURL = address }})
			f := fixture{T: t, program: p}
			f.company = f.createCompany("Baltic Freight", admin)
			link, err := url.Parse(f.company.SignInURL)
			if err != nil {
				t.Fatal(err)
			}
			v := f.visitor()
			r := v.post(link.Path, "password", password, "repeat", password).wantStatus(http.StatusSeeOther)
			theme := v.post(view.PathTheme, "theme", "dark", "back", view.PathSignIn).wantStatus(http.StatusSeeOther)
			for _, cookie := range append((&http.Response{Header: r.header}).Cookies(), (&http.Response{Header: theme.header}).Cookies()...) {
				if !cookie.HttpOnly || cookie.SameSite != http.SameSiteLaxMode || cookie.Path != "/" || cookie.Domain != "" {
					t.Errorf("loose cookie: %s", cookie)
				}
				if cookie.Secure != (name == "https") || !strings.HasSuffix(cookie.Name, "theme") && strings.HasPrefix(cookie.Name, "__Host-") != cookie.Secure {
					t.Errorf("over %s: %s", name, cookie)
				}
			}
			if got := len((&http.Response{Header: r.header}).Cookies()); got != 2 {
				t.Errorf("%d cookies at sign-in, want the session's and the device's", got)
			}
		})
	}
}
