package storetest_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/coursebridge/coursebridge/internal/domain"
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
// starts by hand, the latest rows along the primary key up to a limit, and the default
// partition, which has rows only if nobody made partitions for a while.
var allowedScan = regexp.MustCompile(`employees_unfolded|FROM delivery_attempts_rest$|FROM platform_audit_entries ORDER BY id DESC LIMIT|lower\((actor_label|cells|detail|message|request_body)\) LIKE`)

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

// With one plan for all arguments, that plan is explained.
func TestGenericPlansAreExplained(t *testing.T) {
	t.Parallel()
	s := storetest.Open(t, storetest.Postgres(t))
	it := db.Item{SQL: `SELECT 1 FROM assignments WHERE company_id = $1 AND id = $2`, Args: []any{7, 8}}
	for generic, want := range map[bool]string{true: "(company_id = $1) AND (id = $2)", false: "(company_id = '7'::bigint) AND (id = '8'::bigint)"} {
		plan, err := planOf(t.Context(), s.Engine(), runStatement{it, generic}, reluctant)
		if err != nil || !strings.Contains(plan, want) {
			t.Errorf("generic %v: %v, the plan lacks %s:\n%s", generic, err, want, plan)
		}
	}
	watched, r := recordStatements(s)
	f := newTestCompany(t, s).with(watched)
	generic := 0
	r.keep = func(_ db.Item, isGeneric bool) bool {
		if isGeneric {
			generic++
		}
		return false
	}
	f.assignments(domain.AssignmentFilter{}, firstTen)
	equal(t, "generic statements of a list, with the one that asks for it", generic, 2)
}

func TestReadingAWholeTableIsNoticed(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		for sql, want := range map[string]string{
			`SELECT 1 FROM assignments x WHERE x.percent = $1`:               "assignments",
			`SELECT e.id FROM events e ORDER BY e.id LIMIT $1`:               "events",
			`SELECT 1 FROM employees e WHERE e.company_id = $1 AND e.id = 7`: "",
		} {
			plan, err := planOf(t.Context(), s.Engine(), runStatement{Item: db.Item{SQL: sql, Args: []any{7}}}, reluctant)
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(scannedTables(s.Engine().Name(), sql, plan), " "); got != want {
				t.Errorf("%s reads all of %q, want %q:\n%s", sql, got, want, plan)
			}
		}
	})
}
