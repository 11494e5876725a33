package client_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	"github.com/coursebridge/coursebridge/client"
)

// newTwoPageServer returns a server that lists four employees, two in a page.
func newTwoPageServer(t *testing.T) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		first := 1
		if r.URL.Query().Get("page") == "2" {
			first = 3
		} else {
			w.Header().Set("Link", `<https://elsewhere.example/employees?page=2>; rel="next"`)
		}
		fmt.Fprintf(w, `{"result":"success","data":{"items":[{"id":%d},{"id":%d}]}}`, first, first+1)
	}))
	t.Cleanup(server.Close)
	return server
}

func TestIteratorCanBeUsedAgain(t *testing.T) {
	t.Parallel()
	c, err := client.New(newTwoPageServer(t).URL, "cb_example")
	if err != nil {
		t.Fatal(err)
	}
	employees := c.Employees(t.Context(), client.EmployeeFilter{})
	walk := func(count int) []int64 {
		var ids []int64
		for e, err := range employees {
			if err != nil {
				t.Fatal(err)
			}
			if ids = append(ids, e.ID); len(ids) == count {
				break
			}
		}
		return ids
	}
	for _, count := range []int{3, 4, 4} {
		if got, want := walk(count), []int64{1, 2, 3, 4}[:count]; !slices.Equal(got, want) {
			t.Errorf("the first %d employees are %v, want %v", count, got, want)
		}
	}
}
