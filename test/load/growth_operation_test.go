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

func (g *grownCompany) listOperation(filter string) []byte {
	since := g.half.UTC().Format(time.RFC3339)
	return g.get(strings.NewReplacer("COURSE", formatID(g.courseID), "EMPLOYEE", fmt.Sprintf("emp-%d", g.randomEmployee()),
		"EMAIL", fmt.Sprintf("person%d.%d@example.com", g.randomEmployee(), g.id), "HALF", since).Replace(filter))
}

func listOperations() (out []growthOperation) {
	for _, filter := range []string{
		"/assignments", "/assignments?limit=500", "/assignments?status=started", "/assignments?courseId=COURSE", "/assignments?employeeExternalId=EMPLOYEE",
		"/assignments?updatedSince=2020-01-01T00:00:00Z", "/assignments?updatedSince=HALF", "/assignments?status=started&courseId=COURSE",
		"/assignments?employeeExternalId=EMPLOYEE&status=started&courseId=COURSE&updatedSince=HALF",
		"/employees", "/employees?tag=third", "/employees?email=EMAIL", "/employees?email=EMAIL&tag=third", "/courses",
	} {
		out = append(out, growthOperation{name: "GET " + filter, request: func(g *grownCompany) []byte { return g.listOperation(filter) }})
	}
	return out
}

var growthOperations = append(listOperations(), []growthOperation{
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
	{name: "POST /assignments/bulk, 500", request: (*grownCompany).bulk, mostCost: maxPaceGrowth},
}...)

// activities reports ten activities of learners.
func (g *grownCompany) activities() []byte {
	items := make([]string, 10)
	for i := range items {
		items[i] = fmt.Sprintf(`{"id":"act-%d","assignmentId":%d,"type":"progress","completionPercent":50}`, g.unused(), 1+g.randomAssignment())
	}
	return post("/platform/v1/activities", g.platformToken, []byte(`{"items":[`+strings.Join(items, ",")+`]}`))
}

func (g *grownCompany) bulk() []byte {
	items := make([]map[string]any, bulkSize)
	for i := range items {
		items[i] = map[string]any{
			"employeeExternalId": fmt.Sprintf("emp-%d", g.randomEmployee()), "courseId": g.courseID, "externalId": fmt.Sprintf("n-%d", g.unused()),
		}
	}
	body, err := json.Marshal(map[string]any{"items": items})
	if err != nil {
		panic(err) // unreachable: strings and numbers always encode
	}
	return post("/api/v1/assignments/bulk", g.token, body)
}
