package httpapi

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strconv"
	"time"

	"github.com/go-faster/jx"

	"github.com/coursebridge/coursebridge/internal/domain"
)

// Object is a JSON object whose fields are read one by one. What is wrong with
// them is collected, so that a caller hears of all of it at once. A name that
// stands twice counts the last time; names that nobody asks for are ignored.
type Object struct {
	fields []field
	bad    []domain.FieldError
}

type field struct {
	name string
	raw  jx.Raw
}

// ReadObject reads a body that must be one JSON object and nothing else.
func ReadObject(info *Info, body io.Reader) (*Object, error) {
	data, err := readAll(info, body)
	if err != nil {
		return nil, err
	}
	return parse(info, data)
}

// ReadOptionalObject reads a body as ReadObject does; no body is an object without fields.
func ReadOptionalObject(info *Info, body io.Reader) (*Object, error) {
	data, err := readAll(info, body)
	if err != nil {
		return nil, err
	}
	if len(bytes.TrimSpace(data)) == 0 {
		return &Object{}, nil
	}
	return parse(info, data)
}

func parse(info *Info, data []byte) (*Object, error) {
	o, err := ParseObject(data)
	if err != nil && compressed(info, data) {
		return nil, errCompressed
	}
	return o, err
}

// ParseObject reads a text that must be one JSON object and nothing else.
func ParseObject(data []byte) (*Object, error) {
	if len(bytes.TrimSpace(data)) == 0 {
		return nil, domain.Errorf(domain.CodeInvalid, "The body is empty. Send a JSON object.")
	}
	if err := scan(data); err != nil {
		return nil, err
	}
	d := jx.DecodeBytes(data)
	raw, err := d.Raw()
	if err != nil {
		return nil, malformed(data, err)
	}
	if err := d.Skip(); !errors.Is(err, io.EOF) {
		return nil, domain.Errorf(domain.CodeInvalid, "The body must be one JSON object with nothing after it.").WithCause(err)
	}
	if kind := raw.Type(); kind != jx.Object {
		return nil, domain.Errorf(domain.CodeInvalid, "The body must be a JSON object, not %s.", article(kind))
	}
	return fieldsOf(raw)
}

func fieldsOf(raw jx.Raw) (*Object, error) {
	o := &Object{fields: make([]field, 0, 8)}
	err := jx.DecodeBytes(raw).ObjBytes(func(d *jx.Decoder, key []byte) error {
		value, err := d.Raw()
		o.fields = append(o.fields, field{string(key), value})
		return err
	})
	if err != nil {
		return nil, malformed(raw, err)
	}
	return o, nil
}

// Err gives everything that was wrong, nil when nothing was. Rules that the
// fields themselves break can be told in the same breath: check runs only once
// something is wrong, and adds what it finds about other fields.
func (o *Object) Err(check func() error) error {
	if len(o.bad) == 0 {
		return nil
	}
	all := slices.Clone(o.bad)
	var rules *domain.Error
	if check != nil && errors.As(check(), &rules) {
		for _, f := range rules.Fields {
			if !slices.ContainsFunc(o.bad, func(b domain.FieldError) bool { return b.Field == f.Field }) {
				all = append(all, f)
			}
		}
	}
	return domain.Invalid(all...)
}

func (o *Object) wrong(name, message string) {
	o.bad = append(o.bad, domain.FieldError{Field: name, Message: message})
}

func (o *Object) find(name string) (jx.Raw, bool) {
	for _, f := range slices.Backward(o.fields) {
		if f.name == name {
			return f.raw, true
		}
	}
	return nil, false
}

// need reports whether a field that must be there is.
func (o *Object) need(name string) bool {
	if _, found := o.find(name); !found {
		o.wrong(name, "is required")
		return false
	}
	return true
}

// read gives a field's value, nil when it is absent or wrong.
func read[T any](o *Object, name string, decode func(jx.Raw) (T, error)) *T {
	raw, found := o.find(name)
	if !found {
		return nil
	}
	v, err := decode(raw)
	if err != nil {
		o.wrong(name, err.Error())
		return nil
	}
	return &v
}

func must[T any](o *Object, name string, decode func(jx.Raw) (T, error)) (v T) {
	if o.need(name) {
		if p := read(o, name, decode); p != nil {
			v = *p
		}
	}
	return v
}

// String reads a string that must be there.
func (o *Object) String(name string) string { return must(o, name, text) }

// Int reads an integer that must be there.
func (o *Object) Int(name string) int64 { return must(o, name, integer) }

// OptString reads a string, nil when absent.
func (o *Object) OptString(name string) *string { return read(o, name, text) }

// OptInt reads an integer, nil when absent.
func (o *Object) OptInt(name string) *int64 { return read(o, name, integer) }

// OptBool reads a boolean, nil when absent.
func (o *Object) OptBool(name string) *bool { return read(o, name, boolean) }

// OptPoints reads a score or a percentage, nil when absent.
func (o *Object) OptPoints(name string) *domain.Points { return read(o, name, points) }

// OptInstant reads a date-time, nil when absent.
func (o *Object) OptInstant(name string) *time.Time { return read(o, name, instant) }

// NullableInstant reads a date-time, nil when absent or null.
func (o *Object) NullableInstant(name string) *time.Time {
	if raw, _ := o.find(name); raw != nil && raw.Type() == jx.Null {
		return nil
	}
	return read(o, name, instant)
}

// OptStrings reads a list of at most so many strings, nil when absent. An element that
// is none is reported under its position, as tags[3].
func (o *Object) OptStrings(name string, most int) *[]string {
	items := read(o, name, arrayOf(most))
	if items == nil {
		return nil
	}
	out, sound := make([]string, 0, len(*items)), true
	for i, raw := range *items {
		s, err := text(raw)
		if err != nil {
			sound = false
			o.wrong(name+"["+strconv.Itoa(i)+"]", err.Error())
		}
		out = append(out, s)
	}
	if !sound {
		return nil
	}
	return &out
}

// Item is one element of a list, not yet looked into.
type Item struct{ raw jx.Raw }

// Items reads a list that must be there and have at most so many elements.
func (o *Object) Items(name string, most int) []Item {
	raws := must(o, name, arrayOf(most))
	items := make([]Item, len(raws))
	for i, raw := range raws {
		items[i].raw = raw
	}
	return items
}

// Object looks into an item, which must be an object.
func (i Item) Object() (*Object, error) {
	if kind := i.raw.Type(); kind != jx.Object {
		return nil, domain.Errorf(domain.CodeInvalid, "The item must be a JSON object, not %s.", article(kind))
	}
	return fieldsOf(i.raw)
}
