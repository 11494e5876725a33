package view

type entry struct {
	section Section
	text    string
	path    string
}

// group is a run of entries, with a heading or without.
type group struct {
	heading string
	entries []entry
}

// groups returns the entries of the navigation, without sections that do not
// work yet.
func (s Sections) groups() []group {
	company := group{entries: []entry{{SectionHome, "Home", PathHome}}}
	for _, part := range []struct {
		works bool
		entry entry
	}{
		{s.Employees, entry{SectionEmployees, "Employees", PathEmployees}},
		{s.Courses, entry{SectionCourses, "Courses", PathCourses}},
		{s.Assignments, entry{SectionAssignments, "Assignments", PathAssignments}},
		{s.Reports, entry{SectionReports, "Reports", PathReports}},
	} {
		if part.works {
			company.entries = append(company.entries, part.entry)
		}
	}
	return []group{
		company,
		{heading: "Integrations", entries: []entry{
			{SectionOverview, "Overview", PathOverview},
			{SectionTokens, "Tokens", PathTokens},
			{SectionWebhooks, "Webhooks", PathWebhooks},
			{SectionDeliveries, "Deliveries", PathDeliveries},
			{SectionRequests, "Requests", PathRequests},
			{SectionDocs, "API docs", PathExplorer},
		}},
		{entries: []entry{
			{SectionAudit, "Audit log", PathAudit},
			{SectionSettings, "Settings", PathSettings},
		}},
	}
}

// path returns the first page of a section, or Home for a page outside all sections.
func (s Sections) path(section Section) string {
	for _, g := range s.groups() {
		for _, e := range g.entries {
			if e.section == section {
				return e.path
			}
		}
	}
	return PathHome
}

// documentTitle names a page in the browser's tabs and history.
func documentTitle(parts ...string) string {
	title := ""
	for _, part := range append(parts, Product) {
		if part == "" {
			continue
		}
		if title != "" {
			title += " · "
		}
		title += part
	}
	return title
}
