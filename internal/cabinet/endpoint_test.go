package cabinet_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/coursebridge/coursebridge/internal/app"
	"github.com/coursebridge/coursebridge/internal/apptest"
	"github.com/coursebridge/coursebridge/internal/cabinet/view"
	"github.com/coursebridge/coursebridge/internal/domain"
)

func TestWebhookForm(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(f fixture) {
		v := f.administrator()
		v.get(view.PathWebhookNew).wantStatus(http.StatusOK).wantText("Starts with https:// or http://")
		v.post(view.PathWebhookNew, "url", "ftp://files.example/x", "description", "Payroll", "event", "employee.removed").
			wantStatus(http.StatusUnprocessableEntity).wantText(`value="ftp://files.example/x"`, `value="Payroll"`, "The URL must start with https:// or http://,")
		v.post(view.PathWebhookNew, "url", "https://hr.example/x", "description", "Payroll").wantStatus(http.StatusUnprocessableEntity).wantText("Choose at least one event.")
		v.post(view.PathWebhookCheck, "url", "ftp://files.example/x").wantStatus(http.StatusOK).wantText("problem")

		receiver := f.receiver(http.StatusOK)
		path := v.addWebhook(receiver.URL)
		v.get(path).wantStatus(http.StatusOK).wantText("never").wantNoText("whsec_A")
		v.post(path+"/test").follow().wantText("Test event delivered", "200", "the receiver", "Open the delivery")
		v.get(path).wantStatus(http.StatusOK).wantNoText("Test event delivered")
		if got := f.awaitRequest(receiver).Get("X-Service-Event"); got != "employee.joined" {
			f.Errorf("the test event is %q", got)
		}
		receiver.answer(http.StatusTeapot)
		v.post(path+"/test", "event", "assignment.overdue").follow().wantText("Test event not delivered", "418")
		v.get(view.PathDeliveries).wantStatus(http.StatusOK).wantText("2 deliveries", `<span class="tag tone-blue">test</span>`, "assignment.overdue")
		v.get(view.PathAudit+"?action=webhook.").wantStatus(http.StatusOK).
			wantText("Webhook tested", "employee.joined was accepted: status 200 after", "assignment.overdue was not accepted: status 418 after")

		secret := v.post(path + "/secret").follow().secret()
		rotated := v.post(path + "/rotate").follow().wantText("are also signed with the previous secret").secret()
		if secret == rotated {
			f.Error("the secret stays after rotation")
		}
		v.post(path+"/edit", "url", receiver.URL, "description", "Payroll", "event", "employee.removed").wantRedirect(path).wantText("Webhook saved.", "Payroll", "employee.removed")
		v.post(path + "/disable").wantRedirect(path).wantText("This webhook is disabled")
		v.post(path+"/enable").wantRedirect(path+"/enable").wantText("stays disabled", "Enable without a test")
		v.post(path+"/enable", "force", "1").wantRedirect(path).wantText("Webhook enabled.")
		v.post(path+"/remove").wantRedirect(view.PathWebhooks).wantText("Webhook removed.", "No webhooks yet")
		v.get(path).wantStatus(http.StatusNotFound)
	})
}

func TestWebhookFormWithoutHTTP(t *testing.T) {
	t.Parallel()
	onEachEngineWith(t, apptest.Options{Serve: func(c *app.ServeConfig) { c.Webhooks.AllowHTTP = false }}, func(f fixture) {
		v := f.administrator()
		v.get(view.PathWebhookNew).wantStatus(http.StatusOK).wantText("Starts with https:// and").wantNoText("or http://")
		v.post(view.PathWebhookNew, "url", "http://hr.example/x", "event", "employee.removed").wantStatus(http.StatusUnprocessableEntity).wantText("Starts with https:// and").wantNoText("or http://")
	})
}

