package report

import (
	"archive/zip"
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"path"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func openZip(t testing.TB, file []byte) *zip.Reader {
	t.Helper()
	archive, err := zip.NewReader(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	return archive
}

func readPart(t testing.TB, file []byte, name string) string {
	t.Helper()
	part, err := openZip(t, file).Open(name)
	if err != nil {
		t.Fatal(err)
	}
	content, err := io.ReadAll(part)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

func decodePart(t testing.TB, file []byte, name string, into any) {
	t.Helper()
	if err := xml.Unmarshal([]byte(readPart(t, file, name)), into); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

// Excel takes a package by its content types and relationships, which other readers hardly look at.
func TestPackage(t *testing.T) {
	t.Parallel()
	file := writeXLSX(t, sampleColumns, 12, sampleRows()...)
	types := partTypes(t, file)
	var parts []string
	got := map[string]string{}
	for _, part := range openZip(t, file).File {
		if part.Method != zip.Deflate {
			t.Errorf("%s is not deflated: readers that go front to back find no end of it", part.Name)
		}
		checkWellFormed(t, part.Name, readPart(t, file, part.Name))
		parts = append(parts, part.Name)
		got[part.Name] = strings.TrimPrefix(types(part.Name), "application/vnd.openxmlformats-")
	}
	if parts[0] != "[Content_Types].xml" {
		t.Errorf("the first part is %s", parts[0])
	}
	delete(got, "[Content_Types].xml")
	want := map[string]string{
		"_rels/.rels":                "package.relationships+xml",
		"xl/_rels/workbook.xml.rels": "package.relationships+xml",
		"xl/workbook.xml":            "officedocument.spreadsheetml.sheet.main+xml",
		"xl/styles.xml":              "officedocument.spreadsheetml.styles+xml",
		"xl/worksheets/sheet1.xml":   "officedocument.spreadsheetml.worksheet+xml",
		"xl/worksheets/sheet2.xml":   "officedocument.spreadsheetml.worksheet+xml",
		"xl/worksheets/sheet3.xml":   "officedocument.spreadsheetml.worksheet+xml",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("content types (-want +got):\n%s", diff)
	}
	for base, rels := range map[string]string{"": "_rels/.rels", "xl": "xl/_rels/workbook.xml.rels"} {
		var list struct {
			Relationship []struct {
				Target string `xml:",attr"`
			}
		}
		decodePart(t, file, rels, &list)
		for _, rel := range list.Relationship {
			if _, ok := want[path.Join(base, rel.Target)]; !ok {
				t.Errorf("%s points to %s, which is missing", rels, rel.Target)
			}
		}
	}
}

// partTypes reads the content types and returns how they are looked up.
func partTypes(t testing.TB, file []byte) func(name string) string {
	t.Helper()
	type entry struct {
		PartName, Extension, ContentType string `xml:",attr"`
	}
	var types struct{ Default, Override []entry }
	decodePart(t, file, "[Content_Types].xml", &types)
	return func(name string) string {
		for _, e := range types.Override {
			if e.PartName == "/"+name {
				return e.ContentType
			}
		}
		for _, e := range types.Default {
			if "."+e.Extension == path.Ext(name) {
				return e.ContentType
			}
		}
		return ""
	}
}

func checkWellFormed(t testing.TB, name, content string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(content))
	for {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
}

// What Excel needs and the readers of the other tests do without.
func TestMarkupForExcel(t *testing.T) {
	t.Parallel()
	file := writeXLSX(t, sampleColumns, maxSheetRows, sampleRows()...)
	tests := []struct{ part, want string }{
		{"xl/worksheets/sheet1.xml", `<t xml:space="preserve"> around </t>`},
		{"xl/worksheets/sheet1.xml", "<t xml:space=\"preserve\">line\n</t>"},
		{"xl/worksheets/sheet1.xml", `<c r="A4" s="4" t="inlineStr"><is><t>=1+1</t></is></c>`},
		{"xl/worksheets/sheet1.xml", `numberStoredAsText="1"`},
		{"xl/styles.xml", `xfId="0" quotePrefix="1"/></cellXfs>`},
		{"xl/workbook.xml", `<workbookView/>`},
	}
	for _, test := range tests {
		if !strings.Contains(readPart(t, file, test.part), test.want) {
			t.Errorf("%s does not contain %s", test.part, test.want)
		}
	}
}

func TestSheetNames(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"", strings.Repeat("x", 32), strings.Repeat("🚒", 16), "a/b", "a[b", "a:b", "'a", "a'",
		"a\x01", "a\tb", "\xff"} {
		if _, err := NewXLSX(io.Discard, sampleColumns, nil, name); err == nil {
			t.Errorf("%q is accepted", name)
		}
	}
	tests := []struct{ name, second string }{
		{"Звіт", "Звіт 2"},
		{`It's <A> & "B"`, `It's <A> & "B" 2`},
		{strings.Repeat("x", 31), strings.Repeat("x", 29) + " 2"},
		{strings.Repeat("🚒", 15), strings.Repeat("🚒", 14) + " 2"},
	}
	for _, test := range tests {
		var out bytes.Buffer
		w, err := newXLSX(&out, sampleColumns[:1], sheetOptions{nil, test.name, 1})
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(w.Row([]Cell{Text("a")}), w.Row([]Cell{Text("b")}), w.Close()); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{test.name, test.second}, openXLSX(t, out.Bytes()).GetSheetList()); diff != "" {
			t.Errorf("sheets (-want +got):\n%s", diff)
		}
	}
}

func TestColumnName(t *testing.T) {
	t.Parallel()
	for i, want := range map[int]string{0: "A", 25: "Z", 26: "AA", 51: "AZ", 52: "BA", 701: "ZZ", 702: "AAA",
		maxSheetCols - 1: "XFD"} {
		if got := columnName(i); got != want {
			t.Errorf("columnName(%d) = %s, want %s", i, got, want)
		}
	}
}
