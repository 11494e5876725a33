package db_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/coursebridge/coursebridge/internal/store/db"
)

type color string

type row struct {
	id     int64
	count  int
	parent *int64
	name   string
	color  color
	flag   bool
	at     time.Time
	until  *time.Time
	body   []byte
}

func rowColumns() []db.ColumnOf[row] {
	return []db.ColumnOf[row]{
		db.IntColumn("id", func(r *row) int64 { return r.id }),
		db.IntColumn("count", func(r *row) int { return r.count }),
		db.OptionalIntColumn("parent", func(r *row) *int64 { return r.parent }),
		db.TextColumn("name", func(r *row) string { return r.name }),
		db.TextColumn("color", func(r *row) color { return r.color }),
		db.UUIDColumn("uuid", func(r *row) string { return r.name }),
		db.BoolColumn("flag", func(r *row) bool { return r.flag }),
		db.TimeColumn("at", func(r *row) time.Time { return r.at }),
		db.OptionalTimeColumn("until", func(r *row) *time.Time { return r.until }),
		db.BytesColumn("body", func(r *row) []byte { return r.body }),
	}
}

func TestColumns(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 14, 9, 30, 0, 0, time.UTC)
	one := int64(1)
	rows := []row{
		{id: 1, count: 2, parent: &one, name: "first", color: "red", flag: true, at: at, until: &at, body: []byte("x")},
		{id: 3, name: "second", at: at.Add(time.Hour)},
	}
	want := []db.Column{
		{Name: "id", Type: db.Int, Values: []int64{1, 3}},
		{Name: "count", Type: db.Int, Values: []int64{2, 0}},
		{Name: "parent", Type: db.Int, Values: []*int64{&one, nil}},
		{Name: "name", Type: db.Text, Values: []string{"first", "second"}},
		{Name: "color", Type: db.Text, Values: []string{"red", ""}},
		{Name: "uuid", Type: db.UUID, Values: []string{"first", "second"}},
		{Name: "flag", Type: db.Bool, Values: []bool{true, false}},
		{Name: "at", Type: db.Time, Values: []time.Time{at, at.Add(time.Hour)}},
		{Name: "until", Type: db.Time, Values: []*time.Time{&at, nil}},
		{Name: "body", Type: db.Bytes, Values: [][]byte{[]byte("x"), nil}},
	}
	if diff := cmp.Diff(want, db.Columns(rows, rowColumns()...)); diff != "" {
		t.Errorf("Columns differ (-want +got):\n%s", diff)
	}
}

func TestColumnsWithoutItems(t *testing.T) {
	t.Parallel()
	got := db.Columns(nil, db.IntColumn("id", func(r *row) int64 { return r.id }))
	if diff := cmp.Diff([]db.Column{{Name: "id", Type: db.Int, Values: []int64{}}}, got); diff != "" {
		t.Errorf("Columns differ (-want +got):\n%s", diff)
	}
}

func TestColumnsOverSlices(t *testing.T) {
	t.Parallel()
	want := []db.Column{
		{Name: "id", Type: db.Int, Values: []int64{7}},
		{Name: "tag", Type: db.Text, Values: []string{"a"}},
		{Name: "delivery_id", Type: db.UUID, Values: []string{"b"}},
	}
	got := []db.Column{db.Ints("id", []int64{7}), db.Texts("tag", []string{"a"}), db.UUIDs("delivery_id", []string{"b"})}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("columns differ (-want +got):\n%s", diff)
	}
}

// BenchmarkColumns compares the helper with slices that are filled side by side,
// for a bulk of 500 rows with six columns.
func BenchmarkColumns(b *testing.B) {
	rows := make([]row, 500)
	for i := range rows {
		rows[i] = row{id: int64(i), count: i, name: "employee-" + strconv.Itoa(i), color: "red", at: time.Unix(int64(i), 0)}
	}
	b.Run("helper", func(b *testing.B) {
		columns := []db.ColumnOf[row]{
			db.IntColumn("id", func(r *row) int64 { return r.id }),
			db.IntColumn("count", func(r *row) int { return r.count }),
			db.TextColumn("name", func(r *row) string { return r.name }),
			db.TextColumn("color", func(r *row) color { return r.color }),
			db.BoolColumn("flag", func(r *row) bool { return r.flag }),
			db.TimeColumn("at", func(r *row) time.Time { return r.at }),
		}
		b.ReportAllocs()
		for b.Loop() {
			sink = db.Columns(rows, columns...)
		}
	})
	b.Run("parallel slices", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			sink = parallelSlices(rows)
		}
	})
}

var sink []db.Column

func parallelSlices(rows []row) []db.Column {
	n := len(rows)
	ids, counts, names, colors := make([]int64, n), make([]int64, n), make([]string, n), make([]string, n)
	flags, times := make([]bool, n), make([]time.Time, n)
	for i, r := range rows {
		ids[i], counts[i], names[i], colors[i] = r.id, int64(r.count), r.name, string(r.color)
		flags[i], times[i] = r.flag, r.at
	}
	return []db.Column{
		{Name: "id", Type: db.Int, Values: ids}, {Name: "count", Type: db.Int, Values: counts},
		{Name: "name", Type: db.Text, Values: names}, {Name: "color", Type: db.Text, Values: colors},
		{Name: "flag", Type: db.Bool, Values: flags}, {Name: "at", Type: db.Time, Values: times},
	}
}
