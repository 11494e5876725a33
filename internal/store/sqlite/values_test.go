package sqlite_test

import (
	"bytes"
	"path/filepath"
	"testing"

	"github.com/coursebridge/coursebridge/internal/store/db"
	"github.com/coursebridge/coursebridge/internal/store/sqlite"
)

type value struct {
	number int64
	text   string
	first  []byte
	second []byte
}

// A table of values returns what it was made of, whatever the texts and the byte strings hold.
func TestValuesTable(t *testing.T) {
	t.Parallel()
	e, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "values.db"), db.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	every := make([]byte, 256)
	for i := range every {
		every[i] = byte(i)
	}
	for _, want := range [][]value{
		{{1, "plain", []byte("one"), []byte{}}, {-2, `"\` + "\x01<é\u2028", []byte{}, every}, {3, "", every, []byte{0}}},
		{{1, "empty", []byte{}, []byte{}}},
	} {
		table, args := e.ValuesTable(1, db.Columns(want,
			db.IntColumn("number", func(v *value) int64 { return v.number }),
			db.BytesColumn("first", func(v *value) []byte { return v.first }),
			db.TextColumn("text", func(v *value) string { return v.text }),
			db.BytesColumn("second", func(v *value) []byte { return v.second }))...)
		var got []value
		b := &db.Batch{}
		b.Query(func(r db.Rows) error {
			var v value
			err := r.Scan(&v.number, &v.text, &v.first, &v.second)
			got = append(got, v)
			return err
		}, `SELECT r.number, r.text, r.first, r.second FROM `+table+` r WHERE typeof(r.first) = 'blob' AND typeof(r.second) = 'blob'`, args...)
		if err := e.Read(t.Context(), func(c db.Conn) error { return c.Send(t.Context(), b) }); err != nil {
			t.Fatal(err)
		}
		if len(got) != len(want) {
			t.Fatalf("%d rows, want %d", len(got), len(want))
		}
		for i, v := range got {
			if w := want[i]; v.number != w.number || v.text != w.text || !bytes.Equal(v.first, w.first) || !bytes.Equal(v.second, w.second) {
				t.Errorf("row %d is %+v, want %+v", i, v, w)
			}
		}
	}
}

// BenchmarkValuesTable measures a table of the size of 500 events.
func BenchmarkValuesTable(b *testing.B) {
	e, err := sqlite.Open(b.Context(), filepath.Join(b.TempDir(), "values.db"), db.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = e.Close() })
	rows := make([]value, 500)
	for i := range rows {
		rows[i] = value{int64(i), "assignment.created", bytes.Repeat([]byte("x"), 500), []byte("a-1-100")}
	}
	for b.Loop() {
		table, args := e.ValuesTable(1, db.Columns(rows,
			db.IntColumn("number", func(v *value) int64 { return v.number }),
			db.TextColumn("text", func(v *value) string { return v.text }),
			db.TextColumn("name", func(v *value) string { return v.text }),
			db.BytesColumn("first", func(v *value) []byte { return v.first }))...)
		batch := &db.Batch{}
		batch.Query(func(db.Rows) error { return nil }, `SELECT sum(r.number), sum(length(r.text)), sum(length(r.name)), sum(length(r.first)) FROM `+table+` r`, args...)
		if err := e.Read(b.Context(), func(c db.Conn) error { return c.Send(b.Context(), batch) }); err != nil {
			b.Fatal(err)
		}
	}
}