func TestFailingDeliveryIsRedelivered(t *testing.T) {
	t.Parallel()
	onEachEngineWith(t, apptest.Options{Serve: slowRetries}, func(f fixture) {
		v := f.administrator()
		receiver := f.receiver(http.StatusInternalServerError)
		_, token := v.createToken("HR sync")
		webhook := v.addWebhook(receiver.URL)
		f.provision(token, 1, 1)
		f.awaitRequest(receiver)
		path := v.waitForText(view.PathDeliveries+"?state=retrying", "HR-1").wantText("Retrying").find(`href="(` + view.PathDeliveries + `/[0-9a-f-]{36})"`)
		v.get(path).wantStatus(http.StatusOK).wantText("Attempt 1", "500", "X-Service-Signature", "the receiver", "curl", "next attempt", "HR-1")
		v.get(webhook).wantStatus(http.StatusOK).wantText("HR-1").wantNoText("never")

		receiver.answer(http.StatusOK)
		v.post(path + "/redeliver").wantRedirect(path).wantText("The delivery is queued again.")
		f.awaitRequest(receiver)
		v.waitForText(path, "Delivered").wantText("Attempt 2", "requested by "+admin)
		v.get(view.PathOverview).wantStatus(http.StatusOK).wantNoText("never")
	})
}

func TestRedeliverMany(t *testing.T) {
	t.Parallel()
	onEachEngineWith(t, apptest.Options{Serve: quickFailure}, func(f fixture) {
		v := f.administrator()
		receiver := f.receiver(http.StatusInternalServerError)
		_, token := v.createToken("HR sync")
		hook := v.addWebhook(receiver.URL)
		const people = 3
		f.provision(token, 1, people)
		for _, name := range []string{"HR-1", "HR-2", "HR-3"} {
			v.waitForText(view.PathDeliveries+"?state=failed&q="+name, view.PathDeliveries+"/0")
		}
		receiver.answer(http.StatusOK)
		filtered := v.get(view.PathDeliveries + "?state=failed&event=employee.joined&period=7d&q=HR-1").find(`href="(` + view.PathRedeliver + `\?[^"]*)"`)
		v.get(filtered).wantStatus(http.StatusOK).wantText(`value="7d" selected`, `value="failed" selected`, `value="employee.joined" selected`, "HR-1")
		v.get(view.PathRedeliver + "?count=1&from=soon").wantStatus(http.StatusOK).wantText("Enter a date and time")
		v.get(view.PathRedeliver + "?count=1&state=held").wantStatus(http.StatusOK).wantText("Nothing to redeliver")
		v.get(view.PathRedeliver+"?count=1&state=failed").wantStatus(http.StatusOK).wantText("3 deliveries match", "Redeliver 3")
		v.post(view.PathRedeliver, "state", "failed", "from", "soon").wantStatus(http.StatusUnprocessableEntity).wantText("Enter a date and time")
		started := v.post(view.PathRedeliver, "state", "failed").wantStatus(http.StatusSeeOther)
		v.waitForText(started.header.Get("Location"), "Done").wantText("of 3 deliveries queued again", admin, "Failed deliveries, up to ", view.PathDeliveries+"?period=custom&to=")
		narrow := v.post(view.PathRedeliver, "state", "both", "endpoint", hook[len(view.PathWebhooks)+1:], "event", "employee.joined", "from", "2026-01-02T03:04")
		v.get(narrow.wantStatus(http.StatusSeeOther).header.Get("Location")).wantStatus(http.StatusOK).
			wantText("Failed and held deliveries of employee.joined to ", "from 2 Jan 2026, 03:04 to ")
		for _, name := range []string{"HR-1", "HR-2", "HR-3"} {
			v.waitForText(view.PathDeliveries+"?state=delivered&q="+name, view.PathDeliveries+"/0")
		}
		since := v.get(hook).wantText("Recover events", "Everything since").find(`name="from"[^>]* value="([^"]+)"`)
		recovering := view.PathRedeliver + "?count=1&period=custom&from=" + url.QueryEscape(since) + "&endpoint=" + hook[len(view.PathWebhooks)+1:]
		v.get(recovering + "&state=both").wantText("Nothing to redeliver")
		v.get(recovering + "&state=all").wantText("3 deliveries match")
		for len(receiver.got) > 0 {
			<-receiver.got
		}
		v.post(view.PathRedeliver, "state", "all", "endpoint", hook[len(view.PathWebhooks)+1:], "period", "custom", "from", since).wantStatus(http.StatusSeeOther)
		f.awaitRequest(receiver)
		v.get(view.PathWebhookEvents).wantText("employee.joined", "1 webhook of yours is subscribed", "Latest delivery", "sample.person@example.com")
	})
}

