package faults

import (
	"database/sql"
	"fmt"
	"math"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pressly/goose/v3"

	"github.com/coursebridge/coursebridge/internal/store/migrations"
	"github.com/coursebridge/coursebridge/internal/store/storetest"
)

// firstSchema is the number of the schema of the first release. The files
// testdata/first_*.sql hold what a program of that release has written: a company with
// its administrator, token, people, courses, assignments, events and log.
const firstSchema = 1

// oldDatabase is a database that is used without the program.
type oldDatabase struct {
	t       *testing.T
	engine  string // of the migrations and of the fixture
	address string
	db      *sql.DB
}

func openOld(t *testing.T, database string) oldDatabase {
	t.Helper()
	d := oldDatabase{t: t, engine: "postgres", address: database}
	driver, address := "pgx", database
	if path, ok := strings.CutPrefix(database, "sqlite://"); ok {
		d.engine, driver, address = "sqlite", "sqlite", path
	}
	var err error
	if d.db, err = sql.Open(driver, address); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.db.Close() })
	return d
}

// migrateTo brings the schema to a version.
func (d oldDatabase) migrateTo(version int64) {
	d.t.Helper()
	if err := d.migrateAs(math.MaxInt64, version); err != nil {
		d.t.Fatal(err)
	}
}

// migrateAs brings the schema to a version as a program does that knows the
// migrations up to newest.
func (d oldDatabase) migrateAs(newest, version int64) error {
	d.t.Helper()
	files, err := migrations.For(d.engine)
	if err != nil {
		d.t.Fatal(err)
	}
	unknown := slices.DeleteFunc(migrations.Applied(migrations.Version), func(n int64) bool { return n <= newest })
	dialect := goose.DialectPostgres
	if d.engine == "sqlite" {
		dialect = goose.DialectSQLite3
	}
	p, err := goose.NewProvider(dialect, d.db, files, goose.WithDisableGlobalRegistry(true), goose.WithExcludeVersions(unknown))
	if err != nil {
		d.t.Fatal(err)
	}
	_, err = p.UpTo(d.t.Context(), version)
	return err
}

// fill runs the statements of a fixture, and returns the token that its first lines name.
func (d oldDatabase) fill(fixture string) (token string) {
	d.t.Helper()
	text, err := os.ReadFile("testdata/" + fixture + "_" + d.engine + ".sql")
	if err != nil {
		d.t.Fatal(err)
	}
	if _, err := d.db.ExecContext(d.t.Context(), string(text)); err != nil {
		d.t.Fatal(err)
	}
	if key := keyInFixture.FindStringSubmatch(string(text)); key != nil {
		if err := os.WriteFile(strings.TrimPrefix(d.address, "sqlite://")+".key", []byte(key[1]+"\n"), 0o600); err != nil {
			d.t.Fatal(err)
		}
	}
	return tokenInFixture.FindStringSubmatch(string(text))[1]
}

func (d oldDatabase) texts(query string, args ...any) []string {
	d.t.Helper()
	rows, err := d.db.QueryContext(d.t.Context(), query, args...)
	if err != nil {
		d.t.Fatalf("%s: %v", query, err)
	}
	defer rows.Close()
	var out []string
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			d.t.Fatal(err)
		}
		out = append(out, text)
	}
	if err := rows.Err(); err != nil {
		d.t.Fatal(err)
	}
	return out
}

// columns returns the columns of the tables that hold records, by table.
func (d oldDatabase) columns() map[string][]string {
	d.t.Helper()
	query := `SELECT table_name || ' ' || column_name FROM information_schema.columns WHERE table_schema = 'public' ORDER BY table_name, ordinal_position`
	if d.engine == "sqlite" {
		query = `SELECT m.name || ' ' || c.name FROM sqlite_master m, pragma_table_info(m.name) c WHERE m.type = 'table' ORDER BY m.name, c.cid`
	}
	out := map[string][]string{}
	for _, line := range d.texts(query) {
		table, column, _ := strings.Cut(line, " ")
		switch table {
		case "goose_db_version", "sqlite_sequence", "settings", "leases", "cache_versions", "change_clock", "sequences":
		default:
			out[table] = append(out[table], column)
		}
	}
	return out
}

// rows returns the rows of the tables as lines of text, with these columns only.
func (d oldDatabase) rows(columns map[string][]string) []string {
	d.t.Helper()
	var out []string
	for table, names := range columns {
		shown := make([]string, len(names))
		for i, name := range names {
			shown[i] = fmt.Sprintf(`coalesce(CAST(%s AS text), 'null')`, name)
		}
		for _, row := range d.texts(`SELECT ` + strings.Join(shown, ` || ' | ' || `) + ` FROM ` + table) {
			out = append(out, table+": "+row)
		}
	}
	slices.Sort(out)
	return out
}

