package cabinet_test

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/coursebridge/coursebridge/internal/app"
	"github.com/coursebridge/coursebridge/internal/apptest"
	"github.com/coursebridge/coursebridge/internal/cabinet/view"
)

func TestWebhookForm(t *testing.T) {
	t.Parallel()
	each(t, func(o office) {
		v := o.enter()
		v.get(view.PathWebhookNew).is(http.StatusOK).has("http or https, reachable")
		v.post(view.PathWebhookNew, "url", "ftp://files.example/x", "description", "Payroll", "event", "employee.removed").
			is(http.StatusUnprocessableEntity).has(`value="ftp://files.example/x"`, `value="Payroll"`, `id="url-error"`)
		v.post(view.PathWebhookNew, "url", "https://hr.example/x", "description", "Payroll").is(http.StatusUnprocessableEntity).has("Must name at least one event.")
		v.post(view.PathWebhookCheck, "url", "ftp://files.example/x").is(http.StatusOK).has("problem")

		receiver := o.receiver(http.StatusOK)
		path := v.addWebhook(receiver.URL)
		v.get(path).is(http.StatusOK).has("never").lacks("whsec_A")
		v.post(path+"/test").is(http.StatusOK).has("Test event delivered", "200", "the receiver").lacks("Open the delivery")
		if got := o.hears(receiver).Get("X-Service-Event"); got != "employee.joined" {
			o.Errorf("the test event is %q", got)
		}
		receiver.answer(http.StatusTeapot)
		v.post(path+"/test").is(http.StatusOK).has("Test event not delivered", "418")
		v.get(view.PathAudit+"?action=webhook.").is(http.StatusOK).
			has("Webhook tested", "employee.joined was accepted: status 200 after", "employee.joined was not accepted: status 418 after")

		secret := v.post(path + "/secret").is(http.StatusOK).secret()
		rotated := v.post(path + "/rotate").is(http.StatusOK).has("The previous secret signs too until").secret()
		if secret == rotated {
			o.Error("the secret stays after rotation")
		}
		v.post(path+"/edit", "url", receiver.URL, "description", "Payroll", "event", "employee.removed").leads(path).has("The webhook is saved.", "Payroll", "employee.removed")
		v.post(path + "/disable").leads(path).has("This webhook is disabled")
		v.post(path + "/enable").is(http.StatusUnprocessableEntity).has("stays disabled")
		v.post(path+"/enable", "force", "1").leads(path).has("The webhook is enabled.")
		v.post(path+"/remove").leads(view.PathWebhooks).has("The webhook is removed.", "No webhooks yet")
		v.get(path).is(http.StatusNotFound)
	})
}

func TestWebhookFormWithoutHTTP(t *testing.T) {
	t.Parallel()
	eachWith(t, apptest.Options{Serve: func(c *app.ServeConfig) { c.Webhooks.AllowHTTP = false }}, func(o office) {
		v := o.enter()
		v.get(view.PathWebhookNew).is(http.StatusOK).has("https, reachable").lacks("http or https")
		v.post(view.PathWebhookNew, "url", "http://hr.example/x", "event", "employee.removed").is(http.StatusUnprocessableEntity).has("https, reachable").lacks("http or https")
	})
}

func TestFailingDeliveryIsRedelivered(t *testing.T) {
	t.Parallel()
	eachWith(t, apptest.Options{Serve: slowRetries}, func(o office) {
		v := o.enter()
		receiver := o.receiver(http.StatusInternalServerError)
		_, token := v.createToken("HR sync")
		webhook := v.addWebhook(receiver.URL)
		o.hire(token, 1, 1)
		o.hears(receiver)
		path := v.until(view.PathDeliveries+"?state=failing", "HR-1").has("Retrying").find(`href="(` + view.PathDeliveries + `/[0-9a-f-]{36})"`)
		v.get(path).is(http.StatusOK).has("Attempt 1", "500", "X-Service-Signature", "the receiver", "curl", "next attempt", "HR-1")
		v.get(webhook).is(http.StatusOK).has("HR-1").lacks("never")

		receiver.answer(http.StatusOK)
		v.post(path + "/redeliver").leads(path).has("The delivery is sent again.")
		o.hears(receiver)
		v.until(path, "Delivered").has("Attempt 2", "asked for by "+admin)
		v.get(view.PathOverview).is(http.StatusOK).lacks("never")
	})
}

