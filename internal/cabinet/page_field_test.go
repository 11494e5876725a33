package cabinet

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

// A database refuses NUL and invalid UTF-8; a password may be any bytes.
func TestFieldsAreCleaned(t *testing.T) {
	t.Parallel()
	form := url.Values{"name": {"A\x00nn\xff"}, "password": {"A\x00nn\xff"}}
	p := &page{r: httptest.NewRequest(http.MethodPost, "/", strings.NewReader(form.Encode()))}
	p.r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if got := p.field("name"); got != "Ann" {
		t.Errorf("the name is %q", got)
	}
	if got := p.rawField("password"); got != "A\x00nn\xff" {
		t.Errorf("the password is %q", got)
	}
}
