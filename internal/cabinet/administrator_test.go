package cabinet_test

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/coursebridge/coursebridge/internal/cabinet/view"
)

const colleague = "boris@baltic.example"

func TestInviteAndRemove(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(f fixture) {
		anna := f.administrator()
		anna.post(view.PathInvite, "email", "not an address").wantStatus(http.StatusUnprocessableEntity).wantText("not an address")
		anna.post(view.PathInvite, "email", admin).wantStatus(http.StatusUnprocessableEntity).wantText("Is an administrator of the company already.")
		anna.post(view.PathInvite, "email", colleague, "name", strings.Repeat("x", 300)).wantStatus(http.StatusUnprocessableEntity).wantText("at most")
		first := anna.post(view.PathInvite, "email", colleague, "name", " Boris Ozols ").follow().secret()
		again := anna.get(view.PathAdministrators).wantStatus(http.StatusOK).wantText(colleague, "Boris Ozols", "Invited").find(`href="(` + view.PathAdministrators + `/\d+/link)"`)
		anna.get(again).wantStatus(http.StatusOK).wantText("The previous link will stop working.")
		link := anna.post(again).follow().secret()

		boris := f.visitor()
		old, err := url.Parse(first)
		if err != nil {
			f.Fatal(err)
		}
		boris.get(old.Path).wantStatus(http.StatusNotFound)
		boris.useLink(link)
		boris.get(view.PathAdministrators).wantStatus(http.StatusOK).wantText("2 administrators", "Boris Ozols")

		remove := anna.get(view.PathAdministrators).wantStatus(http.StatusOK).find(`href="(` + view.PathAdministrators + `/\d+/remove)"`)
		anna.get(remove).wantStatus(http.StatusOK).wantText("Remove Boris Ozols?")
		anna.post(remove).wantRedirect(view.PathAdministrators).wantText(colleague+" has been removed.", "1 administrator")
		boris.get(view.PathHome).wantStatus(http.StatusSeeOther)
		boris.signIn(colleague, password).wantStatus(http.StatusUnprocessableEntity)
		anna.post(remove).wantStatus(http.StatusNotFound)
	})
}

func TestInvitationIsWithdrawn(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(f fixture) {
		anna := f.administrator()
		anna.post(view.PathInvite, "email", colleague).follow()
		invited := anna.get(view.PathAdministrators).wantStatus(http.StatusOK).find(`href="(` + view.PathAdministrators + `/\d+/remove)"`)
		anna.post(invited).wantRedirect(view.PathAdministrators).wantText("1 administrator")
		own := anna.get(view.PathAudit + "?action=administrator.").wantStatus(http.StatusOK)
		own.wantText("Administrator invited", "Administrator uninvited")
	})
}

// Someone who has a password keeps it when another company comes, whoever made the link.
func TestSecondCompanyNeedsNoNewPassword(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(f fixture) {
		anna := f.administrator()
		link, err := url.Parse(f.createCompany("Baltic Air", admin).SignInURL)
		if err != nil {
			f.Fatal(err)
		}
		f.visitor().get(link.Path).wantRedirect(view.PathSignIn + "?next=" + url.QueryEscape(link.Path))
		f.visitor().post(link.Path, "password", "four other words here", "repeat", "four other words here").wantStatus(http.StatusSeeOther)
		f.visitor().signIn(admin, password).wantRedirect(view.PathHome)
		anna.get(link.Path).wantStatus(http.StatusOK).wantText("Join Baltic Air?", "keep your current sign-in").wantNoText(`type="password"`)
		anna.post(link.Path).wantRedirect(view.PathHome).wantText("You are now an administrator", "switch company")
		anna.get(link.Path).wantStatus(http.StatusNotFound).wantText("works once")
	})
}

func TestCompaniesAreApart(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(f fixture) {
		anna := f.administrator()
		receiver := f.receiver(http.StatusOK)
		token, secret := anna.createToken("HR sync")
		webhook := anna.addWebhook(receiver.URL)
		f.provision(secret, 1, 1)
		f.awaitRequest(receiver)
		delivery := anna.waitForText(view.PathDeliveries+"?state=delivered", "HR-1").find(`href="(` + view.PathDeliveries + `/[0-9a-f-]{36})"`)

		rival := f.visitor()
		rival.useLink(f.createCompany("Rival", "zoe@rival.example").SignInURL)
		for _, path := range []string{
			token, token + "/rename", token + "/revoke", webhook, webhook + "/edit", webhook + "/rotate", webhook + "/disable",
			webhook + "/enable", webhook + "/remove", delivery,
		} {
			rival.get(path).wantStatus(http.StatusNotFound).wantNoText("HR sync", "HR-1", receiver.URL)
		}
		for _, path := range []string{
			token + "/rename", token + "/revoke", webhook + "/edit", webhook + "/rotate", webhook + "/disable", webhook + "/enable",
			webhook + "/remove", webhook + "/secret", webhook + "/test", delivery + "/redeliver",
		} {
			rival.post(path, "name", "stolen").wantStatus(http.StatusNotFound)
		}
		rival.get(view.PathDeliveries + "?q=HR-1").wantStatus(http.StatusOK).wantText("Nothing matches")
		rival.get(view.PathAudit).wantStatus(http.StatusOK).wantNoText("HR sync", admin)
		rival.get(view.PathAdministrators).wantStatus(http.StatusOK).wantNoText(admin)
		anna.get(token).wantStatus(http.StatusOK).wantText("HR sync")

		// A person who administers both switches between them on any page.
		rival.get(view.PathTokens).wantNoText("switch company")
		f.exec(`INSERT INTO company_administrators (company_id, administrator_id, added_at, added_by)
			SELECT $1, m.administrator_id, m.added_at, '' FROM company_administrators m WHERE m.company_id <> $1`, f.company.CompanyID)
		rival.get(view.PathTokens).wantText("switch company", "Baltic Freight", "Rival").wantNoText("HR sync")
		rival.post(view.PathCompanies, "company", strconv.FormatInt(f.company.CompanyID, 10)).wantStatus(http.StatusSeeOther)
		rival.get(view.PathTokens).wantStatus(http.StatusOK).wantText("HR sync")
	})
}
