package cabinet

import (
	"cmp"
	"slices"
	"time"

	"github.com/coursebridge/coursebridge/internal/cabinet/view"
	"github.com/coursebridge/coursebridge/internal/domain"
)

const (
	// expiresSoon is how long before its end a token needs attention.
	expiresSoon = 14 * 24 * time.Hour
	// homeCourses is how many courses the first page shows.
	homeCourses = 8
	// homeWork is how much background work the first page shows, and recentWork for how
	// long after it has ended.
	homeWork   = 5
	recentWork = 24 * time.Hour
)

func (c *Cabinet) homePages(private register) { private("GET "+view.PathHome, home) }

// home shows what needs attention and how the company is doing.
func home(p *page) error {
	ctx, caller := p.r.Context(), p.caller()
	figures, weeks, err := p.Learning.HomeFigures(ctx, caller)
	if err != nil {
		return err
	}
	courses, moreCourses := courseBars(figures.Courses)
	if err := p.nameCourses(courses); err != nil {
		return err
	}
	now := p.Now()
	live := domain.TokenFilter{CompanyID: caller.Company.ID, LiveAt: &now}
	tokens, err := p.Tokens.List(ctx, live, domain.PageRequest{Number: 1, Limit: domain.MaxLimit})
	if err != nil {
		return err
	}
	endpoints, err := p.Webhooks.List(ctx, caller)
	if err != nil {
		return err
	}
	health, err := p.Webhooks.Health(ctx, caller, 0)
	if err != nil {
		return err
	}
	members, invitations, err := p.Administrators.List(ctx, caller)
	if err != nil {
		return err
	}
	work, err := p.recentWork(now)
	if err != nil {
		return err
	}
	all := figures.Courses.Company()
	v := view.Home{
		Work:     work,
		Counting: figures.Counting, CanChange: p.mayChange(), Figures: homeFigures(figures, now),
		Attention: append(learningAttention(figures), integrationAttention(endpoints, health, tokens.Items, now)...),
		Courses:   courses, MoreCourses: moreCourses,
		Fresh: figures.Today.Employees == 0 && all.All() == 0,
	}
	for _, w := range weeks {
		v.Weeks = append(v.Weeks, view.Week{Start: w.Start, N: w.N})
	}
	v.Steps = homeSteps(map[view.StepKind]bool{
		view.StepPeople: figures.Today.Employees > 0, view.StepAssign: all.All() > 0,
		view.StepInvite: len(members)+len(invitations) > 1, view.StepConnect: len(tokens.Items) > 0,
	})
	return p.renderOK(view.HomePage(p.shell(), v))
}

// recentWork lists background work that is under way or ended lately.
func (p *page) recentWork(now time.Time) ([]view.Work, error) {
	jobs, err := p.Jobs.Recent(p.r.Context(), p.caller(), now.Add(-recentWork), homeWork)
	if err != nil {
		return nil, err
	}
	var out []view.Work
	for _, job := range jobs {
		v, err := p.jobView(job)
		if err != nil {
			return nil, err
		}
		out = append(out, view.Work{
			Title: v.Title, Path: v.Path, Total: v.Total, Done: v.Done, StartedAt: v.StartedAt,
			IsRunning: job.Running(), Stopped: v.Canceled || v.Problem != "",
		})
	}
	return out, nil
}

// homeSteps returns the getting-started list, or nil once everything is done.
func homeSteps(done map[view.StepKind]bool) []view.Step {
	out := []view.Step{
		{Kind: view.StepPeople, Path: view.PathImport}, {Kind: view.StepAssign, Path: view.PathAssign},
		{Kind: view.StepInvite, Path: view.PathInvite}, {Kind: view.StepConnect, Path: view.PathOverview},
	}
	left := false
	for i := range out {
		out[i].Done = done[out[i].Kind]
		left = left || !out[i].Done
	}
	if !left {
		return nil
	}
	return out
}

