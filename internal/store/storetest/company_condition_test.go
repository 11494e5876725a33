package storetest_test

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/coursebridge/coursebridge/internal/store/db"
	"github.com/coursebridge/coursebridge/internal/store/storetest"
)

// companyTables are the tables that a distributed PostgreSQL would spread by company_id.
// docs/scaling.md lists them; TestTablesAreSpreadOrReferenced keeps both complete.
var companyTables = []string{
	"anonymous_results", "api_request_hours", "api_request_mentions", "api_requests", "assignment_attempts", "assignment_history",
	"assignments", "audit_entries", "course_grants", "deliveries", "delivery_attempts", "employee_tags",
	"employees", "endpoints", "erased_mentions", "events", "former_leases", "import_columns", "import_rows", "imports", "job_items", "jobs", "planned_offboardings",
	"redeliveries", "saved_views", "total_changes", "total_companies", "totals",
}

// smallOfCompanies are tables with a company_id and few rows that are looked up without
// it, at each request and each sign-in. They would be reference tables.
var smallOfCompanies = []string{"company_administrators", "tokens"}

// crossCompany are the statements that use rows of many companies, by a part of their
// text, and what that means for a distributed database. docs/scaling.md explains them.
var crossCompany = []struct{ text, why string }{
	{"company_id IN (SELECT c.id FROM companies c)", "an operator looks for every mention of a person: all shards are asked"},
	{"FROM employees e WHERE e.email_folded = $1 ORDER BY e.company_id", "an operator asks what is known of a person: all shards are asked"},
	{"DELETE FROM accounts WHERE email_folded = ", "the account of a person goes with the last employee who has it: all shards are asked"},
	{"WHERE name_folded IS NULL ORDER BY company_id, id LIMIT $1", "rows of an older program are looked for in the background: all shards are asked"},
	{"SELECT DISTINCT company_id FROM erased_mentions", "the erasure of mentions looks for companies with any, and then works company by company"},
	{"SELECT DISTINCT company_id FROM total_changes", "the fold looks for companies with changes, and then works company by company"},
	{"FROM total_companies c WHERE c.figures_kept_at IS NOT NULL", "the figures of the day look for companies without any, and then work company by company"},
	{"DELETE FROM imports WHERE (company_id, id) IN (SELECT i.company_id, i.id FROM imports i WHERE i.created_at < $1", "retention; needs a walk over the companies before it can be distributed"},
	{"DELETE FROM jobs WHERE (company_id, id) IN (SELECT j.company_id, j.id FROM jobs j WHERE j.finished_at < $1", "as above"},
	{"DELETE FROM redeliveries WHERE (company_id, id) IN (SELECT company_id, id FROM redeliveries WHERE finished_at < $1", "as above"},
	{"DELETE FROM endpoints WHERE (company_id, id) IN (SELECT e.company_id, e.id FROM endpoints e WHERE e.removed_at < $1", "as above"},
	{"UPDATE endpoints SET previous_secret = NULL, previous_until = NULL WHERE previous_until <= $1", "as above"},
	{"UPDATE endpoints SET lease_owner = '', lease_until = $2 WHERE lease_owner = $1", "a server gives up its leases of all companies: all shards are asked"},
	{"FROM endpoints e WHERE e.lease_until > $1 AND e.lease_owner <> ''", "an operator asks for the state of the installation: all shards are asked"},
	{"FROM endpoints WHERE removed_at IS NULL ORDER BY company_id, id", "an operator looks for secrets that cannot be read: all shards are asked"},
	{"SELECT count(*), count(e.disabled_at) FROM endpoints e WHERE e.removed_at IS NULL", "as above"},
	{"LEFT JOIN (SELECT company_id, count(*) AS n FROM events WHERE occurred_at >= $1", "an operator asks for the busiest companies: all shards are asked"},
	{"FROM endpoints e WHERE (e.company_id, e.id) > ($1, $2) ORDER BY e.company_id, e.id LIMIT $3", "the secrets of all companies are encrypted again: shards are asked one after the other"},
	{"FROM redeliveries WHERE finished_at IS NULL ORDER BY created_at", "a server looks for work of all companies: all shards are asked"},
	{"FROM assignments WHERE overdue_at IS NULL AND revoked_at IS NULL AND status <> 'completed' AND deadline <= $1", "the sweep asks all shards whether anything became overdue"},
	{"WHERE a.overdue_at IS NULL AND a.revoked_at IS NULL AND a.status <> 'completed' AND a.deadline <= $1 ORDER BY a.deadline LIMIT", "the sweep locks rows of many companies; needs a walk over the companies before it can be distributed"},
	{"FROM assignments a WHERE a.id = ANY (", "activities of the platform name assignments by id alone; needs a directory of ids before it can be distributed"},
	{"CROSS JOIN LATERAL (SELECT * FROM courses c WHERE c.id = a.course_id OFFSET 0) c WHERE a.id = ANY (", "as above"},
	{"SELECT 1 FROM assignments WHERE id = $1", "as above"},
	{"WITH RECURSIVE waiting (company_id, kind) AS", "retention looks whether any company waits for a partition of attempts: all shards are asked"},
	{"FROM delivery_attempts_rest", "new partitions begin after the newest row of the default one"},
}

