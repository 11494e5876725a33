package store

import (
	"context"
	"fmt"
	"slices"

	"github.com/coursebridge/coursebridge/internal/store/db"
)

// What a directory holds at most, so that the memory of a report does not grow
// with the company.
const (
	maxDirectory     = 100_000
	maxDirectoryText = 8 << 20
)

// directory knows the courses and the employees of a company, all of them or
// those of some rows. One lookup here costs a fraction of one in the database,
// where a million rows in the order of their ids would each need an index for
// their employee. Employees are kept without pointers: the collector has little
// to do and no reason to let the heap grow.
type directory struct {
	dialect        db.Dialect
	most, mostText int

	courses  map[int64]string
	ids      []int64 // of employees, ascending
	ends     []entry // of each
	text     []byte
	complete bool
}

// entry says where in the text the external id, the name and the address of an
// employee end. They begin where the one before ends.
type entry struct{ externalID, name, email uint32 }

func newDirectory(d db.Dialect) *directory {
	return &directory{dialect: d, most: maxDirectory, mostText: maxDirectoryText}
}

// chunk is how many rows to read at a time when not all employees fit.
func (d *directory) chunk() int { return max(1, d.most/4) }

func (d *directory) readCourses(ctx context.Context, c db.Conn, company int64) error {
	var id int64
	var name string
	d.courses = map[int64]string{}
	d.empty()
	return each(ctx, c, `SELECT c.id, c.name FROM courses c WHERE c.owner_company_id IN (0, $1)`,
		[]any{company}, []any{&id, &name}, func() error {
			d.courses[id] = name
			return nil
		})
}

// readPeople reads all employees, unless they are too many.
func (d *directory) readPeople(ctx context.Context, c db.Conn, company int64) error {
	d.empty()
	d.complete = true
	err := d.add(ctx, c, `SELECT e.id, coalesce(e.external_id, ''), e.name, e.email FROM employees e
		WHERE e.company_id = $1 ORDER BY e.company_id, e.id`+atMost(int64(d.most)+1), company)
	if !d.complete {
		d.empty()
	}
	return err
}

// lookUp reads these employees, and forgets others.
func (d *directory) lookUp(ctx context.Context, c db.Conn, company int64, ids []int64) error {
	d.empty()
	slices.Sort(ids)
	for some := range slices.Chunk(slices.Compact(ids), headRows) { // more at once would be worth compiling to PostgreSQL
		rows, args := d.dialect.Rows(2, db.Column{Name: "id", Type: db.Int, Values: some})
		sql := `SELECT r.id`
		for _, column := range []string{"external_id", "name", "email"} {
			sql += `, coalesce((SELECT e.` + column + ` FROM employees e WHERE e.company_id = $1 AND e.id = r.id), '')`
		}
		if err := d.add(ctx, c, sql+` FROM `+rows+` r ORDER BY r.id`, append([]any{company}, args...)...); err != nil {
			return err
		}
	}
	return nil
}

func (d *directory) empty() {
	d.ids, d.ends, d.text, d.complete = d.ids[:0], d.ends[:0], d.text[:0], false
}

// add takes employees in ascending id, as many as there are: who asks for all of
// them has complete set, and finds it unset if there was no room.
func (d *directory) add(ctx context.Context, c db.Conn, sql string, args ...any) error {
	var id int64
	externalID, name, email := textColumn{to: &d.text}, textColumn{to: &d.text}, textColumn{to: &d.text}
	start, all := len(d.text), d.complete
	return each(ctx, c, sql, args, []any{&id, &externalID, &name, &email}, func() error {
		if all && (len(d.ids) == d.most || len(d.text) > d.mostText) {
			d.complete = false
		}
		if all && !d.complete {
			d.text = d.text[:start]
			return nil
		}
		d.ids = append(d.ids, id)
		d.ends = append(d.ends, entry{uint32(externalID.end), uint32(name.end), uint32(email.end)})
		start = len(d.text)
		return nil
	})
}

// person appends the external id, name and address of an employee to text, and
// says where what was there and each of them ends.
func (d *directory) person(text []byte, id int64) (_ []byte, ends [4]int, err error) {
	at, ok := slices.BinarySearch(d.ids, id)
	if !ok {
		return text, ends, fmt.Errorf("employee %d is not in the directory", id)
	}
	start, end := 0, d.ends[at]
	if at > 0 {
		start = int(d.ends[at-1].email)
	}
	moved := len(text) - start
	ends = [4]int{len(text), moved + int(end.externalID), moved + int(end.name), moved + int(end.email)}
	return append(text, d.text[start:end.email]...), ends, nil
}
