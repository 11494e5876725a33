package contract_test

import (
	"cmp"
	"fmt"
	"slices"
	"testing"
)

// walks follows links while records are created and removed.
func walks(t *testing.T, s *suite) {
	f := s.newCompany(t)
	var stay []string
	for i := range 12 {
		id := f.provision(t, fmt.Sprintf("W%d", i))
		if i%3 != 0 {
			stay = append(stay, id)
		}
	}
	got := f.walkPages(t, "/employees?limit=2", func(page int, _ *answer) {
		gone := fmt.Sprintf("W%d", (page-1)*3)
		f.provision(t, fmt.Sprintf("new-%d", page))
		if page <= 4 {
			f.send(t, "DELETE", "/employees/"+gone, "")
		}
	})
	for _, id := range stay {
		if n := count(got, id); n != 1 {
			t.Errorf("%s was there throughout and was seen %d times in %v", id, n, got)
		}
	}
	if !slices.IsSortedFunc(got, byNumber) {
		t.Errorf("the order is %v", got)
	}
}

func count(list []string, want string) (n int) {
	for _, s := range list {
		if s == want {
			n++
		}
	}
	return n
}

// byNumber compares ids as numbers.
func byNumber(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) }

// changes keeps a copy up to date with updatedSince and the watermark.
func changes(t *testing.T, s *suite) {
	f := s.newCompany(t)
	f.provision(t, "E1")
	var all []string
	for i := range 5 {
		all = append(all, f.assign(t, "E1", f.course, fmt.Sprintf("A%d", i)))
	}
	since := func(mark string) ([]string, string) {
		first := ""
		got := f.walkPages(t, "/assignments?limit=2&updatedSince="+percentEncode(mark), func(_ int, a *answer) {
			mark := a.header.Get("X-Sync-Watermark")
			if mark == "" {
				t.Error("no X-Sync-Watermark")
			}
			if first == "" {
				first = mark
			}
		})
		return got, first
	}
	if plain := f.send(t, "GET", "/assignments", ""); plain.header.Get("X-Sync-Watermark") != "" {
		t.Error("a watermark without updatedSince")
	}
	got, mark := since("2020-01-01T00:00:00Z")
	if !slices.Equal(got, all) {
		t.Errorf("the first sync got %v, want %v", got, all)
	}
	for _, step := range []struct {
		name string
		do   func() string // returns the id of the assignment that changed
	}{
		{"started", func() string { f.reportActivity(t, all[3], "started", ""); return all[3] }},
		{"progressed", func() string { f.reportActivity(t, all[1], "progress", `"completionPercent":40`); return all[1] }},
		{"completed", func() string { f.reportActivity(t, all[3], "progress", `"completionPercent":100`); return all[3] }},
		{"created", func() string { return f.assign(t, "E1", f.exam, "A9") }},
		{"scored", func() string {
			id := f.assign(t, "E1", f.exam, "A10")
			f.reportActivity(t, id, "attempt_finished", `"score":50`)
			return id
		}},
	} {
		changed := step.do()
		got, next := since(mark)
		if !slices.Contains(got, changed) {
			t.Errorf("%s: the sync since %s got %v, not %s", step.name, mark, got, changed)
		}
		mark = next
	}
	f.send(t, "DELETE", "/assignments/"+all[0], "")
	if got, _ := since("2020-01-01T00:00:00Z"); slices.Contains(got, all[0]) || len(got) != 6 || got[len(got)-1] == all[4] {
		t.Errorf("in the order of change: %v", got)
	}
	f.assign(t, "E1", f.course, "B1")
	last := f.send(t, "GET", "/assignments/by-external-id/"+"B1", "")
	if got, _ := since(last.str("assignedAt")); !slices.Contains(got, last.str("id")) {
		t.Errorf("updatedSince leaves its own instant out: %v", got)
	}
	future, _ := since("2999-01-01T00:00:00Z")
	if len(future) != 0 {
		t.Errorf("changes of the future: %v", future)
	}
}
