package cabinet_test

import (
	"net/http"
	"testing"

	"github.com/coursebridge/coursebridge/internal/cabinet/view"
)

func TestTokenFromCreationToRevocation(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(f fixture) {
		v := f.administrator()
		v.post(view.PathTokenNew, "name", "  ", "expiry", "date", "date", "2001-01-01", "allowed", "not an address").wantStatus(http.StatusUnprocessableEntity).
			wantText("Choose at least one", "The date must lie in the future.", "not an address")
		v.post(view.PathTokenNew, "name", "Payroll & HR", "expiry", "30").wantStatus(http.StatusUnprocessableEntity).wantText(`value="Payroll & HR"`, "Choose at least one")
		path, secret := v.createToken("HR sync")
		if got := f.callAPI(secret, http.MethodGet, "/token", nil); got != http.StatusOK {
			f.Fatalf("the token answers %d", got)
		}
		v.get(path).wantStatus(http.StatusOK).wantText("HR sync", secret[len(secret)-4:]).wantNoText(secret)
		v.post(path+"/rename", "name", "").wantStatus(http.StatusUnprocessableEntity)
		v.post(path+"/rename", "name", "HR sync, production").wantRedirect(path).wantText("Token renamed.", "HR sync, production")
		v.get(path + "/revoke").wantStatus(http.StatusOK).wantText("HR sync, production")
		v.post(path + "/revoke").wantRedirect(view.PathTokens).wantText("has been revoked.")
		if got := f.callAPI(secret, http.MethodGet, "/token", nil); got != http.StatusUnauthorized {
			f.Fatalf("the revoked token answers %d", got)
		}
		v.get(view.PathTokens+"?all=1").wantStatus(http.StatusOK).wantText("HR sync, production", "Revoked")
	})
}