// referenceTables are the tables that would have a copy on every node.
var referenceTables = []string{
	"accounts", "administrators", "companies", "company_administrators", "course_modules", "courses", "former_administrators", "tokens",
}

// foreignKey is a foreign key with its pairs of columns, such as "company_id=company_id employee_id=id".
type foreignKey struct{ from, to, columns string }

// problem returns what keeps the tables of a foreign key from being spread by company.
func (k foreignKey) problem() string {
	isSpread := slices.Contains(companyTables, k.from)
	switch {
	case slices.Contains(companyTables, k.to) && !isSpread:
		return "leads from a table that is not spread to one that is"
	case slices.Contains(companyTables, k.to) && !slices.Contains(strings.Fields(k.columns), "company_id=company_id"):
		return "crosses companies"
	case isSpread && !slices.Contains(companyTables, k.to) && !slices.Contains(referenceTables, k.to):
		return "leads to a table that is neither spread nor a reference table"
	}
	return ""
}

const foreignKeysSQL = `SELECT k.conrelid::regclass || ' ' || k.confrelid::regclass || ' ' || string_agg(a.attname || '=' || f.attname, ' ')
	FROM pg_constraint k CROSS JOIN LATERAL unnest(k.conkey, k.confkey) c (own, other)
		JOIN pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = c.own
		JOIN pg_attribute f ON f.attrelid = k.confrelid AND f.attnum = c.other
	WHERE k.contype = 'f' AND k.connamespace = current_schema()::regnamespace GROUP BY k.oid, k.conrelid, k.confrelid`

func TestForeignKeysStayWithinACompany(t *testing.T) {
	t.Parallel()
	s := storetest.Open(t, storetest.Postgres(t))
	keys := texts(t, s, foreignKeysSQL)
	if len(keys) < 25 {
		t.Errorf("found only %d foreign keys: %q", len(keys), keys)
	}
	for _, line := range keys {
		part := strings.SplitN(line, " ", 3)
		if problem := (foreignKey{part[0], part[1], part[2]}).problem(); problem != "" {
			t.Errorf("a foreign key of %s to %s (%s) %s", part[0], part[1], part[2], problem)
		}
	}
	for key, want := range map[foreignKey]string{
		{"assignments", "employees", "company_id=company_id employee_id=id"}: "",
		{"assignments", "employees", "employee_id=id"}:                       "crosses companies",
		{"assignments", "employees", "company_id=id employee_id=company_id"}: "crosses companies",
		{"assignments", "courses", "course_id=id"}:                           "",
		{"assignments", "sessions", "session_id=id"}:                         "leads to a table that is neither spread nor a reference table",
		{"activities", "assignments", "assignment_id=id"}:                    "leads from a table that is not spread to one that is",
	} {
		equal(t, fmt.Sprint(key), key.problem(), want)
	}
}

var (
	scanNode       = regexp.MustCompile(`(?:Seq Scan|Index (?:Only )?Scan(?: Backward)?(?: using \w+)?|Bitmap Heap Scan) on (\w+)(?: (\w+))?`)
	companyEqual   = regexp.MustCompile(`\bcompany_id\b[^()]{0,12} = |= (?:\w+\.)?"?company_id\b|\bcompany_id\) = `)
	insertedFields = regexp.MustCompile(`INSERT INTO (\w+)(?: AS \w+)?\s*\(([^)]*)\)`)
)

// partitionName and partitionAlias match the ends of what a plan calls a partition.
var (
	partitionName  = regexp.MustCompile(`^(delivery_attempts)_(first|rest|\d[\d_]*)$`)
	partitionAlias = regexp.MustCompile(`_\d+$`)
)

// wholeTable returns the table of a partition, or the name as it is.
func wholeTable(name string) string { return partitionName.ReplaceAllString(name, "$1") }

