package load

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
)

// growthOperation is a request whose cost must not grow.
type growthOperation struct {
	name     string
	request  func(g *grownCompany) []byte
	mostCost float64 // maxGrowth if it is 0
	requests int     // in a round at most; 30 if it is 0
}

func (op growthOperation) most() float64 {
	if op.mostCost > 0 {
		return op.mostCost
	}
	return maxGrowth
}

func (g *grownCompany) get(path string) []byte { return get("/api/v1"+path, g.token) }

func (g *grownCompany) post(path, format string, args ...any) []byte {
	return post("/api/v1"+path, g.token, fmt.Appendf(nil, format, args...))
}

// randomEmployee and randomAssignment return the numbers of external ids.
func (g *grownCompany) randomEmployee() int   { return rand.IntN(g.employees) }
func (g *grownCompany) randomAssignment() int { return rand.IntN(g.size) }

// unused returns the number of an assignment that no other call returns.
func (g *grownCompany) unused() int64 { return g.made.Add(1) }

// listOperation replaces the names in a filter: HALF is since when half of the assignments
// changed, RECENT since when 1,000 did, RARE the course that one of rareCourseEvery has.
func (g *grownCompany) listOperation(filter string) []byte {
	since := func(n int) string { return g.newest.Add(-time.Duration(n) * time.Second).UTC().Format(time.RFC3339) }
	return g.get(strings.NewReplacer("COURSE", formatID(g.courseID), "RARE", formatID(g.rareCourseID), "HALF", since(g.size/2), "RECENT", since(1000),
		"EMPLOYEE", fmt.Sprintf("emp-%d", g.randomEmployee()), "EMAIL", fmt.Sprintf("person%d.%d@example.com", g.randomEmployee(), g.id)).Replace(filter))
}

// listFilters are filters alone and together. Where the small company has few rows, the limit
// is as many, so that both pages are as long.
var listFilters = []string{
	"/assignments", "/assignments?limit=500", "/assignments?status=started", "/assignments?courseId=COURSE", "/assignments?employeeExternalId=EMPLOYEE",
	"/assignments?updatedSince=2020-01-01T00:00:00Z", "/assignments?updatedSince=HALF", "/assignments?status=started&courseId=COURSE",
	"/assignments?status=started&updatedSince=2020-01-01T00:00:00Z", "/assignments?status=started&updatedSince=HALF",
	"/assignments?status=started&updatedSince=RECENT", "/assignments?courseId=COURSE&updatedSince=2020-01-01T00:00:00Z",
	"/assignments?courseId=COURSE&updatedSince=HALF", "/assignments?courseId=COURSE&updatedSince=RECENT",
	"/assignments?status=needs_retry&limit=10", "/assignments?status=needs_retry&updatedSince=2020-01-01T00:00:00Z&limit=10",
	"/assignments?courseId=RARE&limit=10", "/assignments?courseId=RARE&status=started&limit=2",
	"/assignments?courseId=RARE&updatedSince=2020-01-01T00:00:00Z&limit=10",
	"/assignments?employeeExternalId=EMPLOYEE&status=started&courseId=COURSE&updatedSince=HALF",
	"/employees", "/employees?tag=third", "/employees?email=EMAIL", "/employees?email=EMAIL&tag=third", "/courses",
}

func listOperations() (out []growthOperation) {
	for _, filter := range listFilters {
		out = append(out, growthOperation{name: "GET " + filter, request: func(g *grownCompany) []byte { return g.listOperation(filter) }})
	}
	return out
}

var growthReads = append(listOperations(), []growthOperation{
	{name: "GET /employees/{externalId}", request: func(g *grownCompany) []byte { return g.get(fmt.Sprintf("/employees/emp-%d", g.randomEmployee())) }},
	{name: "GET /assignments/by-external-id/{externalId}", request: func(g *grownCompany) []byte {
		return g.get(fmt.Sprintf("/assignments/by-external-id/asg-%d", g.randomAssignment()))
	}},
	{name: "GET /assignments/by-external-id/{externalId}/progress", request: func(g *grownCompany) []byte {
		return g.get(fmt.Sprintf("/assignments/by-external-id/asg-%d/progress", g.randomAssignment()))
	}},
	{name: "GET /assignments/{id}", request: func(g *grownCompany) []byte { return g.get(fmt.Sprintf("/assignments/%d", 1+g.randomAssignment())) }},
	{name: "GET /assignments/{id}/results", request: func(g *grownCompany) []byte {
		return g.get(fmt.Sprintf("/assignments/%d/results", 1+g.randomAssignment()))
	}},
}...)

var growthChanges = []growthOperation{
	{name: "POST /employees/provision", request: func(g *grownCompany) []byte {
		return g.post("/employees/provision", `{"externalId":"n-%d","email":"n-%[1]d@grow.test","name":"New %[1]d","tags":["third"]}`, g.unused())
	}},
	{name: "PATCH /employees/{externalId}", request: func(g *grownCompany) []byte {
		body := fmt.Appendf(nil, `{"name":"Renamed %d","tags":["third","fourth"]}`, g.unused())
		request := post(fmt.Sprintf("/api/v1/employees/emp-%d", g.randomEmployee()), g.token, body)
		return append([]byte("PATCH"), request[len("POST"):]...)
	}},
	{name: "POST /assignments", request: func(g *grownCompany) []byte {
		return g.post("/assignments", `{"employeeExternalId":"emp-%d","courseId":%d,"externalId":"n-%d"}`, g.randomEmployee(), g.courseID, g.unused())
	}},
	{name: "DELETE /assignments/{id}", request: func(g *grownCompany) []byte {
		request := g.get(fmt.Sprintf("/assignments/%d", 1+g.randomAssignment()))
		return append([]byte("DELETE"), request[len("GET"):]...)
	}},
	{name: "POST /activities, 10", request: (*grownCompany).activities},
	// More bulks would multiply the small company.
	{name: "POST /assignments/bulk, 500", request: (*grownCompany).bulk, mostCost: maxPaceGrowth, requests: 6},
}

// different returns n different random numbers below limit.
func different(n, limit int) []int {
	out, seen := make([]int, 0, n), make(map[int]bool, n)
	for len(out) < n {
		if k := rand.IntN(limit); !seen[k] {
			seen[k] = true
			out = append(out, k)
		}
	}
	return out
}

// activities reports an activity of each of ten assignments.
func (g *grownCompany) activities() []byte {
	items := make([]string, 10)
	for i, assignment := range different(len(items), g.size) {
		items[i] = fmt.Sprintf(`{"id":"act-%d","assignmentId":%d,"type":"progress","completionPercent":50}`, g.unused(), 1+assignment)
	}
	return post("/platform/v1/activities", g.platformToken, []byte(`{"items":[`+strings.Join(items, ",")+`]}`))
}

// bulk assigns the course to 500 people.
func (g *grownCompany) bulk() []byte {
	items := make([]map[string]any, bulkSize)
	for i, employee := range different(len(items), g.employees) {
		items[i] = map[string]any{
			"employeeExternalId": fmt.Sprintf("emp-%d", employee), "courseId": g.courseID, "externalId": fmt.Sprintf("n-%d", g.unused()),
		}
	}
	body, err := json.Marshal(map[string]any{"items": items})
	if err != nil {
		panic(err) // unreachable: strings and numbers always encode
	}
	return post("/api/v1/assignments/bulk", g.token, body)
}