// homeFigures compares the figures with earlier ones.
func homeFigures(f domain.HomeFigures, now time.Time) view.HomeFigures {
	period := domain.FigureDays * 24 * time.Hour
	out := view.HomeFigures{
		Since: f.EarlierAt, Employees: f.Today.Employees, Overdue: f.Today.Overdue,
		Required: f.Today.Required, RequiredCompleted: f.Today.RequiredCompleted,
		Completed: f.CompletedBetween(now.Add(-period), now), CompletedBefore: f.CompletedBetween(now.Add(-2*period), now.Add(-period)),
	}
	if f.EarlierAt != nil {
		out.Before = view.EarlierFigures{
			Employees: f.Earlier.Employees, Overdue: f.Earlier.Overdue,
			Required: f.Earlier.Required, RequiredCompleted: f.Earlier.RequiredCompleted,
		}
	}
	return out
}

// learningAttention lists what people have not done.
func learningAttention(f domain.HomeFigures) []view.Attention {
	all := f.Courses.Company()
	var out []view.Attention
	for _, a := range []struct {
		kind view.AttentionKind
		n    int64
		tab  domain.AssignmentTab
	}{
		{view.AttentionOverdue, f.Today.Overdue, domain.TabOverdue},
		{view.AttentionDueSoon, f.DueSoon, domain.TabDueSoon},
		{view.AttentionFailed, int64(all.ByStatus[domain.StatusFailed]), domain.TabFailed},
		{view.AttentionRetry, int64(all.ByStatus[domain.StatusNeedsRetry]), domain.TabNeedsRetry},
	} {
		if a.n > 0 {
			out = append(out, view.Attention{Kind: a.kind, N: a.n, Path: view.AssignmentFilter{Tab: string(a.tab)}.Path()})
		}
	}
	return out
}

// integrationAttention lists webhooks that do not work and tokens that expire soon. A
// single one is linked itself, several are linked as a list.
func integrationAttention(endpoints []domain.Endpoint, health []domain.EndpointHealth, tokens []domain.Token, now time.Time) []view.Attention {
	failing := view.Attention{Kind: view.AttentionWebhook, Path: view.PathWebhooks}
	disabled := view.Attention{Kind: view.AttentionDisabled, Path: view.PathWebhooks}
	expiring := view.Attention{Kind: view.AttentionToken, Path: view.PathTokens}
	note := func(a *view.Attention, list, one string) {
		a.N++
		if a.Path = one; a.N > 1 {
			a.Path = list
		}
	}
	for _, e := range endpointViews(endpoints, health) {
		switch {
		case e.State == view.EndpointState(domain.HealthFailing):
			note(&failing, view.PathWebhooks, view.PathWebhook(e.ID))
		case e.State == view.EndpointDisabled && e.DisabledReason != string(domain.DisabledByPerson):
			note(&disabled, view.PathWebhooks, view.PathWebhook(e.ID))
		}
	}
	for _, t := range tokens {
		if t.ExpiresAt != nil && t.ExpiresAt.Before(now.Add(expiresSoon)) {
			note(&expiring, view.PathTokens, view.PathToken(t.ID))
		}
	}
	return slices.DeleteFunc([]view.Attention{failing, disabled, expiring}, func(a view.Attention) bool { return a.N == 0 })
}

// courseBars returns the courses that are assigned most often, without their names,
// and whether there are more.
func courseBars(totals domain.AssignmentTotals) (bars []view.CourseBar, more bool) {
	for id, t := range totals {
		if t.All() > 0 {
			bars = append(bars, view.CourseBar{ID: id, Assigned: int64(t.All()), Completed: int64(t.ByStatus[domain.StatusCompleted])})
		}
	}
	slices.SortFunc(bars, func(a, b view.CourseBar) int {
		return cmp.Or(cmp.Compare(b.Assigned, a.Assigned), cmp.Compare(a.ID, b.ID))
	})
	return bars[:min(len(bars), homeCourses)], len(bars) > homeCourses
}

// nameCourses adds the names. It reads them from the database, because the cache of
// courses may miss one that was created and assigned a moment ago.
func (p *page) nameCourses(bars []view.CourseBar) error {
	ids := make([]int64, 0, len(bars))
	for _, b := range bars {
		ids = append(ids, b.ID)
	}
	names, err := p.Learning.CourseNames(p.r.Context(), ids)
	for i := range bars {
		bars[i].Name = names[bars[i].ID]
	}
	return err
}
