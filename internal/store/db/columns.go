package db

import "time"

// ColumnOf describes one column of a table of values whose rows come from items
// of type T.
type ColumnOf[T any] struct {
	name   string
	typ    Type
	values func(items []T) any
}

// Columns returns one column of values for each description, with one row for
// each item, in the order of the items.
func Columns[T any](items []T, columns ...ColumnOf[T]) []Column {
	out := make([]Column, len(columns))
	for i, c := range columns {
		out[i] = Column{Name: c.name, Type: c.typ, Values: c.values(items)}
	}
	return out
}

// IntColumn describes a column of integers.
func IntColumn[T any, I ~int | ~int64](name string, value func(*T) I) ColumnOf[T] {
	return column(name, Int, func(item *T) int64 { return int64(value(item)) })
}

// OptionalIntColumn describes a column of integers in which nil is NULL.
func OptionalIntColumn[T any](name string, value func(*T) *int64) ColumnOf[T] {
	return column(name, Int, value)
}

// TextColumn describes a column of texts.
func TextColumn[T any, S ~string](name string, value func(*T) S) ColumnOf[T] {
	return column(name, Text, func(item *T) string { return string(value(item)) })
}

// UUIDColumn describes a column of UUIDs in their text form.
func UUIDColumn[T any](name string, value func(*T) string) ColumnOf[T] {
	return column(name, UUID, value)
}

// BoolColumn describes a column of booleans.
func BoolColumn[T any](name string, value func(*T) bool) ColumnOf[T] {
	return column(name, Bool, value)
}

// TimeColumn describes a column of instants.
func TimeColumn[T any](name string, value func(*T) time.Time) ColumnOf[T] {
	return column(name, Time, value)
}

// OptionalTimeColumn describes a column of instants in which nil is NULL.
func OptionalTimeColumn[T any](name string, value func(*T) *time.Time) ColumnOf[T] {
	return column(name, Time, value)
}

// BytesColumn describes a column of byte strings.
func BytesColumn[T any](name string, value func(*T) []byte) ColumnOf[T] {
	return column(name, Bytes, value)
}

func column[T, V any](name string, typ Type, value func(*T) V) ColumnOf[T] {
	return ColumnOf[T]{name, typ, func(items []T) any {
		out := make([]V, len(items))
		for i := range items {
			out[i] = value(&items[i])
		}
		return out
	}}
}

// Ints returns a column over a slice of integers.
func Ints(name string, values []int64) Column { return Column{Name: name, Type: Int, Values: values} }

// Texts returns a column over a slice of texts.
func Texts(name string, values []string) Column {
	return Column{Name: name, Type: Text, Values: values}
}

// UUIDs returns a column over a slice of UUIDs in their text form.
func UUIDs(name string, values []string) Column {
	return Column{Name: name, Type: UUID, Values: values}
}
