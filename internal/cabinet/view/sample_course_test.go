package view_test

import "github.com/coursebridge/coursebridge/internal/cabinet/view"

func courseSamples() []sample {
	courses := []view.Course{
		{ID: 1, Name: longName, ExternalID: "SAFETY-1", Assessment: true, Modules: 12, Assigned: 100000, Completed: 99999, Overdue: 1, Tried: 100000},
		{ID: 2, Name: "Welcome", Modules: 3},
		{ID: 3, ParentID: 1, Name: "Office safety", Assessment: true, Modules: 2, Assigned: 7, Started: 2, Completed: 3, Overdue: 2, Tried: 4},
	}
	list := view.CourseList{Courses: courses, Total: 51, Pager: view.Pager{Next: "/cabinet/courses?after=50"}, CanChange: true}
	detail := view.CourseDetail{
		Course: courses[2], Parent: view.Link{Text: longName, Path: view.PathCourse(1)}, PassMark: "80 of 100", Attempts: "3",
		Titles: []string{"Fire", longName}, MedianDays: "12 days", CanChange: true, Own: true, People: assignments(),
	}
	whole := view.CourseDetail{Course: courses[1], Attempts: "Unlimited", Titles: []string{"One", "Two"}, Slices: courses[2:], CanChange: true}
	archived := detail
	archived.Archived, archived.People = true, nil
	form := view.SliceForm{
		ParentID: 1, Parent: "Workplace safety", Name: "", Errors: view.Errors{"modules": "Choose at least one module."},
		Modules: []view.SliceModule{{Position: 1, Title: "Fire", Place: "1"}, {Position: 2, Title: longName, Chosen: true, Place: "2"}},
	}
	edit := form
	edit.ID, edit.Title, edit.Name, edit.Errors = 3, "Office safety", "Office safety", nil
	out := []sample{
		{"courses", view.CoursesPage(longShell(view.PathCourses), list)},
		{"course-slice", view.CoursePage(longShell(view.PathCourse(3)), detail)},
		{"course-whole", view.CoursePage(shell(view.PathCourse(2)), whole)},
		{"course-archived", view.CoursePage(shell(view.PathCourse(3)), archived)},
		{"course-archive", view.ConfirmPage(shell(view.PathCourse(3, "archive")), view.CourseArchive(courses[2]))},
		{"slice-new", view.SliceFormPage(shell(view.PathCourse(1, "slice")), form)},
		{"slice-edit", view.SliceFormPage(shell(view.PathCourse(3, "edit")), edit)},
	}
	for _, show := range []string{"", "assessments", "slices", "archived"} {
		out = append(out, sample{"courses-none-" + show, view.CoursesPage(shell(view.PathCourses), view.CourseList{Filter: view.CourseFilter{Show: show}})})
	}
	return out
}

func assignments() []view.Assignment {
	return []view.Assignment{{
		ID: 1, Person: longName, Email: "p1@baltic.example", Course: "Office safety", Status: "started", Overdue: true, Percent: "40", Deadline: now,
	}}
}
