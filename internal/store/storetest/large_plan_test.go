package storetest_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/url"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/coursebridge/coursebridge/internal/store"
)

// After all tests of this package have run on both engines, every statement of the store
// must have been explained, and none may have a bad plan in a database where each growing
// table has many rows.
const (
	largeCompanies = 100
	largeRows      = 15_000
	// largeFactor is how many times as many rows PostgreSQL is told that the tables have.
	// With 60,000 rows and a factor of 80, the check found the same and took 40 s longer.
	largeFactor = 320
	// sortMemory is PostgreSQL's default work_mem: a larger sort is written to disk.
	sortMemory = 4 << 20
)

// checkAfterAll returns what is wrong. A run of some tests, or without PostgreSQL, is not
// checked.
func checkAfterAll(ctx context.Context) error {
	server, isPart := os.Getenv("COURSEBRIDGE_TEST_POSTGRES"), testing.Short()
	for _, name := range []string{"test.run", "test.skip", "test.list"} {
		isPart = isPart || flag.Lookup(name).Value.String() != ""
	}
	if server == "" || isPart {
		return nil
	}
	return errors.Join(explained.unexplained(), checkSource(), checkLargePlans(ctx, server))
}

// checkLargePlans explains every statement for PostgreSQL in a database with many rows in
// each growing table, first without statistics, as after an import, and then with them.
func checkLargePlans(ctx context.Context, server string) error {
	s, drop, err := largeDatabase(ctx, server)
	if err != nil {
		return fmt.Errorf("make a large database: %w", err)
	}
	defer drop()
	var errs []error
	check := func(when string, problems func(sql, plan string) []string) {
		for _, st := range explained.postgres {
			plan, err := planOf(ctx, s.Engine(), st, nil)
			if err != nil {
				errs = append(errs, fmt.Errorf("%s: the statement was not explained: %w\n%s", when, err, st.SQL))
			}
			for _, problem := range problems(st.SQL, plan) {
				errs = append(errs, fmt.Errorf("%s: %s by\n%s\n%s", when, problem, st.SQL, plan))
			}
		}
	}
	check("without statistics, as after an import", func(sql, plan string) []string { // its estimates mean nothing for sorts
		if unanalyzed.MatchString(oneLine(sql)) {
			return nil
		}
		return scansOfAll(sql, plan)
	})
	if err := inLarge(ctx, server, `ANALYZE`, toldLargerSQL); err != nil {
		return err
	}
	check("with statistics", func(sql, plan string) []string { return append(scansOfAll(sql, plan), sortsOnDisk(plan)...) })
	return errors.Join(errs...)
}

var seqScanNode = regexp.MustCompile(`Seq Scan on (\w+).*?\(cost=[\d.]+\.\.([\d.]+) `)

var sortNode = regexp.MustCompile(`(?m)(?:->|^)\s*Sort\s+\(cost=\S+ rows=(\d+) width=(\d+)\)`)

// unanalyzed matches statements that read all activities if the table has no statistics:
// nothing tells the planner that an assignment has few. AnalyzeGrownTables collects them
// within seconds of the first import.
var unanalyzed = regexp.MustCompile(`^DELETE FROM activities WHERE assignment_id IN \(`)

// scansOfAll returns the growing tables that a plan reads as a whole.
func scansOfAll(sql, plan string) (out []string) {
	for _, m := range seqScanNode.FindAllStringSubmatch(plan, -1) {
		isEmpty := m[2] == "0.00" // a partition without rows
		if table := wholeTable(m[1]); growingTables.MatchString(table) && !isEmpty && !allowedScan.MatchString(plan+sql) {
			out = append(out, "all of "+table+" is read")
		}
	}
	return out
}

// sortsOnDisk returns the sorts of a plan that need more than sortMemory.
func sortsOnDisk(plan string) (out []string) {
	for _, m := range sortNode.FindAllStringSubmatch(plan, -1) {
		rows, _ := strconv.Atoi(m[1])
		width, _ := strconv.Atoi(m[2])
		if rows*width > sortMemory {
			out = append(out, fmt.Sprintf("%d rows of %d bytes are sorted on disk", rows, width))
		}
	}
	return out
}

var largeName = fmt.Sprintf("cb_plans_%d", os.Getpid())

// largeDatabase returns a store on a new database, and a function that drops it.
func largeDatabase(ctx context.Context, server string) (*store.Store, func(), error) {
	admin, err := pgx.Connect(ctx, server)
	if err != nil {
		return nil, nil, err
	}
	if _, err := admin.Exec(ctx, `CREATE DATABASE `+largeName); err != nil {
		return nil, nil, err
	}
	address, err := url.Parse(server)
	if err != nil {
		return nil, nil, err
	}
	address.Path = "/" + largeName
	s, err := store.Open(ctx, address.String())
	if err != nil {
		return nil, nil, err
	}
	drop := func() {
		_ = s.Close()
		_, _ = admin.Exec(ctx, `DROP DATABASE `+largeName+` WITH (FORCE)`)
		_ = admin.Close(ctx)
	}
	if err = s.Engine().Migrate(ctx); err == nil {
		err = inLarge(ctx, server, `SET session_replication_role = replica`, fillGrowingSQL, toldLargerSQL)
	}
	if err != nil {
		drop()
		return nil, nil, err
	}
	return s, drop, nil
}

