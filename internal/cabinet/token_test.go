package cabinet_test

import (
	"net/http"
	"testing"

	"github.com/coursebridge/coursebridge/internal/cabinet/view"
)

func TestTokenFromCreationToRevocation(t *testing.T) {
	t.Parallel()
	each(t, func(o office) {
		v := o.enter()
		v.post(view.PathTokenNew, "name", "  ", "expiry", "date", "date", "2001-01-01", "allowed", "not an address").is(http.StatusUnprocessableEntity).
			has("Choose at least one", "The date must lie in the future.", "not an address")
		v.post(view.PathTokenNew, "name", "Payroll & HR", "expiry", "30").is(http.StatusUnprocessableEntity).has(`value="Payroll & HR"`, "Choose at least one")
		path, secret := v.createToken("HR sync")
		if got := o.call(secret, http.MethodGet, "/token", nil); got != http.StatusOK {
			o.Fatalf("the token answers %d", got)
		}
		v.get(path).is(http.StatusOK).has("HR sync", secret[len(secret)-4:]).lacks(secret)
		v.post(path+"/rename", "name", "").is(http.StatusUnprocessableEntity)
		v.post(path+"/rename", "name", "HR sync, production").leads(path).has("The token is renamed.", "HR sync, production")
		v.get(path + "/revoke").is(http.StatusOK).has("HR sync, production")
		v.post(path + "/revoke").leads(view.PathTokens).has("is revoked.")
		if got := o.call(secret, http.MethodGet, "/token", nil); got != http.StatusUnauthorized {
			o.Fatalf("the revoked token answers %d", got)
		}
		v.get(view.PathTokens+"?all=1").is(http.StatusOK).has("HR sync, production", "Revoked")
	})
}
