package storetest

import (
	"strings"
	"testing"

	"github.com/coursebridge/coursebridge/internal/store"
	"github.com/coursebridge/coursebridge/internal/store/db"
)

// housekeeping lists tables that change with every transaction.
var housekeeping = map[string]bool{"goose_db_version": true, "sequences": true, "change_clock": true, "sqlite_sequence": true, "counted_together": true}

// Tables returns the names of all tables except housekeeping; those of partitions are
// not among them.
func Tables(tb testing.TB, s *store.Store) []string {
	tb.Helper()
	list := `SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name`
	if s.Engine().Name() == "postgres" {
		list = `SELECT relname::text FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition ORDER BY 1`
	}
	var out []string
	for _, name := range Texts(tb, s, list) {
		if !housekeeping[name] {
			out = append(out, name)
		}
	}
	return out
}

// Columns returns the names of a table's columns, and for each an SQL expression
// that shows it as text.
func Columns(tb testing.TB, s *store.Store, table string) (names, asText []string) {
	tb.Helper()
	if s.Engine().Name() == "sqlite" {
		names = Texts(tb, s, `SELECT name FROM pragma_table_info($1) ORDER BY cid`, table)
		for _, n := range names {
			asText = append(asText, `coalesce(CAST(`+n+` AS TEXT), '')`)
		}
		return names, asText
	}
	for _, c := range Texts(tb, s, `SELECT column_name || ' ' || data_type FROM information_schema.columns
		WHERE table_schema = 'public' AND table_name = $1 ORDER BY ordinal_position`, table) {
		name, kind, _ := strings.Cut(c, " ")
		names = append(names, name)
		shown := name + `::text`
		if kind == "bytea" {
			shown = `encode(` + name + `, 'escape')`
		}
		asText = append(asText, `coalesce(`+shown+`, '')`)
	}
	return names, asText
}

// Dump returns every row of every table as a line of text.
func Dump(tb testing.TB, s *store.Store) []string {
	tb.Helper()
	var out []string
	for _, table := range Tables(tb, s) {
		_, shown := Columns(tb, s, table)
		for _, row := range Texts(tb, s, `SELECT `+strings.Join(shown, ` || ' | ' || `)+` AS row FROM `+table+` ORDER BY 1`) {
			out = append(out, table+": "+row)
		}
	}
	return out
}

// CompanyRows returns every row that belongs to a company, as lines of text, without
// the last use of tokens, which is written with a delay. The kept totals are shown as
// what a list shows: pending changes added up.
func CompanyRows(tb testing.TB, s *store.Store, company int64) []string {
	tb.Helper()
	out := companyTotals(tb, s, company)
	for _, table := range Tables(tb, s) {
		if strings.HasPrefix(table, "total") {
			continue
		}
		names, shown := Columns(tb, s, table)
		for i, name := range names {
			if strings.HasPrefix(name, "last_used_") {
				shown[i] = "''"
			}
		}
		for _, owner := range names {
			if owner != "company_id" && owner != "owner_company_id" && owner != "for_company_id" && (table != "companies" || owner != "id") {
				continue
			}
			for _, row := range Texts(tb, s, `SELECT `+strings.Join(shown, ` || ' | ' || `)+` AS row FROM `+table+` WHERE `+owner+` = $1 ORDER BY 1`, company) {
				out = append(out, table+": "+row)
			}
		}
	}
	return out
}

// companyTotals folds what is pending, as servers do every second, and returns the
// company's totals without the figures of each day, which a server adds by itself.
func companyTotals(tb testing.TB, s *store.Store, company int64) []string {
	tb.Helper()
	const rounds = 100
	for range rounds {
		if err := s.FoldTotals(tb.Context()); err != nil {
			tb.Fatal("fold the totals:", err)
		}
		if len(Texts(tb, s, `SELECT kind FROM total_changes WHERE company_id = $1 LIMIT 1`, company)) == 0 {
			return Texts(tb, s, `SELECT 'totals: ' || kind || ' | ' || CAST(number_key AS text) || ' | ' || text_key || ' | ' || CAST(n AS text) AS row
				FROM totals WHERE company_id = $1 AND n <> 0 AND kind <> 'day' ORDER BY 1`, company)
		}
	}
	tb.Fatal("the totals are not folded")
	return nil
}

// Texts returns the first column of a query, which must be a text.
func Texts(tb testing.TB, s *store.Store, sql string, args ...any) []string {
	tb.Helper()
	out := []string{}
	b := &db.Batch{}
	b.Query(func(r db.Rows) error {
		var text string
		err := r.Scan(&text)
		out = append(out, text)
		return err
	}, sql, args...)
	if err := s.Engine().Read(tb.Context(), func(c db.Conn) error { return c.Send(tb.Context(), b) }); err != nil {
		tb.Fatalf("%s: %v", sql, err)
	}
	return out
}
