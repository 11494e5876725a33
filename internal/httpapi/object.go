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

// Object is a JSON object whose fields are read one by one. It collects the errors
// of all fields, so that a client learns of them at once. If a name occurs twice,
// the last one counts; fields that are not read are ignored.
type Object struct {
	fields        []field // empty if hasManyFields
	hasManyFields bool    // there are more than maxFields: find searches raw
	raw           jx.Raw  // nil without a body
	errors        []domain.FieldError
}

// maxFields is how many fields an Object keeps a list of, many more than any object
// of the contracts has. A larger object is searched from its text each time, because
// a list of all its fields would take twenty times the memory of the body.
const maxFields = 64

type field struct {
	name string
	raw  jx.Raw
}

// ReadObject reads a body that must be one JSON object and nothing else.
func ReadObject(info *Info, body io.Reader) (*Object, error) {
	data, err := readBody(info, body)
	if err != nil {
		return nil, err
	}
	return parse(info, data)
}

// ReadOptionalObject reads a body as ReadObject does; no body is an object without fields.
func ReadOptionalObject(info *Info, body io.Reader) (*Object, error) {
	data, err := readBody(info, body)
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
	if err != nil && isCompressed(info, data) {
		return nil, errCompressed
	}
	return o, err
}

// ParseObject reads a text that must be one JSON object and nothing else.
func ParseObject(data []byte) (*Object, error) {
	if len(bytes.TrimSpace(data)) == 0 {
		return nil, domain.Errorf(domain.CodeInvalid, "The body is empty. Send a JSON object.")
	}
	if err := checkShape(data); err != nil {
		return nil, err
	}
	d := jx.DecodeBytes(data)
	raw, err := d.Raw()
	if err != nil {
		return nil, syntaxError(data, err)
	}
	if err := d.Skip(); !errors.Is(err, io.EOF) {
		return nil, domain.Errorf(domain.CodeInvalid, "The body must be one JSON object with nothing after it.").WithCause(err)
	}
	if kind := raw.Type(); kind != jx.Object {
		return nil, domain.Errorf(domain.CodeInvalid, "The body must be a JSON object, not %s.", typeName(kind))
	}
	return fieldsOf(raw)
}

func fieldsOf(raw jx.Raw) (*Object, error) {
	o := &Object{fields: make([]field, 0, 8), raw: raw}
	err := o.each(func(key []byte, value jx.Raw) error {
		if len(o.fields) == maxFields {
			return errManyFields
		}
		o.fields = append(o.fields, field{string(key), value})
		return nil
	})
	if errors.Is(err, errManyFields) {
		o.fields, o.hasManyFields = nil, true
		err = o.each(func([]byte, jx.Raw) error { return nil })
	}
	if err != nil {
		return nil, syntaxError(raw, err)
	}
	return o, nil
}

var errManyFields = errors.New("the object has many fields")

// each calls fn with every field of the text.
func (o *Object) each(fn func(key []byte, value jx.Raw) error) error {
	return jx.DecodeBytes(o.raw).ObjBytes(func(d *jx.Decoder, key []byte) error {
		value, err := d.Raw()
		if err != nil {
			return err
		}
		return fn(key, value)
	})
}

// Err returns the errors of all fields, nil if there are none.
func (o *Object) Err() error {
	if len(o.errors) == 0 {
		return nil
	}
	return domain.Invalid(o.errors...)
}

// ErrWith returns nil if Err does: the caller is going to check the values anyway.
// Otherwise it adds the errors that check finds in other fields, so that a client
// learns of all at once.
func (o *Object) ErrWith(check func() error) error {
	if len(o.errors) == 0 {
		return nil
	}
	all := slices.Clone(o.errors)
	var rules *domain.Error
	if errors.As(check(), &rules) {
		for _, f := range rules.Fields {
			if !slices.ContainsFunc(o.errors, func(b domain.FieldError) bool { return b.Field == f.Field }) {
				all = append(all, f)
			}
		}
	}
	return domain.Invalid(all...)
}

