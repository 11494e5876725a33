package report

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// bufferSize is how many bytes are buffered before they are written.
const bufferSize = 64 << 10

// CSV writes a table as RFC 4180 describes it: commas, CRLF, quotes where they are needed, always with a header row.
type CSV struct {
	w      io.Writer
	cols   int
	clock  clock
	bom    bool
	buf    []byte
	err    error
	closed bool
}

var _ Writer = (*CSV)(nil)

// NewCSV starts a CSV file on w by writing its header. Times are shown in loc (nil is UTC). A byte order mark at
// the start, if bom asks for it, makes Excel read the file as UTF-8.
func NewCSV(w io.Writer, cols []Column, loc *time.Location, bom bool) (*CSV, error) {
	const most = 1 << 20
	if err := checkColumns(cols, most); err != nil {
		return nil, err
	}
	c := &CSV{w: w, cols: len(cols), clock: newClock(loc), bom: bom, buf: make([]byte, 0, bufferSize+bufferSize/4)}
	if bom {
		c.buf = append(c.buf, "\uFEFF"...)
	}
	for i := range cols {
		if i > 0 {
			c.buf = append(c.buf, ',')
		}
		c.buf = appendText(c.buf, cols[i].Name)
	}
	c.buf = append(c.buf, '\r', '\n')
	if err := c.flush(); err != nil {
		return nil, err
	}
	return c, nil
}

// Row writes one row.
func (c *CSV) Row(cells []Cell) error {
	if c.err != nil {
		return c.err
	}
	if c.closed {
		return ErrClosed
	}
	if len(cells) != c.cols {
		c.err = cellCountError(len(cells), c.cols)
		return c.err
	}
	start := len(c.buf)
	for i := range cells {
		if i > 0 {
			c.buf = append(c.buf, ',')
		}
		c.cell(&cells[i])
	}
	if len(c.buf) == start {
		c.buf = append(c.buf, '"', '"') // an empty line would be no row to most readers
	}
	c.buf = append(c.buf, '\r', '\n')
	if len(c.buf) >= bufferSize {
		return c.flush()
	}
	return nil
}

// Close writes what is still buffered.
func (c *CSV) Close() error {
	if c.err == nil && !c.closed {
		c.closed = true
		return c.flush()
	}
	return c.err
}

func (c *CSV) cell(cell *Cell) {
	switch cell.kind {
	case KindText:
		text := cell.text
		if c.bom { // it is asked for by people who open the file with Excel, which may split at semicolons
			text = guardSemicolons(text)
		}
		c.buf = appendText(c.buf, text)
	case KindInteger:
		c.buf = strconv.AppendInt(c.buf, cell.n, 10)
	case KindNumber:
		c.buf = appendNumber(c.buf, cell.number())
	case KindBool:
		c.buf = strconv.AppendBool(c.buf, cell.n != 0)
	case KindTime:
		c.buf = c.clock.appendRFC3339(c.buf, cell.n, cell.nsec)
	}
}

func (c *CSV) flush() error {
	if _, err := c.w.Write(c.buf); err != nil {
		c.err = fmt.Errorf("report: write csv: %w", err)
	}
	c.buf = c.buf[:0]
	return c.err
}

// csvSpecial marks the bytes that make a field need quotes.
var csvSpecial = [256]bool{'"': true, ',': true, '\r': true, '\n': true}

func appendText(b []byte, s string) []byte {
	if s == "" {
		return b
	}
	ascii, quote := true, s[0] <= ' ' || s[len(s)-1] <= ' '
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			ascii = false
		} else if csvSpecial[s[i]] {
			quote = true
		}
	}
	if !ascii && !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "\uFFFD")
	}
	guard := looksLikeFormula(s)
	if !quote {
		if guard {
			b = append(b, '\'')
		}
		return append(b, s...)
	}
	b = append(b, '"')
	if guard {
		b = append(b, '\'')
	}
	for {
		i := strings.IndexByte(s, '"')
		if i < 0 {
			break
		}
		b = append(b, s[:i+1]...)
		b = append(b, '"')
		s = s[i+1:]
	}
	b = append(b, s...)
	return append(b, '"')
}