// withoutCompany returns the tables that a statement on PostgreSQL uses without the
// company: a scan whose conditions don't compare company_id, or rows inserted without it.
// The plan is that of PostgreSQL's own parser, so that a company that follows from a
// join counts.
func withoutCompany(sql, plan string) (tables []string) {
	for _, c := range crossCompany {
		if strings.Contains(oneLine(sql), c.text) {
			return nil
		}
	}
	lines := strings.Split(plan, "\n")
	for i, line := range lines {
		found := scanNode.FindStringSubmatch(line)
		if found == nil {
			continue
		}
		table, alias := wholeTable(found[1]), partitionAlias.ReplaceAllString(found[2], "")
		if !slices.Contains(companyTables, table) {
			continue
		}
		conditions := ""
		for _, next := range lines[i+1:] {
			if strings.Contains(next, "->") || strings.Contains(next, "SubPlan") || strings.Contains(next, "InitPlan") {
				break
			}
			conditions += next
		}
		isListed := slices.Contains(tables, table) // as another partition
		if !isListed && !companyEqual.MatchString(conditions) && !comparesCompany(sql, alias) {
			tables = append(tables, table)
		}
	}
	for _, found := range insertedFields.FindAllStringSubmatch(sql, -1) {
		if slices.Contains(companyTables, found[1]) && !strings.Contains(found[2], "company_id") {
			tables = append(tables, found[1])
		}
	}
	return tables
}

// comparesCompany reports whether the text of a statement compares the company of an
// alias, or of a table without one. The planner may read a small table as a whole all
// the same, and compare afterwards.
func comparesCompany(sql, alias string) bool {
	column := `(^|[^.\w])company_id`
	if alias != "" {
		column = `\b` + alias + `\.company_id`
	}
	return regexp.MustCompile(column + `( =|,[^()]*\) IN)|= ` + strings.TrimPrefix(column, `(^|[^.\w])`) + `\b`).MatchString(sql)
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

func TestStatementsWithoutTheirCompanyAreNoticed(t *testing.T) {
	t.Parallel()
	s := storetest.Open(t, storetest.Postgres(t))
	for sql, want := range map[string]string{
		`SELECT 1 FROM assignments a WHERE a.company_id = 7 AND a.id = 8`:                                                             "",
		`SELECT 1 FROM assignments a WHERE a.id = 8`:                                                                                  "assignments",
		`SELECT 1 FROM assignments a JOIN employees e ON e.company_id = a.company_id AND e.id = a.employee_id WHERE a.company_id = 7`: "",
		`SELECT 1 FROM assignments a JOIN employees e ON e.id = a.employee_id WHERE a.company_id = 7`:                                 "employees",
		`DELETE FROM job_items WHERE record_id = 7`:                                                                                   "job_items",
		`DELETE FROM events WHERE (company_id, id) IN (SELECT 1, 2 UNION SELECT 3, 4)`:                                                "",
		`INSERT INTO employee_tags (tag, employee_id) SELECT 'x', e.id FROM employees e WHERE e.company_id = 7`:                       "employee_tags",
		`SELECT (SELECT count(*) FROM employee_tags t WHERE t.tag = 'x') FROM employees e WHERE e.company_id = 7 AND e.id = 8`:        "employee_tags",
	} {
		plan, err := planOf(t.Context(), s.Engine(), runStatement{Item: db.Item{SQL: sql}}, reluctant)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(withoutCompany(sql, plan), " "); got != want {
			t.Errorf("%s uses %q without the company, want %q:\n%s", sql, got, want, plan)
		}
	}
}

// A table has company_id and is spread, or is a reference table, and docs/scaling.md
// names it.
func TestTablesAreSpreadOrReferenced(t *testing.T) {
	t.Parallel()
	s := storetest.Open(t, storetest.Postgres(t))
	page, err := os.ReadFile("../../../docs/scaling.md")
	if err != nil {
		t.Fatal(err)
	}
	_, references, _ := strings.Cut(string(page), "\nReference tables,")
	references, _, _ = strings.Cut(references, "\n\n")
	have := texts(t, s, `SELECT table_name || ' ' || (SELECT count(*) FROM information_schema.columns c
		WHERE c.table_name = t.table_name AND c.table_schema = t.table_schema AND c.column_name = 'company_id')
		FROM information_schema.tables t WHERE t.table_schema = current_schema() AND t.table_type = 'BASE TABLE'
			AND NOT (SELECT p.relispartition FROM pg_class p WHERE p.oid = CAST(t.table_name AS regclass))`)
	for _, line := range have {
		name, count, _ := strings.Cut(line, " ")
		isListed := slices.Contains(companyTables, name) || slices.Contains(smallOfCompanies, name)
		if hasCompany := count == "1"; hasCompany != isListed {
			t.Errorf("%s has a company_id: %v, but companyTables and smallOfCompanies say otherwise", name, hasCompany)
		}
		if !strings.Contains(string(page), fmt.Sprintf("`%s`", name)) {
			t.Errorf("docs/scaling.md does not say whether %s is spread or a reference table", name)
		}
		if isReference := slices.Contains(referenceTables, name); isReference != strings.Contains(references, fmt.Sprintf("`%s`", name)) {
			t.Errorf("%s is a reference table: %v, but docs/scaling.md says otherwise", name, isReference)
		}
	}
}