// inLarge runs statements that may take long.
func inLarge(ctx context.Context, server string, statements ...string) error {
	config, err := pgx.ParseConfig(server)
	if err != nil {
		return err
	}
	config.Database = largeName
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(ctx) }()
	for _, sql := range statements {
		if _, err := conn.Exec(ctx, sql); err != nil {
			return err
		}
	}
	return nil
}

// toldLargerSQL makes PostgreSQL plan for tables that are largeFactor times as large.
// Filling them so far would take minutes.
var toldLargerSQL = fmt.Sprintf(`UPDATE pg_class SET reltuples = %d, relpages = pg_relation_size(oid) / 8192
	WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace AND relname ~ '%s' AND pg_relation_size(oid) > 0`,
	largeRows*largeFactor, strings.Replace(growingTables.String(), ")$", ")(_first)?$", 1))

// fillGrowingSQL fills every growing table and the companies, whatever their columns are:
// numbers count, instants are a second apart, and what may be missing is mostly missing.
var fillGrowingSQL = fmt.Sprintf(`DO $$
DECLARE
  t record;
BEGIN
  FOR t IN SELECT c.table_name, string_agg(quote_ident(c.column_name), ', ' ORDER BY c.ordinal_position) AS columns,
      string_agg(CASE
        WHEN c.column_name = 'company_id' OR c.table_name = 'companies' AND c.column_name = 'id' THEN '1 + i %% %[1]d'
        WHEN c.column_name = 'status' AND c.data_type = 'text' THEN '(array[''assigned'', ''started'', ''completed'', ''failed''])[1 + i %% 4]'
        WHEN c.column_name = 'status' THEN 'CASE WHEN i %% 50 = 0 THEN 404 ELSE 200 END'
        WHEN c.column_name = 'state' THEN 'CASE i %% 100 WHEN 0 THEN ''pending'' WHEN 1 THEN ''failed'' ELSE ''delivered'' END'
        WHEN c.column_name IN ('kind', 'action', 'actor_kind', 'method', 'route', 'cause') THEN '''k'' || i %% 5'
        WHEN c.column_name IN ('tags', 'attributes') THEN '''[]'''
        WHEN c.is_nullable = 'YES' AND c.column_name NOT IN ('external_id', 'name_folded', 'last_name_folded', 'kept_at', 'figures_kept_at') THEN
          'CASE WHEN i %% 20 = 0 THEN ' || v.value || ' END'
        ELSE v.value END, ', ' ORDER BY c.ordinal_position) AS expressions
    FROM information_schema.columns c
    CROSS JOIN LATERAL (SELECT CASE
        WHEN c.column_name IN ('employee_id', 'assignment_id', 'event_id', 'record_id') AND c.data_type = 'bigint' THEN 'i / 2'
        WHEN c.column_name IN ('endpoint_id', 'course_id', 'token_id', 'actor_id', 'import_id', 'job_id') THEN 'i / 100 %% 7'
        WHEN c.data_type = 'bigint' THEN 'i'
        WHEN c.data_type = 'integer' THEN 'i %% 5'
        WHEN c.data_type = 'boolean' THEN 'i %% 2 = 0'
        WHEN c.data_type = 'bytea' THEN 'decode(''00'', ''hex'')'
        WHEN c.data_type = 'uuid' THEN '(lpad(to_hex(floor(extract(epoch FROM now()) * 1000)::bigint - i), 12, ''0'') || lpad(to_hex(i), 20, ''0''))::uuid'
        WHEN c.data_type LIKE 'timestamp%%' THEN 'now() - i * interval ''1 second'''
        ELSE '''x'' || i' END) v (value)
    WHERE c.table_schema = current_schema() AND c.table_name ~ '%[3]s' AND c.is_generated = 'NEVER'
    GROUP BY c.table_name
  LOOP
    EXECUTE format('INSERT INTO %%I (%%s) OVERRIDING SYSTEM VALUE SELECT %%s FROM generate_series(0, %%s) i',
      t.table_name, t.columns, t.expressions, CASE WHEN t.table_name IN ('companies', 'total_companies') THEN %[1]d - 1 ELSE %[2]d END);
  END LOOP;
END
$$`, largeCompanies, largeRows, strings.Replace(growingTables.String(), "^(", "^(companies|total_companies|", 1))

func TestBadPlansAreNoticed(t *testing.T) {
	t.Parallel()
	const plan = `Sort  (cost=98.32..98.33 rows=%d width=64)
  Sort Key: id
  ->  Seq Scan on %s x  (cost=0.00..97.00 rows=600 width=64)
  ->  Seq Scan on delivery_attempts_rest y  (cost=0.00..0.00 rows=1 width=64)`
	equal(t, "a large sort", len(sortsOnDisk(fmt.Sprintf(plan, 70_000, "courses"))), 1)
	equal(t, "a small sort", len(sortsOnDisk(fmt.Sprintf(plan, 60_000, "courses"))), 0)
	equal(t, "a scan of a partition", len(scansOfAll("", fmt.Sprintf(plan, 1, "delivery_attempts_first"))), 1)
	equal(t, "a scan of a small table", len(scansOfAll("", fmt.Sprintf(plan, 1, "courses"))), 0)
}
