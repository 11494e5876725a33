package cabinet_test

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/coursebridge/coursebridge/internal/apptest"
	"github.com/coursebridge/coursebridge/internal/cabinet"
	"github.com/coursebridge/coursebridge/internal/cabinet/view"
	"github.com/coursebridge/coursebridge/internal/store"
	"github.com/coursebridge/coursebridge/internal/store/storetest"
)

// secretMark is part of the texts of the victim that an attacker does not know.
const secretMark = "SecretOfTheVictim"

// ownFields hold no record: they choose what a form does, and an identifier there would
// keep the form from acting.
var ownFields = map[string]bool{
	"nonce": true, "everyone": true, "all": true, "listed": true, "when": true, "password": true, "current": true, "repeat": true,
	"code": true, "next": true, "after": true, "count": true, "theme": true, "kind": true, "back": true,
}

// readField matches the reading of a form field or of a query parameter.
var readField = regexp.MustCompile(`\b(?:field|fields|checked|query|get|Get|FormValue)\("([A-Za-z]+)"\)|(?:Form|Query\(\)|form|values)\["([A-Za-z]+)"\]`)

// foreignFields returns the form fields and query parameters that the pages read, from
// their sources, so that those of a new page are tried too.
func foreignFields(t testing.TB) []string {
	t.Helper()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{"person": true, "course": true, "tag": true}
	for _, path := range files {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range readField.FindAllStringSubmatch(string(text), -1) {
			if name := m[1] + m[2]; !ownFields[name] {
				names[name] = true
			}
		}
	}
	if len(names) < 25 {
		t.Fatalf("only these fields were found: %v", names)
	}
	return slices.Sorted(maps.Keys(names))
}

// The routing table lists all pages, so that a new one is attacked without
// anybody adding it here: an owner of one company opens each page and sends each form
// with every identifier of another company. No page may show anything of the other
// company, and none of its rows may change.
func TestNoPageReachesAnotherCompany(t *testing.T) {
	t.Parallel()
	onEachEngineWith(t, apptest.Options{Serve: noWebhooks}, func(f fixture) {
		s := f.store()
		victim := f.administrator()
		ids := victim.fillVictim(s)
		link := f.createCompany("Attacker", "mallory@attacker.example").SignInURL
		attacker := f.visitor()
		attacker.useLink(link)
		// What a form says in any case must not stop it before the identifier is looked at.
		form := url.Values{
			"name": {"mallory"}, "role": {"viewer"}, "scope": {"b2b_read"}, "expiry": {"90"}, "email": {"mallory@attacker.example"},
			"url": {"https://attacker.example/"}, "event": {"employee.joined"}, "confirm": {"yes"}, "state": {"failed"}, "states": {"failed"},
			"from": {"2020-01-01"}, "to": {"2040-01-01"}, "zone": {"UTC"}, "days": {"3"}, "timeZone": {"UTC"}, "deadlineDays": {"3"}, "date": {"2040-01-01"}, "deadline": {"2040-01-01"},
		}
		names := slices.DeleteFunc(foreignFields(f), form.Has)
		before := storetest.CompanyRows(f, s, f.company.CompanyID)
		for _, pattern := range cabinet.PrivatePatterns() {
			method, path, _ := strings.Cut(pattern, " ")
			if routeAccess[pattern] == own && !strings.Contains(path, "{") && path != view.PathCompanies {
				continue // changes the password of the attacker, or signs the attacker out
			}
			for _, id := range ids {
				for _, name := range names {
					form.Set(name, id)
				}
				attacker.tryPage(method, strings.Replace(path, "{id}", url.PathEscape(id), 1), form)
			}
		}
		if diff := cmp.Diff(before, storetest.CompanyRows(f, s, f.company.CompanyID)); diff != "" {
			f.Errorf("the attacker changed the victim's data (-before +after):\n%s", diff)
		}
		victim.get(view.PathTokens).wantStatus(http.StatusOK).wantText(secretMark)
	})
}

func (v *visitor) tryPage(method, path string, form url.Values) {
	v.Helper()
	var got response
	if method == http.MethodGet {
		got = v.do(method, path+"?"+form.Encode(), nil)
	} else {
		got = v.do(method, path, form)
	}
	if strings.Contains(got.text, secretMark) {
		v.Errorf("%s shows data of another company: %s", got.request, got.mainText())
	}
	if got.status >= http.StatusInternalServerError {
		v.Errorf("%s: %d", got.request, got.status)
	}
}

// fillVictim creates a record of every kind and returns all identifiers, of every
// table that has any.
func (v *visitor) fillVictim(s *store.Store) []string {
	v.Helper()
	_, token := v.createToken("Token " + secretMark)
	v.post(view.PathSettings, "name", "Baltic "+secretMark, "zone", "Europe/Riga", "days", "30")
	v.addWebhook("https://hooks.example.com/" + secretMark)
	v.post(view.PathInvite, "email", strings.ToLower(secretMark)+"@baltic.example", "role", "viewer").wantStatus(http.StatusSeeOther)
	v.post(view.PathViewNew, "page", "overdue", "tag", secretMark, "name", "View "+secretMark).wantStatus(http.StatusSeeOther)
	v.provision(token, 1, 3)
	person := v.addPerson("Person "+secretMark, "person@baltic.example")
	whole := view.PathCourse(v.newLearners(0).course)
	v.post(whole+"/slice", "name", "Slice "+secretMark, "module", "1").wantStatus(http.StatusSeeOther)
	v.post(person+"/offboard", "when", "date", "date", "2099-01-31").wantStatus(http.StatusSeeOther)
	v.upload("name,email\n" + secretMark + ",new@baltic.example\n")
	job := v.post(view.PathAssign, "everyone", "1", "course", whole[strings.LastIndex(whole, "/")+1:]).wantStatus(http.StatusSeeOther).header.Get("Location")
	v.waitForText(job, "4 assigned")
	seen, out := map[string]bool{}, []string{"unknown", fmt.Sprint(v.company.CompanyID)}
	for _, table := range storetest.Tables(v, s) {
		names, _ := storetest.Columns(v, s, table)
		for _, id := range names {
			if id != "id" && id != "external_id" && id != "administrator_id" {
				continue
			}
			for _, value := range storetest.Texts(v, s, fmt.Sprintf(`SELECT DISTINCT CAST(%s AS text) FROM %s WHERE %[1]s IS NOT NULL`, id, table)) {
				if !seen[value] && value != "" {
					seen[value] = true
					out = append(out, value)
				}
			}
		}
	}
	return out
}
