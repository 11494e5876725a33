package view_test

import (
	"strings"
	"time"

	"github.com/coursebridge/coursebridge/internal/cabinet/view"
)

func requestHours() []view.RequestHour {
	out := make([]view.RequestHour, 24)
	for i := range out {
		out[i] = view.RequestHour{From: now.Add(time.Duration(i-24) * time.Hour), Succeeded: int64(i * 37 % 90), Failed: int64(i % 5)}
	}
	return out
}

func sampleRequests() view.RequestList {
	request := func(id int64, call string, status int, code string) view.Request {
		method, route, _ := strings.Cut(call, " ")
		return view.Request{
			ID: id, At: now.Add(-time.Duration(id) * time.Minute), TokenID: 7, Token: "Payroll synchronisation of the northern region",
			Method: method, Route: route, Status: status, Took: time.Duration(id) * 7 * time.Millisecond, RequestID: "3w5e11264sgsf", Code: code, Message: "items[0].deadline: must be a date-time such as 2026-11-14T09:30:00+00:00",
		}
	}
	return view.RequestList{
		Hours: requestHours(), Tokens: []view.Option{{Value: "7", Label: "Payroll synchronisation of the northern region"}}, More: true,
		Requests: []view.Request{
			request(1, "GET /api/v1/employees", 200, ""),
			request(2, "GET /api/v1/employees/by-external-id/{externalId}", 404, "employee_not_found"),
			request(3, "POST /api/v1/assignments/bulk", 400, "invalid_request"),
			request(4, "GET /api/v1/assignments", 503, "unavailable"),
			request(5, "DELETE /api/v1/assignments/{id}", 429, "rate_limited"),
		},
		Pager: view.Pager{Next: "/cabinet/requests?after=x"},
	}
}
