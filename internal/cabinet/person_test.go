package cabinet_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/coursebridge/coursebridge/internal/cabinet"
	"github.com/coursebridge/coursebridge/internal/cabinet/view"
)

// addPerson adds an employee by hand and returns the path of the person's page.
func (v *visitor) addPerson(name, email string) string {
	v.Helper()
	added := v.post(view.PathEmployeeNew, "name", name, "email", email, "tags", "warehouse, night shift", "role", "employee").wantStatus(http.StatusSeeOther)
	path := added.header.Get("Location")
	added.wantRedirect(path).wantText("was added.", name, email)
	return path
}

func TestPersonFromAddingToErasing(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(f fixture) {
		v := f.administrator()
		_, secret := v.createToken("HR sync")
		f.provision(secret, 1, 1)
		path := v.addPerson("Jānis Kalniņš", "janis@baltic.example")
		v.get(path).wantText("none: no system has linked this person", "Added by hand", admin, "night shift", "No assignments")
		v.post(view.PathEmployeeNew, "name", "Second", "email", "JANIS@baltic.example", "role", "employee").
			wantStatus(http.StatusUnprocessableEntity).wantText("Another employee of the company has this e-mail.", `value="Second"`)
		v.post(view.PathEmployeeNew, "name", "", "email", "nonsense", "role", "king").wantStatus(http.StatusUnprocessableEntity).
			wantText("Enter a value.", "Enter an e-mail address such as anna@example.com.")

		edit := func(name, email, externalID string) response {
			return v.post(path+"/edit", "name", name, "email", email, "externalId", externalID, "tags", "office", "role", "manager")
		}
		edit("Jānis K.", "janis@baltic.example", "HR-1").wantStatus(http.StatusUnprocessableEntity).wantText("has this external id")
		edit("Jānis K.", "p1@baltic.example", "HR-2").wantStatus(http.StatusUnprocessableEntity).wantText("has this e-mail")
		edit("Jānis K.", "j.k@baltic.example", "HR-2").wantRedirect(path).wantText("Changes saved.", "Jānis K.", "j.k@baltic.example", "HR-2", "Manager", "name, email, tags, role, external id")
		edit("Jānis K.", "j.k@baltic.example", "").wantStatus(http.StatusUnprocessableEntity).wantText("can be changed, but not removed")
		if got := f.callAPI(secret, http.MethodPatch, "/employees/HR-2", map[string]any{"name": "Janis"}); got != http.StatusOK {
			f.Errorf("the API finds the new external id: %d", got)
		}
		v.get(path).wantText("Token HR sync")

		v.post(path+"/offboard", "when", "date", "date", "2020-01-01").wantStatus(http.StatusUnprocessableEntity).wantText("Choose a date in the future")
		v.post(path+"/offboard", "when", "date", "date", "soon").wantStatus(http.StatusUnprocessableEntity).wantText("Enter a date")
		v.post(path+"/offboard", "when", "date", "date", "2999-01-01").wantRedirect(path).wantText("Offboarding is planned")
		v.post(path + "/keep").wantRedirect(path).wantText("was canceled").wantNoText("Offboarding is planned")
		v.post(path+"/offboard", "when", "date", "date", "2999-01-01").wantRedirect(path)
		f.exec(`UPDATE planned_offboardings SET at = $1`, time.Now().UTC().Add(-time.Hour).Truncate(time.Millisecond))
		v.waitForText(path, "This person has left").wantText("Offboarded", admin)
		v.post(path+"/bring-back").wantRedirect(path).wantText("is back.", "Brought back").wantNoText("This person has left")
		v.post(path+"/offboard", "when", "now").wantRedirect(path).wantText("This person has left")

		v.get(path+"/erase").wantStatus(http.StatusOK).wantText("Erase Janis?", "stored event")
		v.post(path + "/erase").wantRedirect(view.PathEmployees).wantText("The person was erased.").wantNoText("Janis")
		v.get(path).wantStatus(http.StatusNotFound)
	})
}

// The fields that a company adds to a person are edited as lines, shown, written to
// the history, and seen by nobody else.
func TestAttributesOfAPerson(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(f fixture) {
		v := f.administrator()
		path := v.addPerson("Jānis Kalniņš", "janis@baltic.example")
		edit := func(attributes string) response {
			return v.post(path+"/edit", "name", "Jānis Kalniņš", "email", "janis@baltic.example", "tags", "office", "role", "employee", "attributes", attributes)
		}
		edit("costCentre: 4711\r\n\r\nsite : Rīga: port").wantRedirect(path).wantText("Changes saved.", "costCentre", "4711", "site", "Rīga: port", "attributes")
		v.get(path + "/edit").wantText("costCentre: 4711\nsite: Rīga: port")
		for wrong, want := range map[string]string{
			"4711":                              "write each attribute once",
			"a: 1\na: 2":                        "write each attribute once",
			"cost centre: 1":                    "can't be a key",
			"a: " + strings.Repeat("x", 256):    "at most 255 characters",
			strings.Repeat("k", 65) + ": value": "can't be a key",
		} {
			edit(wrong).wantStatus(http.StatusUnprocessableEntity).wantText(want)
		}
		v.get(path).wantText("4711")
		edit("").wantRedirect(path).wantNoText("4711")

		// A database that can't store the attributes leaves the other fields as they were.
		edit("site: Port").wantRedirect(path)
		f.exec(`CREATE UNIQUE INDEX only_one_has_them ON employees (attributes)`)
		other := v.addPerson("Olena Koval", "olena@baltic.example")
		v.post(other+"/edit", "name", "Olena Changed", "email", "olena@baltic.example", "tags", "changed", "role", "manager", "attributes", "site: Port").
			wantStatus(http.StatusInternalServerError)
		v.get(other).wantText("Olena Koval", "night shift").wantNoText("Olena Changed", "Manager", "Port")
	})
}

// Another company's administrator finds none of the pages of a person.
func TestPeopleOfAnotherCompanyAreNotFound(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(f fixture) {
		path := f.administrator().addPerson("Janis", "janis@baltic.example")
		stranger := f.visitor()
		stranger.useLink(f.createCompany("Nordic Rail", "olaf@nordic.example").SignInURL)
		for _, pattern := range cabinet.PrivatePatterns() {
			method, route, _ := strings.Cut(pattern, " ")
			rest, found := strings.CutPrefix(route, view.PathEmployees+"/{id}")
			if !found {
				continue
			}
			got := stranger.do(method, path+rest, nil).status
			if got != http.StatusNotFound {
				f.Errorf("%s as another company: %d, want 404", pattern, got)
			}
		}
	})
}
