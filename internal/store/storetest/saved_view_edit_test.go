package storetest_test

import (
	"testing"

	"github.com/coursebridge/coursebridge/internal/domain"
	"github.com/coursebridge/coursebridge/internal/store"
	"github.com/coursebridge/coursebridge/internal/store/storetest"
)

func (f testCompany) addView(name string) domain.SavedView {
	f.t.Helper()
	wantNoError(f.t, "save a view", f.s.AddSavedView(f.t.Context(), f.c, domain.SavedView{Page: domain.ViewOverdue, Filter: "tag=a", Name: name}))
	for _, v := range f.views() {
		if v.Name == name {
			return v
		}
	}
	f.t.Fatalf("the view %q is not listed", name)
	return domain.SavedView{}
}

func (f testCompany) views() []domain.SavedView {
	f.t.Helper()
	views, err := f.s.SavedViews(f.t.Context(), f.c.Company.ID)
	wantNoError(f.t, "list the views", err)
	return views
}

func (f testCompany) viewNames() []string {
	f.t.Helper()
	names := []string{}
	for _, v := range f.views() {
		names = append(names, v.Name)
	}
	return names
}

func TestSavedViewsAreRenamedAndRemoved(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		f, other, ctx := newTestCompany(t, s), newTestCompany(t, s), t.Context()
		night, day := f.addView("Night shift"), f.addView("day shift")
		theirs := other.addView("Night shift")
		equal(t, "views, by name whatever the case", f.viewNames(), []string{"day shift", "Night shift"})
		for _, row := range []struct {
			what string
			id   int64
			name string
			want domain.Code
		}{
			{"to a name that another view has", night.ID, "DAY SHIFT", domain.CodeInvalid},
			{"the view of another company", theirs.ID, "Mine", domain.CodeNotFound},
			{"to a name that a view of another company has", theirs.ID, "Night shift", domain.CodeInvalid},
			{"none", theirs.ID + 100, "Mine", domain.CodeNotFound},
		} {
			wantCode(t, "rename "+row.what, s.RenameSavedView(ctx, f.c, row.id, row.name), row.want)
		}
		wantNoError(t, "rename to the same name", s.RenameSavedView(ctx, f.c, night.ID, "Night shift"))
		equal(t, "audit", f.audit(), []string{"view.saved", "view.saved"})
		wantNoError(t, "change the case", s.RenameSavedView(ctx, f.c, night.ID, "NIGHT shift"))
		wantNoError(t, "rename", s.RenameSavedView(ctx, f.c, day.ID, "Überstunden"))
		equal(t, "views", f.viewNames(), []string{"NIGHT shift", "Überstunden"})
		got, err := s.SavedView(ctx, f.c.Company.ID, day.ID)
		day.Name = "Überstunden"
		if err != nil || got != day {
			t.Errorf("the renamed view is %+v, %v; want %+v", got, err, day)
		}
		f.addView("Day shift") // the name is free again

		wantCode(t, "remove the view of another company", s.RemoveSavedView(ctx, f.c, theirs.ID), domain.CodeNotFound)
		wantNoError(t, "remove", s.RemoveSavedView(ctx, f.c, night.ID))
		wantCode(t, "remove twice", s.RemoveSavedView(ctx, f.c, night.ID), domain.CodeNotFound)
		_, err = s.SavedView(ctx, f.c.Company.ID, night.ID)
		wantCode(t, "a removed view", err, domain.CodeNotFound)
		equal(t, "views", f.viewNames(), []string{"Day shift", "Überstunden"})
		equal(t, "views of another company", other.viewNames(), []string{"Night shift"})
		equal(t, "audit", f.audit()[2:], []string{"view.renamed", "view.renamed", "view.saved", "view.removed"})
	})
}