func TestRedeliverMany(t *testing.T) {
	t.Parallel()
	eachWith(t, apptest.Options{Serve: oneTry}, func(o office) {
		v := o.enter()
		receiver := o.receiver(http.StatusInternalServerError)
		_, token := v.createToken("HR sync")
		hook := v.addWebhook(receiver.URL)
		const people = 3
		o.hire(token, 1, people)
		for _, name := range []string{"HR-1", "HR-2", "HR-3"} {
			v.until(view.PathDeliveries+"?state=failed&q="+name, view.PathDeliveries+"/0")
		}
		receiver.answer(http.StatusOK)
		v.get(view.PathRedeliver + "?count=1&from=soon").is(http.StatusOK).has("Enter a date and time")
		v.get(view.PathRedeliver + "?count=1&state=held").is(http.StatusOK).has("Nothing to redeliver")
		v.get(view.PathRedeliver+"?count=1&state=failed").is(http.StatusOK).has("3 deliveries fit", "Redeliver 3")
		v.post(view.PathRedeliver, "state", "failed", "from", "soon").is(http.StatusUnprocessableEntity).has("Enter a date and time")
		started := v.post(view.PathRedeliver, "state", "failed").is(http.StatusSeeOther)
		v.until(started.header.Get("Location"), "Done").has("of 3 deliveries queued again", admin, "Failed deliveries, up to ", view.PathDeliveries+"?to=")
		narrow := v.post(view.PathRedeliver, "state", "both", "endpoint", hook[len(view.PathWebhooks)+1:], "event", "employee.joined", "from", "2026-01-02T03:04")
		v.get(narrow.is(http.StatusSeeOther).header.Get("Location")).is(http.StatusOK).
			has("Failed and held deliveries of employee.joined to ", "from 2 Jan 2026, 03:04 to ")
		for _, name := range []string{"HR-1", "HR-2", "HR-3"} {
			v.until(view.PathDeliveries+"?state=delivered&q="+name, view.PathDeliveries+"/0")
		}
	})
}

func TestDeliveryLog(t *testing.T) {
	t.Parallel()
	each(t, func(o office) {
		v := o.enter()
		v.get(view.PathDeliveries).is(http.StatusOK).has("Add a webhook first")
		receiver := o.receiver(http.StatusOK)
		_, token := v.createToken("HR sync")
		webhook := v.addWebhook(receiver.URL)
		const people = 55
		o.hire(token, 1, people)
		for range people {
			o.hears(receiver)
		}
		endpoint := webhook[len(view.PathWebhooks)+1:]
		first := v.get(view.PathDeliveries).is(http.StatusOK).has("HR-55", "HR-6<").lacks("HR-5<")
		next := first.find(`href="(` + view.PathDeliveries + `\?after=[^"]+)"`)
		v.get(next).is(http.StatusOK).has("HR-5<", "HR-1<").lacks("HR-6<")
		v.get(view.PathDeliveries + "?after=bm9uc2Vuc2U").is(http.StatusOK)
		v.get(view.PathDeliveries + "?after=" + "MSBub3QtYW4taWQ").is(http.StatusNotFound)

		v.until(view.PathDeliveries+"?state=delivered&endpoint="+endpoint+"&event=employee.joined&q=HR-7", "HR-7<").lacks("HR-8<")
		id := v.get(view.PathDeliveries + "?q=HR-7").find(`href="` + view.PathDeliveries + `/([0-9a-f-]{36})"`)
		v.get(view.PathDeliveries + "?q=" + id).is(http.StatusOK).has("HR-7<").lacks("HR-8<")
		for _, filter := range []string{"event=employee.removed", "state=failed", "state=held", "state=failing", "to=2001-01-01T00:00", "q=nobody", "endpoint=999999"} {
			v.get(view.PathDeliveries + "?" + filter).is(http.StatusOK).has("Nothing matches").lacks("HR-7<")
		}
		v.get(view.PathDeliveries + "?from=2001-01-01T00:00").is(http.StatusOK).has("HR-55")
		v.get(view.PathDeliveries + "?q=" + url.QueryEscape("\x00\xff")).is(http.StatusOK)
	})
}

func TestSearchByAnIDThatLooksLikeADelivery(t *testing.T) {
	t.Parallel()
	each(t, func(o office) {
		const person = "0190b0f2-7a3c-7c00-8000-00000000abcd"
		v := o.enter()
		receiver := o.receiver(http.StatusOK)
		_, token := v.createToken("HR sync")
		v.addWebhook(receiver.URL)
		body := map[string]string{"externalId": person, "email": "p@baltic.example", "name": "P"}
		if got := o.call(token, http.MethodPost, "/employees/provision", body); got != http.StatusOK {
			o.Fatalf("provision: %d", got)
		}
		o.hears(receiver)
		v.get(view.PathDeliveries + "?q=" + person).is(http.StatusOK).has("employee.joined").lacks("Nothing matches")
	})
}
