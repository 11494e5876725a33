package load

import (
	"fmt"
	"testing"
	"time"
)

// BenchmarkCourses compares GET /courses with a token to a handler that writes
// the same bytes and knows nothing of tokens, logs or metrics.
func BenchmarkCourses(b *testing.B) {
	for _, engine := range engineNames {
		b.Run(engine, func(b *testing.B) {
			f := newFirm(b, engines[engine](b))
			for i := range 9 {
				ask[struct{ CourseID int64 }](b, f.database, "course", "add", "--company", id(f.company), "--name", fmt.Sprintf("Course %d", i))
			}
			request := get("/api/v1/courses", f.token)
			p := serve(b, f.database)
			ours := newFleet(b, p.address, connections)
			body, err := ours[0].body(request, true)
			if err != nil {
				b.Fatal(err)
			}
			least := newFleet(b, bare(b, "bytes", string(body)), connections)
			next := func(int) []byte { return request }
			for b.Loop() {
				c := compare(9,
					func() float64 { return ours.drive(b, time.Second, next) },
					func() float64 { return least.drive(b, time.Second, next) })
				ratio(b, "GET /courses, "+engine+", of a handler that writes the same bytes", c, 0.60, "req/s")
			}
		})
	}
}