// A company's own headers reach the receiver; no page shows their values.
func TestWebhookOwnHeaders(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(f fixture) {
		v := f.administrator()
		receiver := f.receiver(http.StatusOK)
		hook := v.addWebhook(receiver.URL)
		form := []string{"url", receiver.URL, "event", "employee.joined"}
		save := func(headers, rate string) response {
			return v.post(hook+"/edit", append(form, "headers", headers, "rate", rate)...)
		}
		for bad, want := range map[string]string{
			"Host: example.com": "set by this service", "X-Service-Event: x": "set by this service", "nothing": "a colon", "X-Key:": "1 to 1024 characters",
			"X-Key: a\nx-key: b": "twice", "X Key: a": "letters, digits and hyphens", "X-Key: ключ": "plain ASCII", "X-Key: ••••••": "Enter the value",
			strings.Repeat("X-Key: a\n", 11): "at most 10",
		} {
			save(bad, "").wantStatus(http.StatusUnprocessableEntity).wantText(want)
		}
		save("", "0").wantStatus(http.StatusUnprocessableEntity).wantText("whole number")
		save("Authorization: Bearer top-secret\nX-Team: hr", "600").wantRedirect(hook).wantText("Authorization", "X-Team", "at most 600").wantNoText("top-secret")
		v.get(hook + "/edit").wantText("Authorization: ••••••").wantNoText("top-secret")
		save("Authorization: ••••••\nX-Team: it", "").wantRedirect(hook).wantText("no limit")
		_, token := v.createToken("HR sync")
		f.provision(token, 1, 1)
		if got := f.awaitRequest(receiver); got.Get("Authorization") != "Bearer top-secret" || got.Get("X-Team") != "it" {
			f.Errorf("the receiver got Authorization %q and X-Team %q", got.Get("Authorization"), got.Get("X-Team"))
		}
		delivery := v.waitForText(view.PathDeliveries+"?state=delivered", view.PathDeliveries+"/0").find(`href="(` + view.PathDeliveries + `/0[^"/]+)"`)
		v.get(delivery).wantText("X-Team", "••••••").wantNoText("top-secret")
		v.post(hook+"/test", "event", "employee.joined")
		if got := f.awaitRequest(receiver); got.Get("Authorization") != "Bearer top-secret" {
			f.Errorf("a test event carries Authorization %q", got.Get("Authorization"))
		}
	})
}

func TestDeliveryLog(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(f fixture) {
		v := f.administrator()
		v.get(view.PathDeliveries).wantStatus(http.StatusOK).wantText("Add a webhook first")
		receiver := f.receiver(http.StatusOK)
		_, token := v.createToken("HR sync")
		webhook := v.addWebhook(receiver.URL)
		const people = 55
		f.provision(token, 1, people)
		for range people {
			f.awaitRequest(receiver)
		}
		endpoint := webhook[len(view.PathWebhooks)+1:]
		first := v.get(view.PathDeliveries).wantStatus(http.StatusOK).wantText("HR-55", "HR-6<").wantNoText("HR-5<")
		next := first.find(`href="(` + view.PathDeliveries + `\?after=[^"]+)"`)
		v.get(next).wantStatus(http.StatusOK).wantText("HR-5<", "HR-1<").wantNoText("HR-6<")
		for _, invalid := range []string{"nonsense", "MTc5NDgxODkyMTEyMyBvbGQ"} { // the second is in the format of older links
			v.get(view.PathDeliveries+"?after="+invalid).wantStatus(http.StatusOK).wantText("HR-55", "HR-6<").wantNoText("HR-5<")
		}

		v.waitForText(view.PathDeliveries+"?state=delivered&endpoint="+endpoint+"&event=employee.joined&q=HR-7", "HR-7<").wantNoText("HR-8<")
		id := v.get(view.PathDeliveries + "?q=HR-7").find(`href="` + view.PathDeliveries + `/([0-9a-f-]{36})"`)
		v.get(view.PathDeliveries + "?q=" + id).wantStatus(http.StatusOK).wantText("HR-7<").wantNoText("HR-8<")
		for _, filter := range []string{"event=employee.removed", "state=failed", "state=held", "state=retrying", "to=2001-01-01T00:00", "q=nobody", "endpoint=999999"} {
			v.get(view.PathDeliveries + "?" + filter).wantStatus(http.StatusOK).wantText("Nothing matches").wantNoText("HR-7<")
		}
		v.get(view.PathDeliveries + "?from=2001-01-01T00:00").wantStatus(http.StatusOK).wantText("HR-55")
		v.get(view.PathDeliveries + "?q=" + url.QueryEscape("\x00\xff")).wantStatus(http.StatusOK)
	})
}

