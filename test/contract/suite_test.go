package contract_test

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coursebridge/coursebridge/internal/apicheck"
	"github.com/coursebridge/coursebridge/internal/app"
	"github.com/coursebridge/coursebridge/internal/apptest"
	"github.com/coursebridge/coursebridge/internal/store"
	"github.com/coursebridge/coursebridge/internal/store/storetest"
)

// suite is the program on one engine with what its tests share.
type suite struct {
	*apptest.Program
	public, platform *apicheck.Document
	coverage         *coverage
	client           *http.Client
	platformToken    string
	store            *store.Store // for what only the cabinet does
}

func newSuite(t *testing.T, p *apptest.Program, seen *coverage) *suite {
	t.Helper()
	transport := &http.Transport{MaxIdleConnsPerHost: 32, DisableCompression: true}
	t.Cleanup(transport.CloseIdleConnections)
	public, platform, err := apicheck.Documents()
	if err != nil {
		t.Fatal(err)
	}
	made, err := p.CreatePlatformToken(t.Context(), "contract")
	if err != nil {
		t.Fatal(err)
	}
	return &suite{
		Program: p, public: public, platform: platform, coverage: seen, platformToken: made.Token, store: storetest.Open(t, p.Database),
		client: &http.Client{
			Transport: transport, Timeout: 2 * time.Minute,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
}

// platformCaller returns a caller with a platform token.
func (s *suite) platformCaller() caller {
	return caller{origin: s.URL, contract: s.platform, coverage: s.coverage, client: s.client, token: s.platformToken}
}

// What no log line may contain: the host of every e-mail address and the prefix of
// every token.
const (
	mailHost    = "people.example"
	tokenPrefix = "cb_"
)

var companyCount atomic.Int64

// company is a company of one test, with a token that has every scope, a course that
// is passed by completion and one that is passed by score.
type company struct {
	caller
	suite   *suite
	id      int64
	number  int64
	course  int64
	exam    int64 // pass mark 70, 2 attempts
	vars    map[string]string
	webhook *webhook
}

func (s *suite) newCompany(t *testing.T) *company {
	t.Helper()
	n := companyCount.Add(1)
	made, err := s.CreateCompany(t.Context(), fmt.Sprintf("Company %d", n), fmt.Sprintf("boss%d@%s", n, mailHost), "UTC")
	if err != nil {
		t.Fatal(err)
	}
	f := &company{suite: s, id: made.CompanyID, number: n, vars: map[string]string{}}
	f.caller = caller{origin: s.URL, contract: s.public, coverage: s.coverage, client: s.client}
	f.token = f.createToken(t, "b2b_read", "b2b_provision", "b2b_assignment")
	f.course = f.addCourse(t, app.CourseInput{Name: "Basics", ExternalID: "basics", PassMark: 80, Attempts: 3, Modules: []string{"One", "Two"}})
	f.exam = f.addCourse(t, app.CourseInput{Name: "Exam", Assessment: true, PassMark: 70, Attempts: 2})
	f.vars["course"], f.vars["exam"], f.vars["company"] = fmt.Sprint(f.course), fmt.Sprint(f.exam), fmt.Sprint(f.id)
	return f
}

// createToken returns a new token with these scopes.
func (f *company) createToken(t *testing.T, scopes ...string) string {
	t.Helper()
	made, err := f.suite.CreateToken(t.Context(), app.TokenInput{Company: f.id, Name: "contract", Scopes: scopes})
	if err != nil {
		t.Fatal(err)
	}
	return made.Token
}

func (f *company) addCourse(t *testing.T, in app.CourseInput) int64 {
	t.Helper()
	made, err := f.suite.AddCourse(t.Context(), f.id, in)
	if err != nil {
		t.Fatal(err)
	}
	return made.CourseID
}

// email returns an address that no other company uses.
func (f *company) email(name string) string { return fmt.Sprintf("%s.%d@%s", name, f.number, mailHost) }

var placeholder = regexp.MustCompile(`<@?[\w. ]+>`)

// expand replaces names in angle brackets: <course>, <exam>, <company>, values that
// rows have saved, and <@ann> for the address of Ann.
func (f *company) expand(text string) string {
	return placeholder.ReplaceAllStringFunc(text, func(name string) string {
		name = strings.Trim(name, "<>")
		if person, ok := strings.CutPrefix(name, "@"); ok {
			return f.email(person)
		}
		if value, known := f.vars[name]; known {
			return value
		}
		return "<" + name + ">"
	})
}

// provision provisions an employee and returns the id.
func (f *company) provision(t *testing.T, externalID string) string {
	t.Helper()
	a := f.send(t, "POST", "/employees/provision",
		fmt.Sprintf(`{"externalId":%q,"email":%q,"name":"Person %s"}`, externalID, f.email(strings.ToLower(externalID)), externalID))
	if a.status != 200 {
		t.Fatalf("hire %s: %d %s", externalID, a.status, a.text)
	}
	return a.str("id")
}

// assign assigns a course to an employee and returns the id.
func (f *company) assign(t *testing.T, employee string, course int64, externalID string) string {
	t.Helper()
	a := f.send(t, "POST", "/assignments", fmt.Sprintf(`{"employeeExternalId":%q,"courseId":%d,"externalId":%q}`, employee, course, externalID))
	if a.status != 200 {
		t.Fatalf("assign %s: %d %s", externalID, a.status, a.text)
	}
	return a.str("id")
}

var activities atomic.Int64

// reportActivity reports an activity of a learner; more is JSON to add to the item.
func (f *company) reportActivity(t *testing.T, assignment, kind, more string) *answer {
	t.Helper()
	if more != "" {
		more = "," + more
	}
	a := f.suite.platformCaller().send(t, "POST", "/activities",
		fmt.Sprintf(`{"items":[{"id":"learn-%d","assignmentId":%s,"type":%q%s}]}`, activities.Add(1), assignment, kind, more))
	if a.status != 200 || a.get("results.0.ok") != true {
		t.Fatalf("%s of %s: %d %s", kind, assignment, a.status, a.text)
	}
	return a
}
