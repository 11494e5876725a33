package sqlite

import (
	"database/sql"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/coursebridge/coursebridge/internal/store/db"
)

// bind replaces instants in args by how they are kept: as milliseconds since 1970.
func bind(args []any) []any {
	for i, a := range args {
		switch v := a.(type) {
		case time.Time:
			args[i] = v.UnixMilli()
		case *time.Time:
			if v == nil {
				args[i] = nil
			} else {
				args[i] = v.UnixMilli()
			}
		}
	}
	return args
}

type rows struct {
	rows *sql.Rows
	dest []any
}

func (r *rows) Next() bool { return r.rows.Next() }
func (r *rows) Err() error { return mapError(r.rows.Err()) }
func (r *rows) Close()     { _ = r.rows.Close() }

func (r *rows) Scan(dest ...any) error {
	r.dest = append(r.dest[:0], dest...)
	for i, d := range r.dest {
		switch v := d.(type) {
		case *time.Time:
			r.dest[i] = (*instant)(v)
		case **time.Time:
			r.dest[i] = &optionalInstant{v}
		}
	}
	return r.rows.Scan(r.dest...)
}

type instant time.Time

func (i *instant) Scan(src any) error {
	ms, ok := src.(int64)
	if !ok {
		return fmt.Errorf("an instant is stored as %T", src)
	}
	*i = instant(time.UnixMilli(ms).UTC())
	return nil
}

type optionalInstant struct{ to **time.Time }

func (o *optionalInstant) Scan(src any) error {
	if src == nil {
		*o.to = nil
		return nil
	}
	var t time.Time
	if err := (*instant)(&t).Scan(src); err != nil {
		return err
	}
	*o.to = &t
	return nil
}

type dialect struct{}

func (dialect) Name() string            { return "sqlite" }
func (dialect) ForUpdate(string) string { return "" }
func (dialect) ForShare(string) string  { return "" }

func (dialect) KeepPlan() string { return "" }

func (dialect) EpochSeconds(column string) string { return "(" + column + " / 1000)" }

func (dialect) CompanyLock(string, bool) string { return "" }

func (dialect) LockTimeout(time.Duration) string { return "" }
func (dialect) SkipLocked() string               { return "" }

func (dialect) CountTogether() (before, after string) {
	return `INSERT INTO counted_together (company_id, first_id, last_id) VALUES ($1, $2, $3)`, `DELETE FROM counted_together WHERE company_id = $1`
}

// Join is a CROSS JOIN, because SQLite leaves the order of those as it is.
func (dialect) Join(table, alias, on string) string {
	return " CROSS JOIN " + table + " " + alias + " ON " + on
}

func (dialect) LeftJoin(table, alias, on string) string {
	return " LEFT JOIN " + table + " " + alias + " ON " + on
}

// ValuesTable returns jsonb_each over one array of rows. The statement's text
// does not depend on the number of rows, so it is prepared once. json_each would
// write each row as text, and the extraction of a field would parse it again. Byte
// strings are bound together, as one, and the rows contain where each begins and its
// length: in JSON they would be twice as long.
func (dialect) ValuesTable(first int, cols ...db.Column) (string, []any) {
	parts, field, hasBytes := make([]string, len(cols)), 0, false
	next := func() string {
		field++
		return "value ->> " + strconv.Itoa(field-1)
	}
	for i, c := range cols {
		value := next()
		if c.Type == db.Bytes {
			value, hasBytes = "substr($"+strconv.Itoa(first+1)+", "+value+", "+next()+")", true
		}
		parts[i] = value + " AS " + c.Name
	}
	// Without MATERIALIZED a join would parse the array for every row of the other table.
	text := "(WITH given AS MATERIALIZED (SELECT " + strings.Join(parts, ", ") + " FROM jsonb_each($" + strconv.Itoa(first) + ")) SELECT * FROM given)"
	rows, joined := encodeRows(cols)
	if hasBytes {
		return text, []any{rows, joined}
	}
	return text, []any{rows}
}

func (dialect) Folded(column string) string { return "lower(" + column + ")" }

func (d dialect) In(column string, n int, values db.Column) (string, any) {
	table, args := d.ValuesTable(n, values)
	return column + " IN (SELECT k." + values.Name + " FROM " + table + " k)", args[0]
}

// encodeRows returns the rows as a JSON array of arrays, and their byte strings joined.
func encodeRows(cols []db.Column) (rows string, joined []byte) {
	n := length(cols[0].Values)
	buf := make([]byte, 0, 64*n)
	buf = append(buf, '[')
	joined = []byte{0} // never empty: SQLite's substr of an empty blob is NULL
	for row := range n {
		if row > 0 {
			buf = append(buf, ',')
		}
		buf = append(buf, '[')
		for i, c := range cols {
			if i > 0 {
				buf = append(buf, ',')
			}
			if v, ok := c.Values.([][]byte); ok {
				buf = strconv.AppendInt(buf, int64(len(joined)+1), 10)
				buf = strconv.AppendInt(append(buf, ','), int64(len(v[row])), 10)
				joined = append(joined, v[row]...)
				continue
			}
			buf = appendValue(buf, c.Values, row)
		}
		buf = append(buf, ']')
	}
	return string(append(buf, ']')), joined
}

func length(values any) int {
	switch v := values.(type) {
	case []int64:
		return len(v)
	case []*int64:
		return len(v)
	case []string:
		return len(v)
	case []bool:
		return len(v)
	case []time.Time:
		return len(v)
	case []*time.Time:
		return len(v)
	case [][]byte:
		return len(v)
	}
	panic(fmt.Sprintf("a column of %T", values))
}

func appendValue(buf []byte, values any, row int) []byte {
	switch v := values.(type) {
	case []int64:
		return strconv.AppendInt(buf, v[row], 10)
	case []*int64:
		if v[row] != nil {
			return strconv.AppendInt(buf, *v[row], 10)
		}
	case []string:
		return db.AppendQuoted(buf, v[row])
	case []bool:
		if v[row] {
			return append(buf, '1')
		}
		return append(buf, '0')
	case []time.Time:
		return strconv.AppendInt(buf, v[row].UnixMilli(), 10)
	case []*time.Time:
		if v[row] != nil {
			return strconv.AppendInt(buf, v[row].UnixMilli(), 10)
		}
	}
	return append(buf, "null"...)
}
