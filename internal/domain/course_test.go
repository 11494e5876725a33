package domain_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/coursebridge/coursebridge/internal/domain"
)

func TestCourseCheck(t *testing.T) {
	t.Parallel()
	c := domain.Course{Name: " Safety ", PassMark: 100_00, AllowedAttempts: 1000, Modules: []string{" One", "Two "}}
	if err := c.Normalize(); err != nil {
		t.Fatal(err)
	}
	want := domain.Course{Name: "Safety", PassMark: 100_00, AllowedAttempts: 1000, Modules: []string{"One", "Two"}}
	if diff := cmp.Diff(want, c); diff != "" {
		t.Error(diff)
	}
	bad := domain.Course{ExternalID: "..", PassMark: 100_01, AllowedAttempts: -1, Modules: []string{"a", ""}}
	wantFields(t, bad.Normalize(), "name", "externalId", "passMark", "attempts", "modules")
	bad = domain.Course{Name: "N", PassMark: -1, AllowedAttempts: 1001, Modules: strings.Split(strings.Repeat("x,", 501), ",")[:501]}
	wantFields(t, bad.Normalize(), "passMark", "attempts", "modules")
}

func TestCheckKeepsTheCallersModules(t *testing.T) {
	t.Parallel()
	modules := []string{" Fire  exits "}
	first, second := domain.Course{Name: "Safety", Modules: modules}, domain.Course{Name: "Safety", Modules: modules}
	if err := first.Normalize(); err != nil {
		t.Fatal(err)
	}
	if modules[0] != " Fire  exits " || second.Modules[0] != " Fire  exits " || first.Modules[0] == modules[0] {
		t.Errorf("a check changed the caller's list to %q, its own to %q", modules, first.Modules)
	}
}

func TestCutReportsEveryFieldThatIsWrong(t *testing.T) {
	t.Parallel()
	parent := domain.Course{ID: 7, Modules: []string{"One", "Two"}}
	for _, modules := range [][]int{nil, {1, 3}} {
		_, err := domain.SliceInput{ExternalID: "..", Modules: modules}.Cut(parent)
		wantFields(t, err, "name", "externalId", "modules")
	}
	_, err := domain.SliceInput{Name: "Short", Modules: []int{0}}.Cut(parent)
	wantFields(t, err, "modules")
}
