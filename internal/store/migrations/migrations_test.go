package migrations_test

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/coursebridge/coursebridge/internal/store/migrations"
	"github.com/coursebridge/coursebridge/internal/store/storetest"
)

func TestEnginesHaveTheSameMigrations(t *testing.T) {
	t.Parallel()
	names := map[string][]string{}
	for _, engine := range []string{"sqlite", "postgres"} {
		files, err := migrations.For(engine)
		if err != nil {
			t.Fatal(err)
		}
		if names[engine], err = fs.Glob(files, "*.sql"); err != nil {
			t.Fatal(err)
		}
	}
	if !slices.Equal(names["sqlite"], names["postgres"]) {
		t.Errorf("the migrations differ: sqlite has %v, postgres has %v", names["sqlite"], names["postgres"])
	}
	for i, name := range names["sqlite"] {
		var number int64
		if _, err := fmt.Sscanf(name, "%04d_", &number); err != nil || number != int64(i+1) {
			t.Errorf("migration %s should have the number %04d", name, i+1)
		}
	}
	if got := migrations.Missing(migrations.Version - 1); len(got) != 1 || got[0]+".sql" != names["sqlite"][len(names["sqlite"])-1] {
		t.Errorf("a schema that lacks the newest migration is said to lack %v", got)
	}
	if int64(len(names["sqlite"])) != migrations.Version {
		t.Errorf("the newest of %d migrations has the number %d", len(names["sqlite"]), migrations.Version)
	}
}

// Programs that do not read the oldest program are stopped by another sign.
func TestRefusingMigrationsStopTheFirstProgramsToo(t *testing.T) {
	t.Parallel()
	for _, engine := range []string{"sqlite", "postgres"} {
		files, err := migrations.For(engine)
		if err != nil {
			t.Fatal(err)
		}
		names, err := fs.Glob(files, "*.sql")
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			text, err := fs.ReadFile(files, name)
			if err != nil {
				t.Fatal(err)
			}
			up, _, _ := strings.Cut(string(text), "-- +goose Down")
			if strings.Contains(up, "UPDATE schema_compatibility") && !strings.Contains(up, storetest.StopOldProgramsSQL) {
				t.Errorf("%s/%s raises the oldest program without %q", engine, name, storetest.StopOldProgramsSQL)
			}
		}
	}
}
