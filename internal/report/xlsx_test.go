package report

import (
	"archive/zip"
	"bytes"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/xuri/excelize/v2"
)

func writeXLSX(t testing.TB, cols []Column, limit int, rows ...[]Cell) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := newXLSX(&out, cols, sheetOptions{location(t, "Europe/Kyiv"), "Assignments", limit})
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows {
		if err := w.Row(row); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func openXLSX(t testing.TB, file []byte) *excelize.File {
	t.Helper()
	book, err := excelize.OpenReader(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = book.Close() })
	return book
}

// readSheet reads a whole sheet with every row at full length.
func readSheet(t testing.TB, book *excelize.File, sheet string) [][]string {
	t.Helper()
	rows, err := book.GetRows(sheet)
	if err != nil {
		t.Fatal(err)
	}
	for i := range rows {
		for len(rows[i]) < len(rows[0]) {
			rows[i] = append(rows[i], "")
		}
	}
	return rows
}

func TestXLSXReadsBack(t *testing.T) {
	t.Parallel()
	const limit = 12
	book := openXLSX(t, writeXLSX(t, sampleColumns, limit, sampleRows()...))
	shown := sampleShown()
	want := map[string][][]string{
		"Assignments":   append([][]string{sampleHeader()}, shown[:limit]...),
		"Assignments 2": append([][]string{sampleHeader()}, shown[limit:2*limit]...),
		"Assignments 3": append([][]string{sampleHeader()}, shown[2*limit:]...),
	}
	if diff := cmp.Diff([]string{"Assignments", "Assignments 2", "Assignments 3"}, book.GetSheetList()); diff != "" {
		t.Fatalf("sheets (-want +got):\n%s", diff)
	}
	for sheet, rows := range want {
		if diff := cmp.Diff(rows, readSheet(t, book, sheet)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", sheet, diff)
		}
	}
}

func TestXLSXTypes(t *testing.T) {
	t.Parallel()
	book := openXLSX(t, writeXLSX(t, sampleColumns, maxSheetRows, sampleRows()...))
	edge := len(sampleTexts) + 2 // the number of the first row after the texts
	tests := []struct {
		cell  string
		kind  excelize.CellType
		style int
		raw   string
	}{
		{"A1", excelize.CellTypeInlineString, 1, "text"},
		{"A2", excelize.CellTypeInlineString, 0, "plain"},
		{"A4", excelize.CellTypeInlineString, 4, "=1+1"},
		{"A8", excelize.CellTypeInlineString, 4, "  =1"},
		{"B3", excelize.CellTypeUnset, 0, "1"}, // no type means a number
		{"C3", excelize.CellTypeUnset, 0, "1.25"},
		{"D3", excelize.CellTypeBool, 0, "0"},
		{"E3", excelize.CellTypeUnset, 2, "46320.1458333333"},
		{cellName("A", edge), excelize.CellTypeUnset, 0, ""},
		{cellName("B", edge), excelize.CellTypeUnset, 3, "123456789012"},
		{cellName("E", edge), excelize.CellTypeInlineString, 0, "1899-01-01T02:02:00+02:02"},
		{cellName("B", edge+1), excelize.CellTypeInlineString, 0, "-1234567890123456789"},
		{cellName("B", edge+2), excelize.CellTypeInlineString, 0, "1000000000000000"},
		{cellName("B", edge+3), excelize.CellTypeUnset, 3, "999999999999999"},
	}
	const sheet = "Assignments"
	for _, test := range tests {
		kind, err := book.GetCellType(sheet, test.cell)
		if err != nil || kind != test.kind {
			t.Errorf("%s: type %v, %v, want %v", test.cell, kind, err, test.kind)
		}
		raw, err := book.GetCellValue(sheet, test.cell, excelize.Options{RawCellValue: true})
		if err != nil || raw != test.raw {
			t.Errorf("%s: raw value %q, %v, want %q", test.cell, raw, err, test.raw)
		}
		style, err := book.GetCellStyle(sheet, test.cell)
		if err != nil || style != test.style {
			t.Errorf("%s: style %d, %v, want %d", test.cell, style, err, test.style)
		}
		if formula, err := book.GetCellFormula(sheet, test.cell); err != nil || formula != "" {
			t.Errorf("%s: formula %q, %v", test.cell, formula, err)
		}
	}
}

func cellName(col string, row int) string { return col + strconv.Itoa(row) }

