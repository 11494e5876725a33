package sheet_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/xuri/excelize/v2"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"

	"github.com/coursebridge/coursebridge/internal/sheet"
)

func TestReadCSV(t *testing.T) {
	t.Parallel()
	want := sheet.Table{Header: []string{"Имя", "email"}, Rows: [][]string{{"Анна Шевченко", "a@x.test"}, {"Jürgen", ""}}}
	utf := "Имя;email\r\n\"Анна Шевченко\";a@x.test\r\n\r\nJürgen\r\n"
	cyrillic, err := charmap.Windows1251.NewEncoder().String(strings.ReplaceAll(utf, "ü", "u"))
	if err != nil {
		t.Fatal(err)
	}
	western, err := charmap.Windows1252.NewEncoder().String("Name,email\nJürgen Müller,j@x.test\n")
	if err != nil {
		t.Fatal(err)
	}
	wide := func(order unicode.Endianness) string {
		out, err := unicode.UTF16(order, unicode.UseBOM).NewEncoder().String(strings.ReplaceAll(utf, ";", "\t"))
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	noUmlaut := sheet.Table{Header: want.Header, Rows: [][]string{want.Rows[0], {"Jurgen", ""}}}
	for name, row := range map[string]struct {
		text string
		want sheet.Table
	}{
		"semicolons": {utf, want}, "byte order mark": {"\ufeff" + utf, want}, "tabs": {strings.ReplaceAll(utf, ";", "\t"), want},
		"Windows-1251": {cyrillic, noUmlaut}, "UTF-16": {wide(unicode.LittleEndian), want}, "UTF-16, big-endian": {wide(unicode.BigEndian), want},
		"Windows-1252": {western, sheet.Table{Header: []string{"Name", "email"}, Rows: [][]string{{"Jürgen Müller", "j@x.test"}}}},
	} {
		got, err := sheet.Read([]byte(row.text))
		if diff := cmp.Diff(row.want, got); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", name, err, diff)
		}
	}
}

func TestReadXLSX(t *testing.T) {
	t.Parallel()
	f := excelize.NewFile()
	for cell, value := range map[string]any{"A1": "Name", "C1": "Id", "A2": "Анна", "C2": 7, "A3": "Bob"} {
		if err := f.SetCellValue("Sheet1", cell, value); err != nil {
			t.Fatal(err)
		}
	}
	var out bytes.Buffer
	if err := f.Write(&out); err != nil {
		t.Fatal(err)
	}
	got, err := sheet.Read(out.Bytes())
	want := sheet.Table{Header: []string{"Name", "", "Id"}, Rows: [][]string{{"Анна", "", "7"}, {"Bob", "", ""}}}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

func TestReadRefusesWhatIsTooLarge(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"rows": "email\n" + strings.Repeat("a\n", sheet.MaxRows+1), "columns": strings.Repeat("a,", sheet.MaxColumns+1) + "\n1\n",
		"a cell": "email\n" + strings.Repeat("x", 5000) + "\n", "nothing": "email\n", "a broken archive": "PK\x03\x04 nonsense",
		"bytes": strings.Repeat("x", sheet.MaxBytes+1),
	} {
		if _, err := sheet.Read([]byte(text)); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