// A database of the first release is migrated with every record, and the records that
// a program of the first release writes after the migration, while a rolling upgrade
// is under way, are as good as those it has written before.
func TestUpgradeFromTheFirstRelease(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, before string) {
		after := sqliteDatabase(t)
		if before[0] == 'p' {
			after = postgresDatabase(t)
		}
		written := openOld(t, before)
		written.migrateTo(firstSchema)
		columns := written.columns()
		token := written.fill("first")
		want := written.rows(columns)
		if len(want) < 30 {
			t.Fatalf("the fixture has %d rows only", len(want))
		}
		runJSON[struct{ Status string }](t, before, "migrate")
		if diff := cmp.Diff(want, written.rows(columns)); diff != "" {
			t.Errorf("the migration changed records (-before +after):\n%s", diff)
		}
		runJSON[struct{ Status string }](t, after, "migrate")
		rolling := openOld(t, after)
		rolling.fill("first")
		if diff := cmp.Diff(want, rolling.rows(columns)); diff != "" {
			t.Errorf("a program of the first release wrote other records into the new schema (-want +got):\n%s", diff)
		}
		for _, d := range []oldDatabase{written, rolling} {
			d.checkServed(token, 3, 4)
		}
	})
}

// A whole database that a program of an earlier day has written, webhooks and platform
// included, is migrated with every record and served. The fixture is a dump: tables,
// indexes and rows as that program left them.
func TestUpgradeOfAWholeDatabase(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, database string) {
		written := openOld(t, database)
		token := written.fill("written")
		columns := written.columns()
		// The link from an entry to a person who was erased is taken away on purpose.
		columns["audit_entries"] = slices.DeleteFunc(columns["audit_entries"], func(name string) bool { return name == "employee_id" })
		want := written.rows(columns)
		if len(want) < 60 {
			t.Fatalf("the fixture has %d rows only", len(want))
		}
		runJSON[struct{ Status string }](t, database, "migrate")
		if diff := cmp.Diff(want, written.rows(columns)); diff != "" {
			t.Errorf("the migration changed records (-before +after):\n%s", diff)
		}
		written.checkServed(token, 4, 3)
	})
}

// A program that is older than the database refuses it with one line that explains what to
// do, before it listens.
func TestOlderProgramRefusesANewerDatabase(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, database string) {
		runJSON[struct{ Status string }](t, database, "migrate")
		newer := openOld(t, database)
		if err := newer.migrateAs(firstSchema, firstSchema); err != nil {
			t.Errorf("a program of the first release is refused by a schema that it may use: %v", err)
		}
		for _, statement := range []string{
			fmt.Sprintf(`INSERT INTO goose_db_version (version_id, is_applied) VALUES (%d, %t)`, migrations.Version+1, true),
			fmt.Sprintf(`UPDATE schema_compatibility SET oldest_program = %d`, migrations.Version+1),
			storetest.StopOldProgramsSQL,
		} {
			if _, err := newer.db.ExecContext(t.Context(), statement); err != nil {
				t.Fatal(err)
			}
		}
		if err := newer.migrateAs(firstSchema, firstSchema); err == nil { // as its every command does first
			t.Error("a program of the first release is not refused")
		}
		for _, args := range [][]string{{"serve", "--listen", "127.0.0.1:0"}, {"migrate"}, {"company", "list"}} {
			done := runCommand(t, command(append(args, "--database", database)...))
			if done.code == 0 || strings.Count(strings.TrimSpace(done.stderr), "\n") != 0 || !strings.Contains(done.stderr, "use a newer coursebridge") {
				t.Errorf("%s ended with code %d and wrote %q, want one line that says to use a newer program", args[0], done.code, done.stderr)
			}
		}
	})
}

var (
	tokenInFixture = regexp.MustCompile(`-- token: (cb_\w+)`)
	keyInFixture   = regexp.MustCompile(`-- key: (\S+)`)
)

// checkServed serves the database with today's program and uses its records.
func (d oldDatabase) checkServed(token string, employees, assignments int) {
	d.t.Helper()
	server := serve(d.t, d.address, "--no-webhooks")
	defer server.kill()
	c := company{database: d.address, token: token, client: newClient(d.t)}
	got, err := c.truth(d.t.Context(), server.url)
	if err != nil {
		d.t.Fatal(err)
	}
	if len(got.employees) != employees || len(got.assignments) != assignments {
		d.t.Errorf("the API shows %d employees and %d assignments, want %d and %d", len(got.employees), len(got.assignments), employees, assignments)
	}
	for path, count := range map[string]int{"employees": employees, "assignments": assignments} {
		want := fmt.Sprintf(`"total":%d`, count)
		eventually(d.t, timeout, "the total of "+path, func() error {
			if body := c.mustSend(d.t, http.MethodGet, server.url+"/api/v1/"+path+"?limit=1", nil); !strings.Contains(string(body), want) {
				return fmt.Errorf("want %s: %s", want, body)
			}
			return nil
		})
	}
	c.mustSend(d.t, http.MethodPatch, server.url+"/api/v1/employees/HR-1", map[string]any{"name": "Renamed after the upgrade"})
	c.mustSend(d.t, http.MethodPost, server.url+"/api/v1/employees/provision", newPerson("new"))
	c.mustSend(d.t, http.MethodDelete, server.url+"/api/v1/employees/HR-2", nil)
}
