package cabinet_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/coursebridge/coursebridge/internal/cabinet/view"
)

const colleague = "boris@baltic.example"

func TestInviteAndRemove(t *testing.T) {
	t.Parallel()
	each(t, func(o office) {
		anna := o.enter()
		anna.post(view.PathInvite, "email", "not an address").is(http.StatusUnprocessableEntity).has("not an address")
		anna.post(view.PathInvite, "email", admin).is(http.StatusUnprocessableEntity).has("Is an administrator of the company already.")
		anna.post(view.PathInvite, "email", colleague, "name", strings.Repeat("x", 300)).is(http.StatusUnprocessableEntity).has("at most")
		first := anna.post(view.PathInvite, "email", colleague, "name", " Boris Ozols ").is(http.StatusOK).secret()
		again := anna.get(view.PathAdministrators).is(http.StatusOK).has(colleague, "Boris Ozols", "Invited").find(`href="(` + view.PathAdministrators + `/\d+/link)"`)
		anna.get(again).is(http.StatusOK).has("The link made before works no more.")
		link := anna.post(again).is(http.StatusOK).secret()

		boris := o.visitor()
		old, err := url.Parse(first)
		if err != nil {
			o.Fatal(err)
		}
		boris.get(old.Path).is(http.StatusNotFound)
		boris.enterBy(link)
		boris.get(view.PathAdministrators).is(http.StatusOK).has("2 administrators", "Boris Ozols")

		remove := anna.get(view.PathAdministrators).is(http.StatusOK).find(`href="(` + view.PathAdministrators + `/\d+/remove)"`)
		anna.get(remove).is(http.StatusOK).has("Remove Boris Ozols?")
		anna.post(remove).leads(view.PathAdministrators).has(colleague+" was removed.", "1 administrator")
		boris.get(view.PathOverview).is(http.StatusSeeOther)
		boris.signIn(colleague, password).is(http.StatusUnprocessableEntity)
		anna.post(remove).is(http.StatusNotFound)
	})
}

func TestInvitationIsWithdrawn(t *testing.T) {
	t.Parallel()
	each(t, func(o office) {
		anna := o.enter()
		anna.post(view.PathInvite, "email", colleague).is(http.StatusOK)
		invited := anna.get(view.PathAdministrators).is(http.StatusOK).find(`href="(` + view.PathAdministrators + `/\d+/remove)"`)
		anna.post(invited).leads(view.PathAdministrators).has("1 administrator")
		own := anna.get(view.PathAudit + "?action=administrator.").is(http.StatusOK)
		own.has("Administrator invited", "Administrator uninvited")
	})
}

func TestCompaniesAreApart(t *testing.T) {
	t.Parallel()
	each(t, func(o office) {
		anna := o.enter()
		receiver := o.receiver(http.StatusOK)
		token, secret := anna.createToken("HR sync")
		webhook := anna.addWebhook(receiver.URL)
		o.hire(secret, 1, 1)
		o.hears(receiver)
		delivery := anna.until(view.PathDeliveries+"?state=delivered", "HR-1").find(`href="(` + view.PathDeliveries + `/[0-9a-f-]{36})"`)

		rival := o.visitor()
		rival.enterBy(o.found("Rival", "zoe@rival.example").SignInURL)
		for _, path := range []string{
			token, token + "/rename", token + "/revoke", webhook, webhook + "/edit", webhook + "/rotate", webhook + "/disable",
			webhook + "/enable", webhook + "/remove", delivery,
		} {
			rival.get(path).is(http.StatusNotFound).lacks("HR sync", "HR-1", receiver.URL)
		}
		for _, path := range []string{
			token + "/rename", token + "/revoke", webhook + "/edit", webhook + "/rotate", webhook + "/disable", webhook + "/enable",
			webhook + "/remove", webhook + "/secret", webhook + "/test", delivery + "/redeliver",
		} {
			rival.post(path, "name", "stolen").is(http.StatusNotFound)
		}
		rival.get(view.PathDeliveries + "?q=HR-1").is(http.StatusOK).has("Nothing matches")
		rival.get(view.PathAudit).is(http.StatusOK).lacks("HR sync", admin)
		rival.get(view.PathAdministrators).is(http.StatusOK).lacks(admin)
		anna.get(token).is(http.StatusOK).has("HR sync")
	})
}
