package faults

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"testing"
	"time"
)

// workforce changes a company at random. Its workers share few people and
// courses, so that they contend for the same records.
type workforce struct {
	t        *testing.T
	company  company
	platform company // the same client with a platform token
	servers  *fleet
	courses  []int64

	mu          sync.Mutex
	assignments []int64
	calls       map[string]int // by operation, for the log
}

const sharedPeople = 30

// newWorkforce makes two courses of the platform: an assessment and a course that
// is completed by progress. A server must be running.
func newWorkforce(t *testing.T, c company, servers *fleet) *workforce {
	t.Helper()
	token := runJSON[struct{ Token string }](t, c.database, "platform-token", "create", "--name", "mirror").Token
	w := &workforce{t: t, company: c, servers: servers, calls: map[string]int{}}
	w.platform = company{token: token, client: c.client}
	for i := range 2 {
		var made struct{ Data struct{ CourseID int64 } }
		body := w.platform.mustSend(t, http.MethodPut, servers.next()+coursePath(i), courseBody(i, 0))
		if err := json.Unmarshal(body, &made); err != nil {
			t.Fatal(err)
		}
		w.platform.mustSend(t, http.MethodPut, servers.next()+coursePath(i)+"/companies/"+formatID(c.id), nil)
		w.courses = append(w.courses, made.Data.CourseID)
	}
	return w
}

func coursePath(i int) string { return fmt.Sprintf("/platform/v1/courses/mirror-%d", i) }

func courseBody(i, version int) map[string]any {
	return map[string]any{"name": fmt.Sprintf("Course %d, version %d", i, version), "isAssessment": i == 0, "modules": []string{"Only"}}
}

// run starts workers that work until ctx ends, and waits for them. Worker n of a
// seed always makes the same choices.
func (w *workforce) run(ctx context.Context, workers int, seed uint64) {
	var all sync.WaitGroup
	for n := range workers {
		all.Go(func() {
			r := rand.New(rand.NewPCG(seed, uint64(n)))
			for i := 0; ctx.Err() == nil; i++ {
				w.step(r, fmt.Sprintf("w%d-%d", n, i))
			}
		})
	}
	all.Wait()
}

// step does one random operation. unique is an identifier that no other step has.
func (w *workforce) step(r *rand.Rand, unique string) {
	who := fmt.Sprintf("person-%d", r.IntN(sharedPeople))
	employee := "/api/v1/employees/" + who
	switch n := r.IntN(100); {
	case n < 20:
		w.call("provision", http.MethodPost, "/api/v1/employees/provision", newPerson(who))
	case n < 28:
		w.call("patch", http.MethodPatch, employee, map[string]any{"name": "Renamed " + unique, "tags": []string{unique}})
	case n < 45:
		w.call("assign", http.MethodPost, "/api/v1/assignments", w.assignment(r, who, unique))
	case n < 53:
		items := make([]map[string]any, 10)
		for i := range items {
			items[i] = w.assignment(r, fmt.Sprintf("person-%d", r.IntN(sharedPeople)), fmt.Sprintf("%s-%d", unique, i))
		}
		w.call("bulk", http.MethodPost, "/api/v1/assignments/bulk", map[string]any{"items": items})
	case n < 58:
		w.call("revoke", http.MethodDelete, "/api/v1/assignments/"+formatID(w.pick(r)), nil)
	case n < 88:
		w.activity(r, unique)
	case n < 92:
		w.call("rename", http.MethodPut, coursePath(r.IntN(2)), courseBody(r.IntN(2), r.IntN(1000)))
	case n < 97:
		w.call("offboard", http.MethodPatch, employee, map[string]any{"active": false})
	default:
		w.call("delete", http.MethodDelete, employee, nil)
	}
}

// assignment returns a request whose deadline may have passed, or pass soon.
func (w *workforce) assignment(r *rand.Rand, who, externalID string) map[string]any {
	out := map[string]any{"employeeExternalId": who, "courseId": w.courses[r.IntN(2)], "externalId": externalID}
	switch r.IntN(5) {
	case 0:
		out["deadline"] = time.Now().Add(-time.Hour)
	case 1:
		out["deadline"] = time.Now().Add(time.Duration(r.IntN(3000)) * time.Millisecond)
	}
	return out
}

func (w *workforce) activity(r *rand.Rand, unique string) {
	item := map[string]any{"id": unique, "assignmentId": w.pick(r)}
	switch r.IntN(3) {
	case 0:
		item["type"] = "started"
	case 1:
		item["type"], item["completionPercent"] = "progress", 1+r.IntN(100)
	default:
		item["type"], item["score"] = "attempt_finished", r.IntN(101)
	}
	w.call("activity", http.MethodPost, "/platform/v1/activities", map[string]any{"items": []any{item}})
}

// pick returns the id of an assignment that some worker has made, or 1.
func (w *workforce) pick(r *rand.Rand) int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.assignments) == 0 {
		return 1
	}
	return w.assignments[r.IntN(len(w.assignments))]
}

// call sends a request. The operations race with each other and servers are
// killed, so a request may be refused or its connection may break; any other
// failure is an error of the service.
func (w *workforce) call(operation, method, path string, body any) {
	as := w.company
	if method == http.MethodPut || operation == "activity" {
		as = w.platform
	}
	got, err := as.send(context.Background(), method, w.servers.next()+path, body)
	if err != nil {
		time.Sleep(10 * time.Millisecond) // the server may be down
		return
	}
	switch got.status {
	case http.StatusOK, http.StatusNotFound, http.StatusConflict, http.StatusServiceUnavailable:
	default:
		w.t.Errorf("%s: %d %.300s", operation, got.status, got.body)
	}
	w.record(operation, got)
}

// record counts a call and remembers the assignments that it made.
func (w *workforce) record(operation string, got answer) {
	var made struct {
		Data struct {
			ID      int64
			Results []struct{ AssignmentID int64 }
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.calls[fmt.Sprintf("%s %d", operation, got.status)]++
	if got.status != http.StatusOK || operation != "assign" && operation != "bulk" || json.Unmarshal(got.body, &made) != nil {
		return
	}
	if made.Data.ID != 0 {
		w.assignments = append(w.assignments, made.Data.ID)
	}
	for _, r := range made.Data.Results {
		if r.AssignmentID != 0 {
			w.assignments = append(w.assignments, r.AssignmentID)
		}
	}
}
