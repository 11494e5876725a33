package cabinet_test

import (
	"net/http"
	"testing"

	"github.com/coursebridge/coursebridge/internal/cabinet/view"
)

func TestFindGoesAnywhere(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(f fixture) {
		v := f.administrator()
		path, token := v.createToken("Payroll")
		f.provision(token, 1, 1)
		webhook := v.addWebhook(f.receiver(http.StatusOK).URL)
		v.get(view.PathFind).wantStatus(http.StatusOK).wantText(view.PathDeliveries, view.PathAudit)
		v.get(view.PathFind + "?q=PAY").wantStatus(http.StatusOK).wantText(`<a href="` + path + `">`)
		v.get(view.PathFind + "?q=deliv").wantStatus(http.StatusOK).wantText(`<a href="` + view.PathDeliveries + `">`)
		v.get(view.PathFind + "?q=127.").wantStatus(http.StatusOK).wantText(`<a href="` + webhook + `">`)
		v.get(view.PathFind + "?q=no-such-thing").wantStatus(http.StatusOK).wantText("Nothing begins with")
	})
}
