package security

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coursebridge/coursebridge/internal/store"
	"github.com/coursebridge/coursebridge/internal/store/db"
	"github.com/coursebridge/coursebridge/internal/store/storetest"
)

// Somebody holds the records of one company locked. Its administrators and the platform
// try to change them, more often than the pool has connections. Another company's
// changes go through meanwhile.
func TestWaitingChangesLeaveConnectionsToOthers(t *testing.T) {
	t.Parallel()
	database := storetest.Postgres(t)
	server, log := launch(t, database, "COURSEBRIDGE_DATABASE_CONNECTIONS=6"), &logBuffer{}
	made := runJSON[struct {
		CompanyID int64
		SignInURL string
	}](t, log, database, "company", "create", "--name", "Busy", "--admin", "busy@x.example")
	token := func(company int64) string {
		return runJSON[struct{ Token string }](t, log, database, "token", "create", "--company", strconv.FormatInt(company, 10),
			"--name", "t", "--scope", "b2b_provision", "--scope", "b2b_assignment").Token
	}
	call := func(path, token string, body any) {
		t.Helper()
		if status, text := send(t, request{http.MethodPost, server.url + path, token, body}); status != http.StatusOK {
			t.Errorf("%s: %d %s", path, status, text)
		}
	}
	busy := token(made.CompanyID)
	neighbour := token(runJSON[struct{ CompanyID int64 }](t, log, database, "company", "create", "--name", "Neighbour", "--admin", "n@x.example").CompanyID)
	platform := runJSON[struct{ Token string }](t, log, database, "platform-token", "create", "--name", "p").Token
	course := runJSON[struct{ CourseID int64 }](t, log, database, "course", "add", "--company", strconv.FormatInt(made.CompanyID, 10), "--name", "Course").CourseID
	call("/api/v1/employees/provision", busy, map[string]any{"externalId": "b", "email": "b@people.example", "name": "B"})
	call("/api/v1/assignments", busy, map[string]any{"employeeExternalId": "b", "courseId": course, "externalId": "a"})
	visitor := newVisitor(t, server.url)
	_, rest, _ := strings.Cut(made.SignInURL, "/cabinet/")
	link := "/cabinet/" + rest
	visitor.get(link)
	visitor.post(link, "password", "violet tram engine pancake", "repeat", "violet tram engine pancake")

	s := storetest.Open(t, database)
	employee := storetest.Texts(t, s, `SELECT CAST(id AS text) FROM employees WHERE company_id = $1`, made.CompanyID)[0]
	assignment, err := strconv.Atoi(storetest.Texts(t, s, `SELECT CAST(id AS text) FROM assignments WHERE company_id = $1`, made.CompanyID)[0])
	if err != nil {
		t.Fatal(err)
	}
	var waiting sync.WaitGroup
	err = s.Engine().Write(t.Context(), func(tx db.Tx) error {
		for _, table := range []string{"employees", "assignments"} {
			if _, err := tx.Exec(t.Context(), `SELECT 1 FROM `+table+` WHERE company_id = $1 FOR UPDATE`, made.CompanyID); err != nil {
				return err
			}
		}
		for i := range 12 {
			waiting.Go(func() { // their outcome does not matter: they may be refused after a while
				form := url.Values{"name": {fmt.Sprint("Name ", i)}, "email": {"b@people.example"}, "role": {"employee"}, "externalId": {"b"}}
				if resp, err := visitor.client.PostForm(server.url+"/cabinet/employees/"+employee+"/edit", form); err == nil {
					_ = resp.Body.Close()
				}
			})
			waiting.Go(func() {
				item := map[string]any{"id": fmt.Sprint("a", i), "assignmentId": assignment, "type": "started"}
				send(t, request{http.MethodPost, server.url + "/platform/v1/activities", platform, map[string]any{"items": []any{item}}})
			})
		}
		waitForLocks(t, s, 5)
		for i := range 5 {
			call("/api/v1/employees/provision", neighbour, map[string]any{"externalId": fmt.Sprint("n", i), "email": fmt.Sprintf("n%d@people.example", i), "name": "N"})
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	waiting.Wait()
}

// waitForLocks waits until as many connections to the database wait for a lock.
func waitForLocks(t *testing.T, s *store.Store, count int) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		waiting := storetest.Texts(t, s, `SELECT pid::text FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`)
		if len(waiting) >= count {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d connections wait for a lock, want %d", len(waiting), count)
		}
	}
}
