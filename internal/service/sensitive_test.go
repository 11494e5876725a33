package service_test

import (
	"bytes"
	"context"
	"io"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/service"
)

// TestSensitiveActsAreAudited checks what the log reports that changes no record of
// the company: downloads, sign-out, and what is done to the platform itself.
func TestSensitiveActsAreAudited(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(f fixture) {
		ctx := f.t.Context()
		acme, anna := f.companyWithPassword("anna@x.test")
		reports := service.NewReports(f.store, service.DefaultReportOptions)
		begin := func(context.Context, string, string) io.Writer { return &bytes.Buffer{} }
		file := service.ReportFile{Format: service.ReportCSV, Begin: begin}
		must(f.t, "download", reports.WriteAssignments(ctx, anna.Caller(here), domain.AssignmentFilter{}, file))
		must(f.t, "download", reports.WriteEmployees(ctx, anna.Caller(here), domain.EmployeeFilter{}, file))
		must(f.t, "export", reports.WriteAuditLog(ctx, anna.Caller(here), domain.AuditFilter{}, file))
		must(f.t, "sign out", f.signIn.SignOut(ctx, anna, here))
		want := []string{"report.downloaded by person", "report.downloaded by person", "report.downloaded by person", "sign_out by person"}
		if got := f.actions(acme.ID); !slices.Equal(got[len(got)-4:], want) {
			f.t.Errorf("log: %v, want it to end with %v", got, want)
		}

		made, _, err := f.tokens.CreatePlatformToken(ctx, "LMS")
		must(f.t, "create", err)
		_, err = f.tokens.RevokePlatformToken(ctx, made.ID)
		must(f.t, "revoke", err)
		learning := service.NewLearning(f.store, service.NewWatcher(f.store, service.WatcherOptions{}))
		platform := domain.Actor{Kind: domain.ActorPlatform, Label: "LMS"}
		for _, name := range []string{"First", "First", "Second"} {
			_, _, err := learning.PutCourse(ctx, platform, domain.Course{ExternalID: "P1", Name: name})
			must(f.t, "put a course", err)
		}
		entries, err := f.store.PlatformAudit(ctx, 100)
		must(f.t, "read the platform's log", err)
		var got []string
		for _, e := range slices.Backward(entries) {
			got = append(got, e.Action+" by "+e.Actor.Label)
		}
		want = []string{"platform_token.created by operator", "platform_token.revoked by operator", "course.created by LMS", "course.changed by LMS"}
		if diff := cmp.Diff(want, got); diff != "" {
			f.t.Errorf("the platform's log (-want +got):\n%s", diff)
		}
	})
}
