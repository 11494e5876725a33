package storetest_test

import (
	"slices"
	"testing"

	"github.com/coursebridge/coursebridge/internal/store"
	"github.com/coursebridge/coursebridge/internal/store/storetest"
)

// firstKeyColumnSQL selects the first column of each unique key of a table. An SQLite
// rowid is no key in this sense: it only locates the row in the file.
var firstKeyColumnSQL = map[string]string{
	"sqlite": `SELECT (SELECT i.name FROM pragma_index_info(l.name) i WHERE i.seqno = 0)
		FROM pragma_index_list($1) l WHERE l."unique" = 1`,
	"postgres": `SELECT a.attname::text FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0]
		WHERE i.indisunique AND i.indrelid = CAST(CAST($1 AS text) AS regclass)`,
}

// Because company_id leads every key, tables can be spread by company over servers.
func TestCompanyLeadsEveryKey(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		checked := 0
		for _, table := range tables(t, s) {
			names, _ := columns(t, s, table)
			if !slices.Contains(names, "company_id") {
				continue
			}
			checked++
			keys := texts(t, s, firstKeyColumnSQL[s.Engine().Name()], table)
			if len(keys) == 0 {
				t.Errorf("%s has no unique key that company_id leads", table)
			}
			for _, first := range keys {
				if first != "company_id" {
					t.Errorf("a unique key of %s begins with %s", table, first)
				}
			}
		}
		if checked < 10 {
			t.Errorf("found only %d tables of companies", checked)
		}
	})
}

// indexNamesSQL selects the indexes that the migrations create by name.
var indexNamesSQL = map[string]string{
	"sqlite": `SELECT name FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL ORDER BY name`,
	"postgres": `SELECT c.relname::text FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_namespace n ON n.oid = c.relnamespace
		WHERE n.nspname = 'public' AND NOT c.relispartition AND NOT EXISTS (SELECT 1 FROM pg_constraint k WHERE k.conindid = c.oid) ORDER BY c.relname::text COLLATE "C"`,
}

type schema struct {
	Columns map[string][]string
	Indexes []string
}

func schemaOf(t *testing.T, s *store.Store) schema {
	t.Helper()
	out := schema{Columns: map[string][]string{}, Indexes: texts(t, s, indexNamesSQL[s.Engine().Name()])}
	for _, table := range tables(t, s) {
		names, _ := columns(t, s, table)
		slices.Sort(names)
		out.Columns[table] = names
	}
	return out
}

func TestEnginesHaveOneSchema(t *testing.T) {
	t.Parallel()
	equal(t, "postgres against sqlite", schemaOf(t, storetest.Open(t, storetest.Postgres(t))), schemaOf(t, storetest.Open(t, storetest.SQLite(t))))
}