func (o *Object) addError(name, message string) {
	o.errors = append(o.errors, domain.FieldError{Field: name, Message: message})
}

func (o *Object) find(name string) (value jx.Raw, found bool) {
	if o.hasManyFields {
		_ = o.each(func(key []byte, v jx.Raw) error { // it was parsed before, without an error
			if string(key) == name {
				value, found = v, true
			}
			return nil
		})
		return value, found
	}
	for _, f := range slices.Backward(o.fields) {
		if f.name == name {
			return f.raw, true
		}
	}
	return nil, false
}

// requireField reports whether a required field is present, and adds an error if not.
func (o *Object) requireField(name string) bool {
	if _, found := o.find(name); !found {
		o.addError(name, "is required")
		return false
	}
	return true
}

// readField returns the value of a field, nil if it is absent or wrong.
func readField[T any](o *Object, name string, decode func(jx.Raw) (T, error)) *T {
	raw, found := o.find(name)
	if !found {
		return nil
	}
	v, err := decode(raw)
	if err != nil {
		o.addError(name, err.Error())
		return nil
	}
	return &v
}

func readRequired[T any](o *Object, name string, decode func(jx.Raw) (T, error)) (v T) {
	if o.requireField(name) {
		if p := readField(o, name, decode); p != nil {
			v = *p
		}
	}
	return v
}

// String reads a required string.
func (o *Object) String(name string) string { return readRequired(o, name, parseText) }

// Int reads a required integer.
func (o *Object) Int(name string) int64 { return readRequired(o, name, parseInteger) }

// OptString reads a string, nil if absent.
func (o *Object) OptString(name string) *string { return readField(o, name, parseText) }

// OptInt reads an integer, nil if absent.
func (o *Object) OptInt(name string) *int64 { return readField(o, name, parseInteger) }

// OptBool reads a boolean, nil if absent.
func (o *Object) OptBool(name string) *bool { return readField(o, name, parseBool) }

// OptPoints reads a score or a percentage, nil if absent.
func (o *Object) OptPoints(name string) *domain.Points { return readField(o, name, parsePoints) }

// OptInstant reads a date-time, nil if absent.
func (o *Object) OptInstant(name string) *time.Time { return readField(o, name, parseInstant) }

// NullableInstant reads a date-time, nil if absent or null.
func (o *Object) NullableInstant(name string) *time.Time {
	if raw, _ := o.find(name); raw != nil && raw.Type() == jx.Null {
		return nil
	}
	return readField(o, name, parseInstant)
}

// OptStrings reads a list of at most limit strings, nil if absent. An element that
// is not a string is reported by its position, as tags[3].
func (o *Object) OptStrings(name string, limit int) *[]string {
	items := readField(o, name, arrayOf(limit))
	if items == nil {
		return nil
	}
	out, valid := make([]string, 0, len(*items)), true
	for i, raw := range *items {
		s, err := parseText(raw)
		if err != nil {
			valid = false
			o.addError(name+"["+strconv.Itoa(i)+"]", err.Error())
		}
		out = append(out, s)
	}
	if !valid {
		return nil
	}
	return &out
}

// Item is one element of a list, not decoded yet.
type Item struct{ raw jx.Raw }

// Items reads a required list of at most limit elements.
func (o *Object) Items(name string, limit int) []Item {
	raws := readRequired(o, name, arrayOf(limit))
	items := make([]Item, len(raws))
	for i, raw := range raws {
		items[i].raw = raw
	}
	return items
}

// Object decodes an item, which must be an object.
func (i Item) Object() (*Object, error) {
	if kind := i.raw.Type(); kind != jx.Object {
		return nil, domain.Errorf(domain.CodeInvalid, "The item must be a JSON object, not %s.", typeName(kind))
	}
	return fieldsOf(i.raw)
}
