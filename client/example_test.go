package client_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	v1 "github.com/coursebridge/coursebridge/api/v1"
	"github.com/coursebridge/coursebridge/client"
)

// exampleData is what the examples' server answers with.
var exampleData = map[string]string{
	"/api/v1/employees": `{"items":[{"id":1,"externalId":"hr-1","email":"ann@acme.example","name":"Ann Lee","role":"employee",
		"tags":["warehouse"],"joinedAt":"2026-11-14T09:30:00+00:00"}],"pagination":{"page":1,"limit":500,"total":1,"pages":1}}`,
	"/api/v1/employees/provision": `{"id":1,"externalId":"hr-1","email":"ann@acme.example","status":"created"}`,
	"/api/v1/assignments":         `{"id":7,"externalId":"hr-1-basics","status":"assigned","statusCategory":"not_started","isOverdue":false}`,
}

// newExampleServer stands in for coursebridge, so that the examples run by themselves.
func newExampleServer() *httptest.Server {
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		data, found := exampleData[r.URL.Path]
		switch {
		case !found:
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprint(w, `{"result":"error","message":"No employee has this externalId.","code":"employee_not_found"}`)
			return
		case r.URL.Query().Has("updatedSince"):
			w.Header().Set("X-Sync-Watermark", "2026-11-14T09:31:00+00:00")
			data = `{"items":[{"id":7,"externalId":"hr-1-basics","status":"completed"}],"pagination":{"page":1,"limit":500,"total":1,"pages":1}}`
		}
		fmt.Fprintf(w, `{"result":"success","data":%s}`, data)
	}))
}

func ExampleClient_Assign() {
	server := newExampleServer()
	defer server.Close()
	ctx := context.Background()

	c, err := client.New(server.URL, "cb_example")
	if err != nil {
		fmt.Println(err)
		return
	}
	if _, err := c.Provision(ctx, v1.ProvisionInput{ExternalID: "hr-1", Email: "ann@acme.example", Name: "Ann Lee"}); err != nil {
		fmt.Println(err)
		return
	}
	made, err := c.Assign(ctx, v1.AssignmentInput{EmployeeExternalID: "hr-1", CourseID: 12, ExternalID: "hr-1-basics"})
	fmt.Println(made.ID, made.Status, err)
	// Output: 7 assigned <nil>
}

func ExampleClient_Employees() {
	server := newExampleServer()
	defer server.Close()

	c, err := client.New(server.URL, "cb_example")
	if err != nil {
		fmt.Println(err)
		return
	}
	for employee, err := range c.Employees(context.Background(), client.EmployeeFilter{Tag: "warehouse"}) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(employee.ExternalID, employee.Name)
	}
	// Output: hr-1 Ann Lee
}

func ExampleCode() {
	server := newExampleServer()
	defer server.Close()

	c, err := client.New(server.URL, "cb_example")
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = c.Employee(context.Background(), "hr-2")
	if client.Code(err) == "employee_not_found" {
		fmt.Println("hr-2 has to be provisioned first")
	}
	// Output: hr-2 has to be provisioned first
}

func ExampleClient_SyncAssignments() {
	server := newExampleServer()
	defer server.Close()
	folder, err := os.MkdirTemp("", "coursebridge")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(folder)

	c, err := client.New(server.URL, "cb_example")
	if err != nil {
		fmt.Println(err)
		return
	}
	at := client.FileCheckpoint(filepath.Join(folder, "sync.json"))
	err = c.SyncAssignments(context.Background(), at, func(_ context.Context, a v1.Assignment) error {
		fmt.Println(a.ExternalID, a.Status)
		return nil
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	state, err := at.Load(context.Background())
	fmt.Println("next from", state.Since, err)
	// Output:
	// hr-1-basics completed
	// next from 2026-11-14T09:31:00+00:00 <nil>
}

func ExampleWebhookHandler() {
	handler := &client.WebhookHandler{
		Secrets: []string{exampleSecret},
		Assignment: func(_ context.Context, d client.Delivery, e v1.Event[v1.Assignment]) error {
			fmt.Println(d.ID, e.Event, e.Data.ExternalID)
			return nil
		},
	}
	for range 2 { // the second one is a repeat
		answer := httptest.NewRecorder()
		handler.ServeHTTP(answer, exampleDelivery("assignment.completed"))
		fmt.Println(answer.Code)
	}
	// Output:
	// 0199-1 assignment.completed hr-1-basics
	// 204
	// 204
}

const exampleSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

// exampleDelivery returns a signed webhook request.
func exampleDelivery(kind string) *http.Request {
	body, err := json.Marshal(map[string]any{"event": kind, "companyId": 1, "data": map[string]any{"externalId": "hr-1-basics"}})
	if err != nil {
		panic(err)
	}
	signer, err := standardwebhooks.NewWebhook(exampleSecret)
	if err != nil {
		panic(err)
	}
	now := time.Now()
	signature, err := signer.Sign("0199-1", now, body)
	if err != nil {
		panic(err)
	}
	r := httptest.NewRequest(http.MethodPost, "/coursebridge", strings.NewReader(string(body)))
	r.Header.Set("webhook-id", "0199-1")
	r.Header.Set("webhook-timestamp", fmt.Sprint(now.Unix()))
	r.Header.Set("webhook-signature", signature)
	return r
}
