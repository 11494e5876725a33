package client_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"

	v1 "github.com/coursebridge/coursebridge/api/v1"
	"github.com/coursebridge/coursebridge/client"
)

// exampleServer stands in for coursebridge, so that the example runs by itself.
func exampleServer() *httptest.Server {
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"result":"success","data":{"items":[{"id":1,"externalId":"hr-1","email":"ann@acme.example","name":"Ann Lee",
			"role":"employee","tags":["warehouse"],"joinedAt":"2026-11-14T09:30:00+00:00"}],
			"pagination":{"page":1,"limit":500,"total":1,"pages":1}}}`)
	}))
}

func ExampleClient_Employees() {
	server := exampleServer()
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

func ExampleWebhookHandler() {
	handler := &client.WebhookHandler{
		Secrets: []string{"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"},
		Assignment: func(_ context.Context, _ client.Delivery, e v1.Event[v1.Assignment]) error {
			fmt.Println(e.Event, e.Data.EmployeeExternalID, e.Data.CourseName)
			return nil
		},
	}
	http.Handle("/coursebridge", handler)
}
