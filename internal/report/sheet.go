package report

import (
	"fmt"
	"strconv"
	"unicode/utf8"
)

// xlsxColumn is a column as its cells need it.
type xlsxColumn struct {
	name  string
	open  string // the start of a cell up to the number of its row
	width float64
	fixed bool
}

func newXLSXColumns(cols []Column) []xlsxColumn {
	const filterButton = 4
	out := make([]xlsxColumn, len(cols))
	for i, c := range cols {
		out[i] = xlsxColumn{name: c.Name, open: `<c r="` + columnName(i), width: c.Width, fixed: c.Width > 0}
		if !out[i].fixed {
			out[i].width = max(kindWidth(c.Kind), float64(textWidth(c.Name)+filterButton))
		}
	}
	return out
}

func kindWidth(k Kind) float64 {
	switch k {
	case KindTime:
		return 20
	case KindText:
		return 12
	default:
		return 8
	}
}

// measure widens the column for s, within limits. Widths precede the rows in the file, so only the rows that are buffered
// before the first write count.
func (c *xlsxColumn) measure(s string) {
	const padding, widest = 2, 60
	if c.fixed || c.width >= widest {
		return
	}
	c.width = max(c.width, min(float64(textWidth(s)+padding), widest))
}

// textWidth returns a rough width in characters: those from U+1100 on, among them East
// Asian scripts and emoji, count twice.
func textWidth(s string) int {
	const firstWide = 0x1100
	n := utf8.RuneCountInString(s)
	for _, r := range s {
		if r >= firstWide {
			n++
		}
	}
	return n
}

// columnName returns the letters of the column with index i: A to Z, AA and so on.
func columnName(i int) string {
	name := ""
	for i++; i > 0; i = (i - 1) / 26 {
		name = string(rune('A'+(i-1)%26)) + name
	}
	return name
}

// startSheet opens the next sheet and buffers its header row.
func (x *XLSX) startSheet() error {
	part := "xl/worksheets/sheet" + strconv.Itoa(len(x.rows)+1) + ".xml"
	w, err := x.zip.CreateHeader(partHeader(part))
	if err != nil {
		return fmt.Errorf("report: start %s: %w", part, err)
	}
	x.part, x.headWritten = w, false
	x.rows = append(x.rows, 0)
	x.openRow(1)
	for i := range x.cols {
		if name := x.cols[i].name; name != "" {
			x.inline(&x.cols[i], openHeader, name)
		}
	}
	x.buf = append(x.buf, "</row>"...)
	return nil
}

func (x *XLSX) endSheet() error {
	all := "A1:" + columnName(len(x.cols)-1) + strconv.Itoa(x.rows[len(x.rows)-1]+1)
	x.buf = append(x.buf, `</sheetData><autoFilter ref="`...)
	x.buf = append(x.buf, all...)
	// Identifiers made of digits are meant to be text: no warning triangle in each of their cells.
	x.buf = append(x.buf, `"/><ignoredErrors><ignoredError sqref="`...)
	x.buf = append(x.buf, all...)
	x.buf = append(x.buf, `" numberStoredAsText="1"/></ignoredErrors></worksheet>`...)
	return x.flush()
}

// sheetHead returns the part of a sheet before its rows: the frozen header and the widths.
func (x *XLSX) sheetHead() []byte {
	b := []byte(xmlDeclaration + `<worksheet ` + mainSpace + `><sheetViews><sheetView`)
	if len(x.rows) == 1 {
		b = append(b, ` tabSelected="1"`...)
	}
	b = append(b, ` workbookViewId="0"><pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/>`+
		`<selection pane="bottomLeft" activeCell="A2" sqref="A2"/></sheetView></sheetViews>`+
		`<sheetFormatPr defaultRowHeight="15"/><cols>`...)
	for i := range x.cols {
		n := strconv.Itoa(i + 1)
		b = append(b, `<col min="`+n+`" max="`+n+`" width="`...)
		b = appendNumber(b, x.cols[i].width)
		b = append(b, `" customWidth="1"/>`...)
	}
	return append(b, `</cols><sheetData>`...)
}
