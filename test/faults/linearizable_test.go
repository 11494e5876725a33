package faults

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
)

// call is one request about one employee.
type call struct {
	person    string
	operation string // provision, rename, assign, offboard, delete or read
	value     string // the name, or the external id of the assignment
}

// outcome is what the caller saw.
type outcome struct {
	found       bool   // the request succeeded
	status      string // of a provision
	name        string // of a read
	assignments int    // of a read
}

// employeeState is an employee in the model.
type employeeState struct {
	membership  string // "", "live" or "former"
	name        string
	assignments int
}

// employeeModel is what RULES promise about one employee if requests came one at a
// time.
var employeeModel = porcupine.Model{
	Partition: func(history []porcupine.Operation) [][]porcupine.Operation {
		byPerson := map[string][]porcupine.Operation{}
		for _, op := range history {
			person := op.Input.(call).person
			byPerson[person] = append(byPerson[person], op)
		}
		var out [][]porcupine.Operation
		for _, operations := range byPerson {
			out = append(out, operations)
		}
		return out
	},
	Init: func() any { return employeeState{} },
	Step: func(state, input, output any) (bool, any) {
		want, next := state.(employeeState).apply(input.(call))
		return want == output.(outcome), next
	},
	DescribeOperation: func(input, output any) string { return fmt.Sprintf("%+v → %+v", input, output) },
}

// apply returns what a call must answer, and the state after it.
func (s employeeState) apply(c call) (outcome, employeeState) {
	live := s.membership == "live"
	switch c.operation {
	case "provision":
		switch s.membership {
		case "live":
			return outcome{found: true, status: "found"}, s
		case "former":
			return outcome{found: true, status: "linked"}, employeeState{membership: "live", name: c.value}
		}
		return outcome{found: true, status: "created"}, employeeState{membership: "live", name: c.value}
	case "rename":
		if live {
			s.name = c.value
		}
		return outcome{found: live}, s
	case "assign":
		if live {
			s.assignments++
		}
		return outcome{found: live}, s
	case "offboard":
		if live {
			return outcome{found: true}, employeeState{membership: "former"}
		}
		return outcome{found: s.membership == "former"}, s
	case "delete":
		return outcome{found: s.membership != ""}, employeeState{}
	default:
		if live {
			return outcome{found: true, name: s.name, assignments: s.assignments}, s
		}
		return outcome{}, s
	}
}

// Clients call few employees at the same time, on PostgreSQL through two replicas.
// There is an order of all calls, which agrees with the order in which those that did
// not overlap were made, in which one server without concurrency would have answered
// the same. So no read is stale, no change is lost and none is seen by halves.
func TestEmployeesAreLinearizable(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, database string) {
		duration, seed := tortureSettings(t)
		acme := newCompany(t, database)
		replicas := 1
		if database[0] == 'p' {
			replicas = 2
		}
		servers := newCluster(t, database, replicas).servers
		start := time.Now()
		for round := uint64(0); round == 0 || duration != shortTorture && time.Since(start) < duration; round++ {
			acme.checkRound(t, servers, seed+round)
		}
	})
}

// checkRound lets clients make random calls and checks their history. Each round has
// people of its own.
func (c company) checkRound(t *testing.T, servers *fleet, seed uint64) {
	t.Helper()
	const clients, people, calls = 5, 3, 60
	var mu sync.Mutex
	var history []porcupine.Operation
	var all sync.WaitGroup
	start := time.Now()
	for client := range clients {
		all.Go(func() {
			r := rand.New(rand.NewPCG(seed, uint64(client)))
			for i := range calls {
				in := randomCall(r, fmt.Sprintf("p%d-%d", seed, r.IntN(people)), fmt.Sprintf("c%d-%d-%d", seed, client, i))
				began := time.Since(start)
				got := c.perform(t, servers.next(), in)
				ended := time.Since(start)
				mu.Lock()
				history = append(history, porcupine.Operation{ClientId: client, Input: in, Call: int64(began), Output: got, Return: int64(ended)})
				mu.Unlock()
			}
		})
	}
	all.Wait()
	result := porcupine.CheckOperationsTimeout(employeeModel, history, time.Minute)
	if result == porcupine.Ok {
		return
	}
	t.Errorf("no order explains the answers (%s)", result)
	for _, op := range history {
		t.Logf("%d %d-%d %s", op.ClientId, op.Call, op.Return, employeeModel.DescribeOperation(op.Input, op.Output))
	}
}

func randomCall(r *rand.Rand, person, unique string) call {
	operations := []string{"provision", "provision", "rename", "assign", "assign", "offboard", "delete", "read", "read", "read"}
	return call{person: person, operation: operations[r.IntN(len(operations))], value: unique}
}

// perform makes a call and returns what the answer says.
func (c company) perform(t *testing.T, base string, in call) outcome {
	t.Helper()
	employee := base + "/api/v1/employees/" + in.person
	var got answer
	var err error
	switch in.operation {
	case "provision":
		body := map[string]any{"externalId": in.person, "email": in.person + "@people.example", "name": in.value}
		got, err = c.send(t.Context(), http.MethodPost, base+"/api/v1/employees/provision", body)
	case "rename":
		got, err = c.send(t.Context(), http.MethodPatch, employee, map[string]any{"name": in.value})
	case "assign":
		body := map[string]any{"employeeExternalId": in.person, "courseId": c.courseID, "externalId": in.value}
		got, err = c.send(t.Context(), http.MethodPost, base+"/api/v1/assignments", body)
	case "offboard":
		got, err = c.send(t.Context(), http.MethodPatch, employee, map[string]any{"active": false})
	case "delete":
		got, err = c.send(t.Context(), http.MethodDelete, employee, nil)
	default:
		got, err = c.send(t.Context(), http.MethodGet, employee, nil)
	}
	if err != nil || got.status != http.StatusOK && got.status != http.StatusNotFound {
		t.Errorf("%+v: %d %s, %v", in, got.status, got.body, err)
	}
	var body struct {
		Data struct {
			Status, Name string
			Assignments  []json.RawMessage
		}
	}
	if err := json.Unmarshal(got.body, &body); err != nil {
		t.Errorf("%+v: %v", in, err)
	}
	out := outcome{found: got.status == http.StatusOK}
	switch in.operation {
	case "provision":
		out.status = body.Data.Status
	case "read":
		out.name, out.assignments = body.Data.Name, len(body.Data.Assignments)
	}
	return out
}
