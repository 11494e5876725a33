package contract_test

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coursebridge/coursebridge/internal/app"
	"github.com/coursebridge/coursebridge/internal/apptest"
	"github.com/coursebridge/coursebridge/internal/store"
	"github.com/coursebridge/coursebridge/internal/store/storetest"
)

// suite is the program on one engine, and what the tests have seen of it.
type suite struct {
	*apptest.Program
	public, platform *document
	seen             *record
	client           *http.Client
	platformToken    string
	store            *store.Store // for what only the cabinet does
}

func newSuite(t *testing.T, p *apptest.Program, seen *record) *suite {
	t.Helper()
	transport := &http.Transport{MaxIdleConnsPerHost: 32, DisableCompression: true}
	t.Cleanup(transport.CloseIdleConnections)
	public, platform, err := contracts()
	if err != nil {
		t.Fatal(err)
	}
	made, err := p.CreatePlatformToken(t.Context(), "contract")
	if err != nil {
		t.Fatal(err)
	}
	return &suite{
		Program: p, public: public, platform: platform, seen: seen, platformToken: made.Token, store: storetest.Open(t, p.Database),
		client: &http.Client{
			Transport: transport, Timeout: 2 * time.Minute,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
}

// learning is the learning platform's own caller.
func (s *suite) learning() caller {
	return caller{origin: s.URL, contract: s.platform, seen: s.seen, client: s.client, token: s.platformToken}
}

// What no log line may hold: every person made here has the one, and every
// token the other.
const (
	mailHost    = "people.example"
	tokenPrefix = "cb_"
)

var firms atomic.Int64

// firm is a company of one test, with a token that may do everything, a course
// that completion decides and one that a score does.
type firm struct {
	caller
	suite  *suite
	id     int64
	number int64
	course int64
	exam   int64 // pass mark 70, 2 attempts
	vars   map[string]string
	hook   *hook
}

func (s *suite) firm(t *testing.T) *firm {
	t.Helper()
	n := firms.Add(1)
	made, err := s.CreateCompany(t.Context(), fmt.Sprintf("Firm %d", n), fmt.Sprintf("boss%d@%s", n, mailHost), "UTC")
	if err != nil {
		t.Fatal(err)
	}
	f := &firm{suite: s, id: made.CompanyID, number: n, vars: map[string]string{}}
	f.caller = caller{origin: s.URL, contract: s.public, seen: s.seen, client: s.client}
	f.token = f.mint(t, "b2b_read", "b2b_provision", "b2b_assignment")
	f.course = f.add(t, app.CourseInput{Name: "Basics", ExternalID: "basics", PassMark: 80, Attempts: 3, Modules: []string{"One", "Two"}})
	f.exam = f.add(t, app.CourseInput{Name: "Exam", Assessment: true, PassMark: 70, Attempts: 2})
	f.vars["course"], f.vars["exam"], f.vars["firm"] = fmt.Sprint(f.course), fmt.Sprint(f.exam), fmt.Sprint(f.id)
	return f
}

// mint makes a token with these scopes.
func (f *firm) mint(t *testing.T, scopes ...string) string {
	t.Helper()
	made, err := f.suite.CreateToken(t.Context(), app.TokenInput{Company: f.id, Name: "contract", Scopes: scopes})
	if err != nil {
		t.Fatal(err)
	}
	return made.Token
}

func (f *firm) add(t *testing.T, in app.CourseInput) int64 {
	t.Helper()
	made, err := f.suite.AddCourse(t.Context(), f.id, in)
	if err != nil {
		t.Fatal(err)
	}
	return made.CourseID
}

// mail is an address that no other firm's people have.
func (f *firm) mail(name string) string { return fmt.Sprintf("%s.%d@%s", name, f.number, mailHost) }

var named = regexp.MustCompile(`<@?[\w. ]+>`)

// fill puts values in for names in angle brackets: <course>, <exam>, <firm>,
// what rows have saved, and <@ann> for an address of Ann.
func (f *firm) fill(text string) string {
	return named.ReplaceAllStringFunc(text, func(name string) string {
		name = strings.Trim(name, "<>")
		if person, ok := strings.CutPrefix(name, "@"); ok {
			return f.mail(person)
		}
		if value, known := f.vars[name]; known {
			return value
		}
		return "<" + name + ">"
	})
}

// hire provisions an employee.
func (f *firm) hire(t *testing.T, externalID string) string {
	t.Helper()
	a := f.send(t, "POST", "/employees/provision",
		fmt.Sprintf(`{"externalId":%q,"email":%q,"name":"Person %s"}`, externalID, f.mail(strings.ToLower(externalID)), externalID))
	if a.status != 200 {
		t.Fatalf("hire %s: %d %s", externalID, a.status, a.text)
	}
	return a.str("id")
}

// assign gives a course to an employee.
func (f *firm) assign(t *testing.T, employee string, course int64, externalID string) string {
	t.Helper()
	a := f.send(t, "POST", "/assignments", fmt.Sprintf(`{"employeeExternalId":%q,"courseId":%d,"externalId":%q}`, employee, course, externalID))
	if a.status != 200 {
		t.Fatalf("assign %s: %d %s", externalID, a.status, a.text)
	}
	return a.str("id")
}

var activities atomic.Int64

// learn reports an activity of a learner; more is JSON that follows the type.
func (f *firm) learn(t *testing.T, assignment, kind, more string) *answer {
	t.Helper()
	if more != "" {
		more = "," + more
	}
	a := f.suite.learning().send(t, "POST", "/activities",
		fmt.Sprintf(`{"items":[{"id":"learn-%d","assignmentId":%s,"type":%q%s}]}`, activities.Add(1), assignment, kind, more))
	if a.status != 200 || a.get("results.0.ok") != true {
		t.Fatalf("%s of %s: %d %s", kind, assignment, a.status, a.text)
	}
	return a
}
