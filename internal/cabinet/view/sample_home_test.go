package view_test

import (
	"time"

	"github.com/coursebridge/coursebridge/internal/cabinet/view"
)

func homeSamples() []sample {
	steps := []view.Step{
		{Kind: view.StepPeople, Path: view.PathImport}, {Kind: view.StepAssign, Path: view.PathAssign},
		{Kind: view.StepInvite, Path: view.PathInvite}, {Kind: view.StepConnect, Path: view.PathOverview},
	}
	busy := view.Home{
		CanChange: true,
		Attention: []view.Attention{
			{Kind: view.AttentionOverdue, N: 1414, Path: "/cabinet/assignments?tab=overdue"},
			{Kind: view.AttentionDueSoon, N: 1, Path: "/cabinet/assignments?tab=due_soon"},
			{Kind: view.AttentionFailed, N: 3, Path: "/cabinet/assignments?tab=failed"},
			{Kind: view.AttentionRetry, N: 12, Path: "/cabinet/assignments?tab=needs_retry"},
			{Kind: view.AttentionWebhook, N: 1, Path: "/cabinet/webhooks/1"},
			{Kind: view.AttentionDisabled, N: 2, Path: "/cabinet/webhooks"},
			{Kind: view.AttentionToken, N: 1, Path: "/cabinet/tokens/1"},
		},
		Work: []view.Work{
			{Title: "Assign courses", Path: "/cabinet/jobs/3", Total: 100000, Done: 40210, IsRunning: true, StartedAt: ago(time.Minute)},
			{Title: "Extend deadlines by 7 days", Path: "/cabinet/jobs/2", Total: 12, Done: 12, StartedAt: ago(time.Hour)},
			{Title: "Import people", Path: "/cabinet/employees/import/1/result", Total: 500, Done: 20, Stopped: true, StartedAt: ago(2 * time.Hour)},
		},
		Figures: view.HomeFigures{
			Employees: 100412, Overdue: 1414, Required: 300, RequiredCompleted: 246, Completed: 8120, CompletedBefore: 9000,
			Since: ptr(ago(30 * 24 * time.Hour)), Before: view.EarlierFigures{Employees: 100400, Overdue: 1414, Required: 290, RequiredCompleted: 241},
		},
		MoreCourses: true,
		Courses: []view.CourseBar{
			{ID: 1, Name: longName, Assigned: 120000, Completed: 119999}, {ID: 2, Name: "Workplace safety", Assigned: 40, Completed: 0},
		},
	}
	for i := range 12 {
		busy.Weeks = append(busy.Weeks, view.Week{Start: now.AddDate(0, 0, 7*(i-11)), N: int64(i * i * 100)})
	}
	calm := busy
	calm.Attention, calm.Courses, calm.Steps, calm.Counting = nil, nil, steps, true
	return []sample{
		{"home-new", view.HomePage(shell("/cabinet"), view.Home{Fresh: true, CanChange: true, Steps: steps})},
		{"home-new-viewer", view.HomePage(shell("/cabinet"), view.Home{Fresh: true, Steps: steps})},
		{"home", view.HomePage(longShell("/cabinet"), busy)},
		{"home-calm", view.HomePage(shell("/cabinet"), calm)},
	}
}
