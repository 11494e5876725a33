package storetest_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coursebridge/coursebridge/internal/store"
	"github.com/coursebridge/coursebridge/internal/store/db"
	"github.com/coursebridge/coursebridge/internal/store/storetest"
)

// growingTables are the tables that have more and more rows with the people, the
// assignments or the time. TestEveryTableIsSmallOrGrows keeps the list complete.
var growingTables = regexp.MustCompile(`^(accounts|activities|anonymous_results|api_request_hours|api_request_mentions|api_requests|` +
	`assignment_attempts|assignment_history|assignments|audit_entries|deliveries|delivery_attempts|employee_tags|employees|` +
	`events|import_rows|job_items|planned_offboardings|platform_audit_entries|totals)$`)

// smallTables have few rows of each company, or are emptied all the time.
var smallTables = regexp.MustCompile(`^(administrators|cache_versions|companies|company_administrators|course_grants|course_modules|course_renames|` +
	`courses|endpoints|erased_mentions|form_submissions|former_administrators|former_leases|import_columns|imports|jobs|leases|platform_tokens|redeliveries|saved_views|` +
	`schema_compatibility|sessions|settings|sign_in_links|sign_in_throttles|tokens|total_changes|total_companies|` +
	`change_clock|counted_together|goose_db_version|messages|sequences|sqlite_sequence)$`)

// allowedScan matches what may read all of a table: an index of the few rows that
// wait for something, the search for every mention of a person, which the operator
// starts by hand, and the latest rows along the primary key up to a limit.
var allowedScan = regexp.MustCompile(`employees_unfolded|FROM platform_audit_entries ORDER BY id DESC LIMIT|lower\((actor_label|cells|detail|message|request_body)\) LIKE`)

// explained holds the texts of the statements that the store has run in a test, the texts
// of those that were explained, by engine, and those for PostgreSQL with their arguments.
var explained = struct {
	sync.Mutex
	run, texts map[string]bool
	items      []db.Item
}{run: map[string]bool{}, texts: map[string]bool{}}

