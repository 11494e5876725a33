package sqlite

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/coursebridge/coursebridge/internal/store/db"
)

// Instants are kept as milliseconds since 1970.

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

// Join is a CROSS JOIN, because SQLite leaves the order of those as it is.
func (dialect) Join(table, alias, on string) string {
	return " CROSS JOIN " + table + " " + alias + " ON " + on
}

func (dialect) LeftJoin(table, alias, on string) string {
	return " LEFT JOIN " + table + " " + alias + " ON " + on
}

// ValuesTable returns json_each over one array of rows. The statement's text
// does not depend on the number of rows, so it is prepared once.
func (dialect) ValuesTable(first int, cols ...db.Column) (string, []any) {
	parts := make([]string, len(cols))
	for i, c := range cols {
		value := "value ->> " + strconv.Itoa(i)
		if c.Type == db.Bytes {
			value = "unhex(" + value + ")"
		}
		parts[i] = value + " AS " + c.Name
	}
	// Without MATERIALIZED a join would parse the array for every row of the other table.
	text := "(WITH given AS MATERIALIZED (SELECT " + strings.Join(parts, ", ") + " FROM json_each($" + strconv.Itoa(first) + ")) SELECT * FROM given)"
	return text, []any{encodeRows(cols)}
}

func (dialect) Folded(column string) string { return "lower(" + column + ")" }

func (d dialect) In(column string, n int, values db.Column) (string, any) {
	table, args := d.ValuesTable(n, values)
	return column + " IN (SELECT k." + values.Name + " FROM " + table + " k)", args[0]
}

func encodeRows(cols []db.Column) string {
	n := length(cols[0].Values)
	buf := make([]byte, 0, 64*n)
	buf = append(buf, '[')
	for row := range n {
		if row > 0 {
			buf = append(buf, ',')
		}
		buf = append(buf, '[')
		for i, c := range cols {
			if i > 0 {
				buf = append(buf, ',')
			}
			buf = appendValue(buf, c.Values, row)
		}
		buf = append(buf, ']')
	}
	return string(append(buf, ']'))
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
		return appendString(buf, v[row])
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
	case [][]byte:
		return fmt.Appendf(buf, `"%x"`, v[row])
	}
	return append(buf, "null"...)
}

func appendString(buf []byte, s string) []byte {
	quoted, err := json.Marshal(s)
	if err != nil {
		panic(err) // a string always encodes
	}
	return append(buf, quoted...)
}
