package faults

import (
	"slices"
	"testing"
)

// The columns that a company has matched in the imports of the last weeks are
// remembered when the memory of columns gets a table of its own: the latest choice of
// each head. A head that no index takes is left out.
func TestMatchedColumnsAreMigrated(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, database string) {
		old := openOld(t, database)
		old.migrateTo(35)
		old.fill("first")
		created := map[string]string{"sqlite": "0", "postgres": "now()"}[old.engine]
		for _, in := range [][2]string{
			{`["Wer","Post",""]`, `["tags","email",""]`},
			{`["Wer","Gruppe \"B\""]`, `["name",""]`},
			{`["Wer","Wer"]`, `["name","email"]`},
		} {
			if _, err := old.db.ExecContext(t.Context(), `INSERT INTO imports (company_id, file_name, header, fields, total, job_id, created_at)
				SELECT id, 'people.csv', $1, $2, 0, 0, `+created+` FROM companies ORDER BY id LIMIT 1`, in[0], in[1]); err != nil {
				t.Fatal(err)
			}
		}
		runJSON[struct{ Status string }](t, database, "migrate")
		got := old.texts(`SELECT head || '=' || field FROM import_columns ORDER BY head`)
		if want := []string{`Gruppe "B"=`, `Post=email`}; len(got) != 3 || !slices.Equal(got[:2], want) {
			t.Errorf("remembered is %q, want %q and Wer", got, want)
		}
	})
}
