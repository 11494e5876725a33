// Package sheet reads tables that people upload: CSV in the encodings and with the
// delimiters that spreadsheets write, and XLSX. It bounds what a file can cost and
// knows nothing of what the rows mean.
package sheet

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
)

// The bounds of a table.
const (
	MaxBytes   = 16 << 20
	MaxRows    = 50_000 // without the head
	MaxColumns = 50
	maxCell    = 4096
	maxText    = 32 << 20 // of all cells together
)

var errTooMuchText = fmt.Errorf("the file has more than %d MB of text; split it", maxText>>20)

// Table is a head and the rows below it, each as wide as the head.
type Table struct {
	Header []string
	Rows   [][]string
}

// builder is a table that is being read.
type builder struct {
	Table
	size int // of the text so far
}

// Read reads a file, XLSX or CSV, which it recognises by the content. Its errors
// explain what a person can do.
func Read(content []byte) (Table, error) {
	if len(content) > MaxBytes {
		return Table{}, fmt.Errorf("the file is larger than %d MB; split it", MaxBytes>>20)
	}
	if bytes.HasPrefix(content, []byte("PK\x03\x04")) {
		return readXLSX(content)
	}
	return readCSV(decode(content))
}

// decode turns a text into UTF-8. UTF-16, Excel's "Unicode text", is recognised by its
// byte order mark. Any other text that is not UTF-8 is Windows-1251 if it has more
// Cyrillic than accented letters when it is read so, otherwise Windows-1252.
func decode(content []byte) string {
	if bytes.HasPrefix(content, []byte("\xff\xfe")) || bytes.HasPrefix(content, []byte("\xfe\xff")) {
		// It replaces what can't be decoded, and never fails.
		out, _ := unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewDecoder().Bytes(content)
		return string(out)
	}
	content = bytes.TrimPrefix(content, []byte("\ufeff"))
	if utf8.Valid(content) {
		return string(content)
	}
	if cyrillicPairs(content) {
		out, _ := charmap.Windows1251.NewDecoder().Bytes(content) // it decodes every byte
		return string(out)
	}
	out, _ := charmap.Windows1252.NewDecoder().Bytes(content)
	return string(out)
}

// cyrillicPairs reports whether most bytes above 0x7f stand next to another one:
// Cyrillic words consist of them, western words have one here and there.
func cyrillicPairs(content []byte) bool {
	high, paired := 0, 0
	for i, c := range content {
		if c < 0xc0 {
			continue
		}
		high++
		if i > 0 && content[i-1] >= 0xc0 || i+1 < len(content) && content[i+1] >= 0xc0 {
			paired++
		}
	}
	return paired*2 > high
}

func readCSV(text string) (Table, error) {
	line, _, _ := strings.Cut(strings.TrimLeft(text, "\r\n"), "\n")
	best, count := ',', 0
	for _, delimiter := range ",;\t|" {
		if n := strings.Count(line, string(delimiter)); n > count {
			best, count = delimiter, n
		}
	}
	r := csv.NewReader(strings.NewReader(text))
	r.Comma, r.FieldsPerRecord, r.LazyQuotes, r.ReuseRecord = best, -1, true, true
	var t builder
	for {
		record, err := r.Read()
		if errors.Is(err, io.EOF) {
			return t.Table, t.check()
		}
		if err != nil {
			return t.Table, fmt.Errorf("line %d can't be read; save the file as CSV again", len(t.Rows)+2)
		}
		if err := t.add(record); err != nil {
			return t.Table, err
		}
	}
}

// add takes the next row; the first one is the head. Empty rows are left out.
func (t *builder) add(cells []string) error {
	row, empty := make([]string, 0, max(len(cells), len(t.Header))), true
	for _, cell := range cells {
		cell = strings.TrimSpace(strings.ReplaceAll(cell, "\x00", ""))
		if len(cell) > maxCell {
			return fmt.Errorf("row %d has a cell of more than %d characters", len(t.Rows)+2, maxCell)
		}
		if t.size += len(cell); t.size > maxText {
			return errTooMuchText
		}
		empty = empty && cell == ""
		row = append(row, strings.ToValidUTF8(cell, ""))
	}
	if empty {
		return nil
	}
	if t.Header == nil {
		if len(row) > MaxColumns {
			return fmt.Errorf("the file has more than %d columns; remove those that are not needed", MaxColumns)
		}
		t.Header = row
		return nil
	}
	if len(t.Rows) == MaxRows {
		return fmt.Errorf("the file has more than %d rows; split it", MaxRows)
	}
	for len(row) < len(t.Header) {
		row = append(row, "")
	}
	t.Rows = append(t.Rows, row[:len(t.Header)])
	return nil
}

func (t *Table) check() error {
	if len(t.Rows) == 0 {
		return errors.New("the file has no rows below its head; the first row must name the columns")
	}
	return nil
}
