package store

import (
	"context"
	"fmt"

	"github.com/coursebridge/coursebridge/internal/store/db"
)

// What a directory holds at most, so that the memory of a report does not grow
// with the company.
const (
	maxDirectory     = 100_000
	maxDirectoryText = 8 << 20
)

// directory knows the courses and, up to an id, the employees of a company. One
// lookup here costs a fraction of one in the database, where a million rows in
// the order of their ids would each need an index for their employee.
type directory struct {
	most, mostText int

	courses  map[int64]string
	people   map[int64]entry
	text     []byte
	last     int64 // every employee up to this id is known
	complete bool  // and no other is left
}

// entry says where in the text an employee's begins, and where the external id,
// the name and the address end. Without pointers the collector has nothing to do.
type entry struct{ start, externalID, name, email uint32 }

func newDirectory() *directory { return &directory{most: maxDirectory, mostText: maxDirectoryText} }

func (d *directory) readCourses(ctx context.Context, c db.Conn, company int64) error {
	var id int64
	var name string
	d.courses = map[int64]string{}
	return each(ctx, c, `SELECT c.id, c.name FROM courses c WHERE c.owner_company_id IN (0, $1)`,
		[]any{company}, []any{&id, &name}, func() error {
			d.courses[id] = name
			return nil
		})
}

// readPeople fills the directory with employees.
func (d *directory) readPeople(ctx context.Context, c db.Conn, company int64) error {
	var id int64
	externalID, name, email := textColumn{to: &d.text}, textColumn{to: &d.text}, textColumn{to: &d.text}
	d.people, d.complete = map[int64]entry{}, true
	start := 0
	return each(ctx, c, `SELECT e.id, coalesce(e.external_id, ''), e.name, e.email FROM employees e
		WHERE e.company_id = $1 ORDER BY e.id LIMIT $2`, []any{company, d.most + 1}, []any{&id, &externalID, &name, &email},
		func() error {
			if len(d.people) == d.most || len(d.text) > d.mostText {
				d.complete = false
			}
			if !d.complete {
				d.text = d.text[:start]
				return nil
			}
			d.people[id] = entry{uint32(start), uint32(externalID.end), uint32(name.end), uint32(email.end)}
			d.last, start = id, len(d.text)
			return nil
		})
}

// person appends the external id, name and address of an employee to text, and
// says where what was there and each of them ends.
func (d *directory) person(text []byte, id int64) (_ []byte, ends [4]int, err error) {
	p, ok := d.people[id]
	if !ok {
		return text, ends, fmt.Errorf("employee %d is not the company's", id)
	}
	moved := len(text) - int(p.start)
	ends = [4]int{len(text), moved + int(p.externalID), moved + int(p.name), moved + int(p.email)}
	return append(text, d.text[p.start:p.email]...), ends, nil
}
