package report

import (
	"archive/zip"
	"bufio"
	"compress/flate"
	"fmt"
	"io"
	"strconv"
	"time"
)

const (
	// maxSheetRows is how many data rows a sheet holds in addition to its header.
	maxSheetRows = 1<<20 - 1
	maxSheetCols = 1 << 14
	// maxExact is the largest whole number that a spreadsheet shows with all its digits.
	maxExact = 999_999_999_999_999
	// maxGeneral is the largest one that it shows without an exponent unless a number format asks for it.
	maxGeneral = 99_999_999_999
)

// XLSX writes a table as an Office Open XML workbook. It is a zip file of XML parts, written front to back: each
// sheet is compressed as its rows come, and the parts that need to know the sheets follow them.
type XLSX struct {
	zip         *zip.Writer
	part        io.Writer // the open sheet
	cols        []xlsxColumn
	clock       clock
	name        string
	limit       int   // data rows to a sheet
	rows        []int // data rows of each sheet
	row         []byte
	buf         []byte
	headWritten bool // the open sheet's head is written
	err         error
	closed      bool
}

var _ Writer = (*XLSX)(nil)

// NewXLSX starts a workbook on w. Times are shown in loc (nil is UTC). Its first sheet is called sheet, the next ones
// "sheet 2" and so on.
func NewXLSX(w io.Writer, cols []Column, loc *time.Location, sheet string) (*XLSX, error) {
	return newXLSX(w, cols, sheetOptions{loc: loc, name: sheet, limit: maxSheetRows})
}

// sheetOptions describe the sheets of a workbook.
type sheetOptions struct {
	loc   *time.Location
	name  string
	limit int // data rows to a sheet
}

func newXLSX(w io.Writer, cols []Column, o sheetOptions) (*XLSX, error) {
	if err := checkColumns(cols, maxSheetCols); err != nil {
		return nil, err
	}
	if err := checkSheetName(o.name); err != nil {
		return nil, err
	}
	x := &XLSX{
		// zip.Writer takes a large bufio.Writer as its own buffer, and flushes it.
		zip:   zip.NewWriter(bufio.NewWriterSize(w, bufferSize/2)),
		cols:  newXLSXColumns(cols),
		clock: newClock(o.loc),
		name:  o.name,
		limit: o.limit,
		buf:   make([]byte, 0, bufferSize+bufferSize/4),
	}
	x.zip.RegisterCompressor(zip.Deflate, reusedCompressor())
	if err := x.begin(); err != nil {
		return nil, err
	}
	return x, nil
}

// reusedCompressor returns the same compressor for one part after another: it is by far the largest object here.
func reusedCompressor() zip.Compressor {
	var c *flate.Writer
	return func(w io.Writer) (io.WriteCloser, error) {
		if c != nil {
			c.Reset(w)
			return c, nil
		}
		var err error
		c, err = flate.NewWriter(w, flate.BestSpeed)
		return c, err
	}
}

// Row writes one row, on a new sheet if the last one is full.
func (x *XLSX) Row(cells []Cell) error {
	if x.err != nil {
		return x.err
	}
	if x.closed {
		return ErrClosed
	}
	x.err = x.add(cells)
	return x.err
}

func (x *XLSX) add(cells []Cell) error {
	if len(cells) != len(x.cols) {
		return cellCountError(len(cells), len(x.cols))
	}
	if x.rows[len(x.rows)-1] == x.limit {
		if err := x.endSheet(); err != nil {
			return err
		}
		if err := x.startSheet(); err != nil {
			return err
		}
	}
	x.rows[len(x.rows)-1]++
	x.openRow(x.rows[len(x.rows)-1] + 1)
	for i := range cells {
		x.cell(&x.cols[i], &cells[i])
	}
	x.buf = append(x.buf, "</row>"...)
	if len(x.buf) >= bufferSize {
		return x.flush()
	}
	return nil
}

// Close ends the last sheet and writes the parts that bind the sheets into a workbook.
func (x *XLSX) Close() error {
	if x.err == nil && !x.closed {
		x.closed = true
		x.err = x.end()
	}
	return x.err
}

