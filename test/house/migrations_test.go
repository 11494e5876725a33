package house

import (
	"path"
	"regexp"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var migrationName = regexp.MustCompile(`^\d{4}_[a-z0-9_]+\.sql$`)

func TestEnginesShareTheirMigrations(t *testing.T) {
	t.Parallel()
	byEngine := map[string][]string{}
	numbers := map[string]string{}
	for _, f := range repository(t).files {
		folder, name := path.Split(f.path)
		engine := path.Base(folder)
		if path.Dir(path.Clean(folder)) != "internal/store/migrations" {
			continue
		}
		byEngine[engine] = append(byEngine[engine], name)
		if !migrationName.MatchString(name) {
			t.Errorf("%s: a migration is called 0001_what_it_does.sql", f.path)
			continue
		}
		key := engine + " " + name[:4]
		if other := numbers[key]; other != "" {
			t.Errorf("%s and %s have the same number", f.path, other)
		}
		numbers[key] = f.path
	}
	slices.Sort(byEngine["sqlite"])
	slices.Sort(byEngine["postgres"])
	if diff := cmp.Diff(byEngine["sqlite"], byEngine["postgres"]); diff != "" {
		t.Errorf("the engines' migrations differ (- sqlite, + postgres):\n%s", diff)
	}
}
