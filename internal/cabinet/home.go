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
	// maxHomeCourses and maxHomeJobs are how many courses and background jobs the first
	// page shows.
	maxHomeCourses, maxHomeJobs = 8, 5
	// recentJobAge is how long after its end a job is shown.
	recentJobAge = 24 * time.Hour
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
	totals := figures.Courses.Company()
	hasAssignments := totals.Count() > 0
	v := view.Home{
		Work:     work,
		Counting: figures.Counting, CanChange: p.mayChange(), Figures: homeFigures(figures, now),
		Attention: append(learningAttention(figures), integrationAttention(endpoints, health, tokens.Items, now)...),
		Courses:   courses, MoreCourses: moreCourses,
		Fresh: figures.Today.Employees == 0 && !hasAssignments,
	}
	for _, w := range weeks {
		v.Weeks = append(v.Weeks, view.Week{Start: w.Start, N: w.N})
	}
	v.Steps = homeSteps(map[view.StepKind]bool{
		view.StepPeople: figures.Today.Employees > 0, view.StepAssign: hasAssignments,
		view.StepInvite: len(members)+len(invitations) > 1, view.StepConnect: len(tokens.Items) > 0,
	})
	return p.renderOK(view.HomePage(p.shell(), v))
}

// recentWork lists background work that is under way or ended lately.
func (p *page) recentWork(now time.Time) ([]view.Work, error) {
	jobs, err := p.Jobs.Recent(p.r.Context(), p.caller(), now.Add(-recentJobAge), maxHomeJobs)
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
	for i := range out {
		out[i].Done = done[out[i].Kind]
	}
	if !slices.ContainsFunc(out, func(s view.Step) bool { return !s.Done }) {
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
	totals := f.Courses.Company()
	var out []view.Attention
	for _, a := range []struct {
		kind view.AttentionKind
		n    int64
		tab  domain.AssignmentTab
	}{
		{view.AttentionOverdue, f.Today.Overdue, domain.TabOverdue},
		{view.AttentionDueSoon, f.DueSoon, domain.TabDueSoon},
		{view.AttentionFailed, int64(totals.ByStatus[domain.StatusFailed]), domain.TabFailed},
		{view.AttentionRetry, int64(totals.ByStatus[domain.StatusNeedsRetry]), domain.TabNeedsRetry},
	} {
		if a.n > 0 {
			out = append(out, view.Attention{Kind: a.kind, N: a.n, Path: view.AssignmentFilter{Tab: string(a.tab)}.Path()})
		}
	}
	return out
}

// integrationAttention lists webhooks that do not work and tokens that expire soon. One
// links to its own page, several to the list.
func integrationAttention(endpoints []domain.Endpoint, health []domain.EndpointHealth, tokens []domain.Token, now time.Time) []view.Attention {
	failing := view.Attention{Kind: view.AttentionWebhook, Path: view.PathWebhooks}
	disabled := view.Attention{Kind: view.AttentionDisabled, Path: view.PathWebhooks}
	expiring := view.Attention{Kind: view.AttentionToken, Path: view.PathTokens}
	first := map[view.AttentionKind]string{} // the page of the first of each kind
	note := func(a *view.Attention, page string) {
		if a.N++; a.N == 1 {
			first[a.Kind] = page
		}
	}
	for _, e := range endpointViews(endpoints, health) {
		switch {
		case e.State == view.EndpointState(domain.HealthFailing):
			note(&failing, view.PathWebhook(e.ID))
		case e.State == view.EndpointDisabled && e.DisabledReason != string(domain.DisabledByPerson):
			note(&disabled, view.PathWebhook(e.ID))
		}
	}
	for _, t := range tokens {
		if t.ExpiresAt != nil && t.ExpiresAt.Before(now.Add(expiresSoon)) {
			note(&expiring, view.PathToken(t.ID))
		}
	}
	var out []view.Attention
	for _, a := range []view.Attention{failing, disabled, expiring} {
		if a.N == 1 {
			a.Path = first[a.Kind]
		}
		if a.N > 0 {
			out = append(out, a)
		}
	}
	return out
}

// courseBars returns the courses that are assigned most often, without their names,
// and whether there are more.
func courseBars(totals domain.AssignmentTotals) (bars []view.CourseBar, more bool) {
	for id, t := range totals {
		if t.Count() > 0 {
			bars = append(bars, view.CourseBar{ID: id, Assigned: int64(t.Count()), Completed: int64(t.ByStatus[domain.StatusCompleted])})
		}
	}
	slices.SortFunc(bars, func(a, b view.CourseBar) int {
		return cmp.Or(cmp.Compare(b.Assigned, a.Assigned), cmp.Compare(a.ID, b.ID))
	})
	return bars[:min(len(bars), maxHomeCourses)], len(bars) > maxHomeCourses
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
