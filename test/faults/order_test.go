package faults

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A webhook with strict order sends one event at a time: while one is refused and tried
// again, those behind it wait.
func TestStrictOrderWaitsForRetries(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, database string) {
		acme := newCompany(t, database)
		inbox := newReceiver(t, func(_ *receiver, w http.ResponseWriter, a arrival) {
			if a.subject == "p3" && a.attempt != "3" {
				w.WriteHeader(http.StatusInternalServerError)
				return
			}
			w.WriteHeader(http.StatusNoContent)
		})
		runJSON[webhook](t, database, "webhook", "add", "--company", formatID(acme.id), "--url", inbox.URL, "--event", "employee.joined", "--strict-order")
		server := serve(t, database, quickRetries...)
		var want []string
		for i := range 8 {
			who := fmt.Sprint("p", i)
			acme.provision(t, server.url, who)
			want = append(want, who+" 1")
			if who == "p3" {
				want = append(want, "p3 2", "p3 3")
			}
		}
		inbox.waitFor(t, timeout, "p7", 1)
		var got []string
		for _, a := range first(inbox.all()) {
			got = append(got, a.subject+" "+a.attempt)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("the order of the attempts (-want +got):\n%s", diff)
		}
	})
}