// TestMain has every statement that the store runs in a test of this package
// explained once, at the end of that test, and fails the test if the plan reads all
// of a growing table. See also checkAfterAll.
func TestMain(m *testing.M) {
	storetest.WrapEngine = func(tb testing.TB, engine db.Engine) db.Engine {
		var mu sync.Mutex
		items := map[string]db.Item{}
		tb.Cleanup(func() {
			mu.Lock()
			defer mu.Unlock()
			for _, it := range items {
				checkPlan(tb, engine, it)
			}
		})
		return &recorder{Engine: engine, keep: func(it db.Item) bool {
			if planned.MatchString(it.SQL) && calledByStore() {
				mu.Lock()
				defer mu.Unlock()
				it.Args = slices.Clone(it.Args)
				items[it.SQL] = it
				explained.Lock()
				explained.run[it.SQL] = true
				explained.Unlock()
			}
			return false
		}}
	}
	code := m.Run()
	if code == 0 {
		if err := checkAfterAll(context.Background()); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// planned matches statements that have a plan.
var planned = regexp.MustCompile(`^\s*(SELECT|UPDATE|DELETE|INSERT|WITH)\b`)

// calledByStore reports whether the code that runs a statement is the store's, not a
// test's own. It goes by the file: the compiler names the function literals of a method
// that it inlines into a test after the test.
func calledByStore() bool {
	callers := make([]uintptr, 16)
	frames := runtime.CallersFrames(callers[:runtime.Callers(3, callers)])
	for {
		frame, more := frames.Next()
		if filepath.Base(frame.File) != "recorder_test.go" {
			return strings.HasSuffix(filepath.Dir(frame.File), "/internal/store")
		}
		if !more {
			return false
		}
	}
}

// checkPlan explains a statement that no test has explained yet. A test may have
// made its database unusable; then another test explains the statement.
func checkPlan(tb testing.TB, engine db.Engine, it db.Item) {
	key := engine.Name() + it.SQL
	explained.Lock()
	known := explained.texts[key]
	explained.texts[key] = true
	explained.Unlock()
	if known {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	plan, err := planOf(ctx, engine, it)
	if err != nil {
		explained.Lock()
		delete(explained.texts, key)
		explained.Unlock()
		return
	}
	if engine.Name() == "postgres" {
		explained.Lock()
		explained.items = append(explained.items, it)
		explained.Unlock()
	}
	for _, table := range scannedTables(engine.Name(), it.SQL, plan) {
		if growingTables.MatchString(table) && !allowedScan.MatchString(plan+it.SQL) {
			tb.Errorf("all of %s is read by\n%s\n%s", table, it.SQL, plan)
		}
	}
	if engine.Name() == "postgres" {
		for _, table := range withoutCompany(it.SQL, plan) {
			tb.Errorf("%s is used without its company_id (see crossCompany) by\n%s\n%s", table, it.SQL, plan)
		}
	}
}

// planOf returns the plan of a statement. PostgreSQL is told to avoid the plans that
// read whole tables, which it prefers while they are small: it then makes one only
// where no index helps.
func planOf(ctx context.Context, engine db.Engine, it db.Item) (string, error) {
	var lines []string
	b := &db.Batch{}
	if engine.Name() == "postgres" {
		for _, kind := range []string{"seqscan", "bitmapscan", "hashjoin", "mergejoin"} {
			b.Exec(`SET LOCAL enable_` + kind + ` = off`)
		}
		b.Query(func(r db.Rows) error {
			var line string
			err := r.Scan(&line)
			lines = append(lines, line)
			return err
		}, `EXPLAIN `+it.SQL, it.Args...)
	} else {
		b.Query(func(r db.Rows) error {
			var id, parent, unused int64
			var line string
			err := r.Scan(&id, &parent, &unused, &line)
			lines = append(lines, line)
			return err
		}, `EXPLAIN QUERY PLAN `+it.SQL, it.Args...)
	}
	err := engine.Write(ctx, func(tx db.Tx) error { return tx.Send(ctx, b) })
	return strings.Join(lines, "\n"), err
}

var (
	postgresScan = regexp.MustCompile(`(?m)(?:Seq Scan|Index (?:Only )?Scan(?: Backward)? using \w+) on (\w+).*(\n.*)?`)
	sqliteScan   = regexp.MustCompile(`(?m)^SCAN (\w+)`)
)

// scannedTables returns the tables that a plan reads as a whole.
func scannedTables(engine, sql, plan string) (tables []string) {
	if engine == "sqlite" {
		for _, m := range sqliteScan.FindAllStringSubmatch(plan, -1) {
			isSubquery := strings.Contains(plan, "CO-ROUTINE "+m[1]) || strings.Contains(plan, "MATERIALIZE "+m[1])
			if !isSubquery {
				tables = append(tables, tableOf(m[1], sql))
			}
		}
		return tables
	}
	for _, m := range postgresScan.FindAllStringSubmatch(plan, -1) {
		if table := wholeTable(m[1]); strings.HasPrefix(m[0], "Seq Scan") || !strings.Contains(m[2], "Index Cond") {
			tables = append(tables, table)
		}
	}
	return slices.Compact(tables)
}

// tableOf returns the table that a name stands for in a statement.
func tableOf(name, sql string) string {
	alias := regexp.MustCompile(`(?:FROM|JOIN|UPDATE|INTO|,)\s+(\w+)\s+(?:AS\s+)?` + name + `\b`)
	if m := alias.FindStringSubmatch(sql); m != nil {
		return m[1]
	}
	return name
}

func TestEveryTableIsSmallOrGrows(t *testing.T) {
	t.Parallel()
	s := storetest.Open(t, storetest.SQLite(t))
	for _, table := range texts(t, s, `SELECT name FROM sqlite_master WHERE type = 'table'`) {
		if growingTables.MatchString(table) == smallTables.MatchString(table) {
			t.Errorf("the table %s must be in one of the two lists", table)
		}
	}
}

func TestReadingAWholeTableIsNoticed(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		for sql, want := range map[string]string{
			`SELECT 1 FROM assignments x WHERE x.percent = $1`:               "assignments",
			`SELECT e.id FROM events e ORDER BY e.id LIMIT $1`:               "events",
			`SELECT 1 FROM employees e WHERE e.company_id = $1 AND e.id = 7`: "",
		} {
			plan, err := planOf(t.Context(), s.Engine(), db.Item{SQL: sql, Args: []any{7}})
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(scannedTables(s.Engine().Name(), sql, plan), " "); got != want {
				t.Errorf("%s reads all of %q, want %q:\n%s", sql, got, want, plan)
			}
		}
	})
}
