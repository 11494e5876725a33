package report

import (
	"bytes"
	"encoding/csv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// A CSV reader finds one row with two cells, and no spreadsheet a formula in them,
// also not one that splits at semicolons where there is a byte order mark.
func FuzzCSV(f *testing.F) {
	for _, seed := range []string{"Anna", "=1+1", "x;=1+1", "\t=1", "\"\r\n\"", "-5", "'", ";\u200b=1", "\uff1d1", "a\"b,c"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if !utf8.ValidString(text) {
			return // the database holds only valid text
		}
		for _, bom := range []bool{false, true} {
			var out bytes.Buffer
			w, err := NewCSV(&out, []Column{{Name: "a", Kind: KindText}, {Name: "b", Kind: KindText}}, time.UTC, bom)
			if err != nil {
				t.Fatal(err)
			}
			if err := w.Row([]Cell{Text(text), Text("end")}); err != nil {
				t.Fatal(err)
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			rows, err := csv.NewReader(strings.NewReader(strings.TrimPrefix(out.String(), "\ufeff"))).ReadAll()
			if err != nil || len(rows) != 2 || len(rows[1]) != 2 || rows[1][1] != "end" {
				t.Fatalf("%q is written as %q and read as %q, %v", text, out.String(), rows, err)
			}
			cells := []string{rows[1][0]}
			if bom {
				cells = strings.Split(rows[1][0], ";")
			}
			for _, cell := range cells {
				if looksLikeFormula(cell) {
					t.Errorf("%q is written as %q, which is a formula", text, cell)
				}
			}
		}
	})
}