func TestXLSXLayout(t *testing.T) {
	t.Parallel()
	file := writeXLSX(t, sampleColumns, 20, sampleRows()...)
	book := openXLSX(t, file)
	for i, sheet := range []string{"Assignments", "Assignments 2"} {
		panes, err := book.GetPanes(sheet)
		if err != nil || !panes.Freeze || panes.YSplit != 1 || panes.XSplit != 0 || panes.TopLeftCell != "A2" {
			t.Errorf("%s: panes %+v, %v, want the first row frozen", sheet, panes, err)
		}
		last := []string{"E21", "E14"}[i]
		part := readPart(t, file, "xl/worksheets/sheet"+strconv.Itoa(i+1)+".xml")
		if want := `<autoFilter ref="A1:` + last + `"/>`; strings.Count(part, want) != 1 {
			t.Errorf("%s does not contain %s", sheet, want)
		}
	}
	header, err := book.GetStyle(1)
	if err != nil || header.Font == nil || !header.Font.Bold {
		t.Errorf("header style %+v, %v, want bold", header, err)
	}
	dates, err := book.GetStyle(2)
	if err != nil || dates.CustomNumFmt == nil || *dates.CustomNumFmt != "yyyy-mm-dd hh:mm:ss" {
		t.Errorf("date style %+v, %v", dates, err)
	}
	var filters []string
	for _, name := range book.GetDefinedName() {
		filters = append(filters, name.Scope+": "+name.Name+" "+name.RefersTo)
	}
	want := []string{
		"Assignments: _xlnm._FilterDatabase 'Assignments'!$A$1:$E$21",
		"Assignments 2: _xlnm._FilterDatabase 'Assignments 2'!$A$1:$E$14",
	}
	if diff := cmp.Diff(want, filters); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
}

func TestXLSXWidths(t *testing.T) {
	t.Parallel()
	cols := []Column{{Name: "id", Kind: KindInteger}, {Name: "employeeExternalId", Kind: KindText},
		{Name: "name", Kind: KindText}, {Name: "text", Kind: KindText}, {Name: "deadline", Kind: KindTime},
		{Name: "fixed", Kind: KindText, Width: 9.5}, {Name: "wide", Kind: KindText}}
	file := writeXLSX(t, cols, maxSheetRows, []Cell{Int(1), Text("e-1"), Text("Світлана Шевченко-Іваненко"),
		Text(strings.Repeat("long ", 100)), Time(time.Unix(0, 0)), Text("longer than that"), Text("日本語日本語日本語")})
	book := openXLSX(t, file)
	for col, want := range map[string]float64{"A": 8, "B": 22, "C": 28, "D": 60, "E": 20, "F": 9.5, "G": 20} {
		if got, err := book.GetColWidth("Assignments", col); err != nil || got != want {
			t.Errorf("column %s: width %v, %v, want %v", col, got, err, want)
		}
	}
}

func TestXLSXWithoutRows(t *testing.T) {
	t.Parallel()
	file := writeXLSX(t, sampleColumns, maxSheetRows)
	if diff := cmp.Diff([][]string{sampleHeader()}, readSheet(t, openXLSX(t, file), "Assignments")); diff != "" {
		t.Errorf("sheet (-want +got):\n%s", diff)
	}
	if part := readPart(t, file, "xl/worksheets/sheet1.xml"); !strings.Contains(part, `<autoFilter ref="A1:E1"/>`) {
		t.Errorf("no filter on the header: %s", part)
	}
}

func TestXLSXIsNotWholeUnlessClosed(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	w, err := NewXLSX(&out, sampleColumns, nil, "Assignments")
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range assignmentRows(5000) {
		if err := w.Row(row[:len(sampleColumns)]); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := zip.NewReader(bytes.NewReader(out.Bytes()), int64(out.Len())); err == nil {
		t.Error("a part of a workbook opens as if it were whole")
	}
}

// A sheet of the real size is full at its last row, not one before or after.
func TestXLSXFullSheet(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	w, err := NewXLSX(&out, []Column{{Name: "id", Kind: KindInteger}}, nil, "Assignments")
	if err != nil {
		t.Fatal(err)
	}
	for i := range int64(maxSheetRows + 1) {
		if err := w.Row([]Cell{Int(i)}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	lastRow := regexp.MustCompile(`<row r="(\d+)">[^/]*</v></c></row></sheetData>`)
	for part, want := range map[string]string{"sheet1": "1048576", "sheet2": "2"} {
		found := lastRow.FindStringSubmatch(tail(readPart(t, out.Bytes(), "xl/worksheets/"+part+".xml"), 1000))
		if found == nil || found[1] != want {
			t.Errorf("%s ends with row %v, want %s", part, found, want)
		}
	}
}
