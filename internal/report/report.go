// Package report writes tables as CSV and XLSX files onto an io.Writer, row by row and in constant memory.
//
// What a table looks like as a file belongs here: quoting, cell types, dates, widths, sheets. Where rows come from
// (SQL) and where the file goes (HTTP) do not.
package report

import (
	"errors"
	"fmt"
	"math"
	"time"
)

// Kind is what a cell holds. The zero Kind is that of a null cell.
type Kind uint8

// The kinds of cells.
const (
	KindText Kind = iota + 1
	KindInteger
	KindNumber
	KindBool
	KindTime
)

// Column describes one column of a table.
type Column struct {
	Name string
	Kind Kind
	// Width is the column's width in a spreadsheet, in characters. 0 lets the writer find one that fits.
	Width float64
}

// Cell is one value of a row. The zero Cell is null. It is a plain value: making one never allocates.
type Cell struct {
	text string
	n    int64 // the integer, the bits of the number, 0 or 1, or the Unix second
	nsec int32
	kind Kind
}

// Null is the cell without a value.
func Null() Cell { return Cell{} }

// Text is a cell of text. It is never run as a formula, whatever it holds.
func Text(s string) Cell { return Cell{kind: KindText, text: s} }

// Int is a cell of a whole number.
func Int(i int64) Cell { return Cell{kind: KindInteger, n: i} }

// Num is a cell of a number, shown with at most two decimals. What is not a finite number is null.
func Num(f float64) Cell {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return Null()
	}
	return Cell{kind: KindNumber, n: int64(math.Float64bits(f))}
}

// Bool is a cell of true or false.
func Bool(b bool) Cell {
	if b {
		return Cell{kind: KindBool, n: 1}
	}
	return Cell{kind: KindBool}
}

// Time is a cell of an instant, shown in the time zone of the writer.
func Time(t time.Time) Cell {
	return Cell{kind: KindTime, n: t.Unix(), nsec: int32(t.Nanosecond())}
}

func (c *Cell) number() float64 { return math.Float64frombits(uint64(c.n)) }

// Writer writes one table. Its first failure is final: every later call returns it, and the file stays without its
// end, so that an incomplete file never looks complete.
type Writer interface {
	// Row writes one row, a cell for every column in their order. It keeps no reference to cells.
	Row(cells []Cell) error
	// Close writes the end of the file. It does not close what is written to. A table given up before its end is
	// simply not closed.
	Close() error
}

// ErrClosed is returned by Row after Close.
var ErrClosed = errors.New("report: row after close")

func checkColumns(cols []Column, most int) error {
	if len(cols) == 0 || len(cols) > most {
		return fmt.Errorf("report: %d columns, want 1 to %d", len(cols), most)
	}
	return nil
}

func cellCountError(got, want int) error {
	return fmt.Errorf("report: row of %d cells, want %d", got, want)
}
