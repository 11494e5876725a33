package load

import (
	"fmt"
	"testing"
	"time"
)

// BenchmarkCourses compares GET /courses with a handler that writes the same bytes
// without tokens, logs or metrics.
func BenchmarkCourses(b *testing.B) {
	for _, engine := range engineNames {
		b.Run(engine, func(b *testing.B) {
			f := newCompany(b, engines[engine](b))
			for i := range 9 {
				runJSON[struct{ CourseID int64 }](b, f.database, "course", "add", "--company", formatID(f.id), "--name", fmt.Sprintf("Course %d", i))
			}
			request := get("/api/v1/courses", f.token)
			p := serve(b, f.database)
			ours := newFleet(b, p.address, connections)
			body, err := ours[0].body(request, true)
			if err != nil {
				b.Fatal(err)
			}
			least := newFleet(b, startBaseline(b, "bytes", string(body)), connections)
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