func TestSearchByAnIDThatLooksLikeADelivery(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(f fixture) {
		const person = "0190b0f2-7a3c-7c00-8000-00000000abcd"
		v := f.administrator()
		receiver := f.receiver(http.StatusOK)
		_, token := v.createToken("HR sync")
		v.addWebhook(receiver.URL)
		body := map[string]string{"externalId": person, "email": "p@baltic.example", "name": "P"}
		if got := f.callAPI(token, http.MethodPost, "/employees/provision", body); got != http.StatusOK {
			f.Fatalf("provision: %d", got)
		}
		f.awaitRequest(receiver)
		v.get(view.PathDeliveries + "?q=" + person).wantStatus(http.StatusOK).wantText("employee.joined").wantNoText("Nothing matches")
	})
}

func TestEverySecretOfTheLastDaySigns(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(f fixture) {
		v := f.administrator()
		receiver := f.receiver(http.StatusOK)
		path := v.addWebhook(receiver.URL)
		secrets := []string{v.post(path + "/secret").follow().secret()}
		for n := range 2 {
			if warned := v.get(path + "/rotate").wantStatus(http.StatusOK); n > 0 {
				warned.wantText("already rotated in the last 24 hours")
			}
			secrets = append(secrets, v.post(path+"/rotate").follow().secret())
		}
		v.post(path + "/test").follow().wantText("Test event delivered")
		header := f.awaitRequest(receiver)
		previous := strings.Split(header.Get("X-Service-Signature-Previous"), ", ")
		if len(previous) != 2 || len(strings.Fields(header.Get("webhook-signature"))) != len(secrets) {
			f.Errorf("after two rotations the request is signed with %q and %q", header.Get("webhook-signature"), previous)
		}
	})
}

func TestEnablingOffersWhatWasHeld(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(f fixture) {
		v := f.administrator()
		_, token := v.createToken("HR sync")
		path := v.addWebhook(f.receiver(http.StatusOK).URL)
		v.post(path + "/disable").wantRedirect(path)
		f.provision(token, 1, 3)
		v.get(path).wantStatus(http.StatusOK).wantText("3 events are waiting.")
		offer := v.post(path + "/enable").wantRedirect(path).wantText("3 events were held").find(`href="(` + view.PathRedeliver + `\?[^"]*)"`)
		v.get(offer).wantStatus(http.StatusOK).wantText("3 deliveries match", "Redeliver 3")
	})
}

// A webhook whose own headers can't be decrypted is not sent without them, and its
// pages stay usable.
func TestHeadersThatCanNotBeDecrypted(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(f fixture) {
		v := f.administrator()
		receiver := f.receiver(http.StatusOK)
		webhook := v.addWebhook(receiver.URL)
		_, token := v.createToken("HR sync")
		f.exec(`UPDATE endpoints SET headers = $1`, []byte("\x01encrypted with another key"))
		f.provision(token, 1, 1)
		detail := v.waitForText(view.PathDeliveries+"?state=retrying", "HR-1").find(`href="(` + view.PathDeliveries + `/[0-9a-f-]{36})"`)
		v.get(detail).wantStatus(http.StatusOK).wantText("operator")
		v.get(webhook).wantStatus(http.StatusOK).wantText("Enter them again under Edit")
		v.get(webhook + "/edit").wantStatus(http.StatusOK).wantText("could not be decrypted")
		if n := len(receiver.got); n != 0 {
			t.Errorf("%d requests were sent without the headers", n)
		}
		form := []string{"url", receiver.URL, "event", "employee.joined", "headers"}
		v.post(webhook+"/edit", append(form, "X-Own: "+domain.HeaderMask)...).wantStatus(http.StatusUnprocessableEntity).wantText("Enter the value of X-Own")
		v.post(webhook+"/edit", append(form, "X-Own: again")...).wantStatus(http.StatusSeeOther)
		v.get(webhook).wantStatus(http.StatusOK).wantText("X-Own").wantNoText("Enter them again")
	})
}