func (x *XLSX) openRow(number int) {
	x.row = strconv.AppendInt(x.row[:0], int64(number), 10)
	x.buf = append(x.buf, `<row r="`...)
	x.buf = append(x.buf, x.row...)
	x.buf = append(x.buf, `">`...)
}

// The markup of a cell after its reference, and its end. The numbers of styles are those of stylesPart.
const (
	openNumber   = `"><v>`
	openBool     = `" t="b"><v>`
	openTime     = `" s="2"><v>`
	openLong     = `" s="3"><v>`
	closeValue   = `</v></c>`
	openText     = `" t="inlineStr"><is><t`
	openHeader   = `" s="1" t="inlineStr"><is><t`
	openRunnable = `" s="4" t="inlineStr"><is><t`
	closeText    = `</t></is></c>`
)

func (x *XLSX) cell(col *xlsxColumn, cell *Cell) {
	switch cell.kind {
	case KindText:
		x.text(col, cell.text)
	case KindInteger:
		x.integer(col, cell.n)
	case KindNumber:
		x.open(col, openNumber)
		x.buf = append(appendNumber(x.buf, cell.number()), closeValue...)
	case KindBool:
		x.open(col, openBool)
		x.buf = append(x.buf, '0'+byte(cell.n))
		x.buf = append(x.buf, closeValue...)
	case KindTime:
		x.time(col, cell)
	}
}

// open starts a cell; rest is what follows its reference. References may be left out, and the file would be smaller,
// but there are readers that need them.
func (x *XLSX) open(col *xlsxColumn, rest string) {
	x.buf = append(x.buf, col.open...)
	x.buf = append(x.buf, x.row...)
	x.buf = append(x.buf, rest...)
}

func (x *XLSX) text(col *xlsxColumn, s string) {
	switch {
	case s == "":
		return
	case looksLikeFormula(s):
		x.inline(col, openRunnable, s)
	default:
		x.inline(col, openText, s)
	}
}

// inline writes a cell whose text is in the sheet itself: a table of shared strings would grow with the rows.
func (x *XLSX) inline(col *xlsxColumn, open, s string) {
	s = truncateCell(s)
	if !x.headWritten {
		col.measure(s)
	}
	x.open(col, open)
	if s[0] <= ' ' || s[len(s)-1] <= ' ' {
		x.buf = append(x.buf, ` xml:space="preserve">`...)
	} else {
		x.buf = append(x.buf, '>')
	}
	x.buf = append(appendXML(x.buf, s), closeText...)
}

// integer writes a whole number, as text if a spreadsheet would round it: the digits of an id all count.
func (x *XLSX) integer(col *xlsxColumn, n int64) {
	switch {
	case n > maxExact || n < -maxExact:
		x.inline(col, openText, strconv.FormatInt(n, 10))
		return
	case n > maxGeneral || n < -maxGeneral:
		x.open(col, openLong)
	default:
		x.open(col, openNumber)
	}
	x.buf = append(strconv.AppendInt(x.buf, n, 10), closeValue...)
}

// time writes an instant as a date, or as text if spreadsheets have no such date.
func (x *XLSX) time(col *xlsxColumn, cell *Cell) {
	serial := x.clock.serial(cell.n)
	if serial.day < firstSerial || serial.day > lastSerial {
		x.inline(col, openText, string(x.clock.appendRFC3339(nil, cell.n, cell.nsec)))
		return
	}
	x.open(col, openTime)
	x.buf = append(serial.appendTo(x.buf), closeValue...)
}

// flush writes the buffer to the compressor, after the head of the sheet if that is not written yet.
func (x *XLSX) flush() error {
	if !x.headWritten {
		x.headWritten = true
		if _, err := x.part.Write(x.sheetHead()); err != nil {
			return fmt.Errorf("report: write sheet head: %w", err)
		}
	}
	if _, err := x.part.Write(x.buf); err != nil {
		return fmt.Errorf("report: write rows: %w", err)
	}
	x.buf = x.buf[:0]
	return nil
}
