// Package contract_test tests the whole program over HTTP, with the same rows on both
// engines, and validates every answer against the published OpenAPI documents. It
// also compares the documents with the routing tables and the types of api/v1. What
// cannot be seen from outside is tested next to its code.
package contract_test

import (
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/coursebridge/coursebridge/internal/apicheck"
	"github.com/coursebridge/coursebridge/internal/apptest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// chapters are the parts of the suite. They share one program per engine, and each
// creates its own companies.
var chapters = []struct {
	name string
	run  func(t *testing.T, s *suite)
}{
	{"provision", provisionTable},
	{"provision from the cabinet", provisionCabinet},
	{"provision former employees", provisionFormer},
	{"provision elsewhere", provisionElsewhere},
	{"values", values},
	{"kept values", storedValues},
	{"tags", tags},
	{"patch", employeePatch},
	{"offboard", offboard},
	{"erase", erase},
	{"erased", erased},
	{"unauthorized", unauthorized},
	{"forbidden", forbidden},
	{"invalid", invalid},
	{"too large", tooLarge},
	{"rate", rateLimit},
	{"order of checks", orderOfChecks},
	{"paths", paths},
	{"bad paths", badPaths},
	{"wrong methods", wrongMethods},
	{"documents", documents},
	{"bad bodies", badBodies},
	{"bad strings", badStrings},
	{"compressed bodies", compressed},
	{"numbers", numbers},
	{"content types", contentTypes},
	{"request ids", requestIDs},
	{"connections", connections},
	{"pages", pages},
	{"filters", filters},
	{"walks", walks},
	{"changes", changes},
	{"assignments", assignments},
	{"assignment input", assignmentInput},
	{"deadlines", deadlines},
	{"walls", companyIsolation},
	{"courses", courses},
	{"bulk", bulk},
	{"bulk limit", bulkLimit},
	{"archived course", archivedCourse},
	{"many assignments", manyAssignments},
	{"instants", instants},
	{"learning", learning},
	{"exams", exams},
	{"activity", activity},
	{"many activities", manyActivities},
	{"platform courses", platformCourses},
	{"platform companies", platformCompanies},
	{"tokens", tokens},
	{"doors", tokenKinds},
	{"revocation", revocation},
	{"events", events},
	{"overdue", overdue},
	{"report files", reportFiles},
	{"races", races},
	{"races of activities", activityRaces},
	{"outage", outage},
}

func TestContract(t *testing.T) {
	t.Parallel()
	apptest.Each(t, apptest.Options{}, func(t *testing.T, p *apptest.Program) {
		s := newSuite(t, p, newCoverage())
		t.Run("chapter", func(t *testing.T) {
			for _, c := range chapters {
				t.Run(c.name, func(t *testing.T) {
					t.Parallel()
					c.run(t, s)
				})
			}
		})
		t.Run("everything was exercised", func(t *testing.T) {
			for _, d := range []*apicheck.Document{s.public, s.platform} {
				for _, gap := range s.coverage.gaps(d) {
					t.Error(gap)
				}
			}
		})
		t.Run("the log holds no secrets and no failures", func(t *testing.T) {
			for line := range strings.Lines(p.Log.String()) {
				for _, secret := range []string{tokenPrefix, mailHost, "Person "} {
					if strings.Contains(line, secret) {
						t.Errorf("%q in %s", secret, line)
					}
				}
				if strings.Contains(line, `"level":"ERROR","msg":"request"`) || strings.Contains(line, "panicked") {
					t.Error(line)
				}
			}
		})
	})
}
