package report

import (
	"archive/zip"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"
)

const (
	xmlDeclaration = `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>` + "\n"

	mainSpace    = `xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"`
	relSpace     = `xmlns="http://schemas.openxmlformats.org/package/2006/relationships"`
	relTypes     = `http://schemas.openxmlformats.org/officeDocument/2006/relationships`
	contentTypes = `application/vnd.openxmlformats-officedocument.spreadsheetml`
)

// typesPart comes first, where programs that detect file types look for it, and so before the number of sheets is known:
// it names the first sheet and declares every XML part that it does not name to be a sheet.
const typesPart = xmlDeclaration +
	`<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">` +
	`<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>` +
	`<Default Extension="xml" ContentType="` + contentTypes + `.worksheet+xml"/>` +
	`<Override PartName="/xl/workbook.xml" ContentType="` + contentTypes + `.sheet.main+xml"/>` +
	`<Override PartName="/xl/worksheets/sheet1.xml" ContentType="` + contentTypes + `.worksheet+xml"/>` +
	`<Override PartName="/xl/styles.xml" ContentType="` + contentTypes + `.styles+xml"/>` +
	`</Types>`

const rootRelsPart = xmlDeclaration +
	`<Relationships ` + relSpace + `>` +
	`<Relationship Id="rId1" Type="` + relTypes + `/officeDocument" Target="xl/workbook.xml"/>` +
	`</Relationships>`

// stylesPart numbers the styles of cells: 0 plain, 1 header, 2 date and time, 3 long whole number, 4 text that would
// run as a formula if it were typed.
const stylesPart = xmlDeclaration +
	`<styleSheet ` + mainSpace + `>` +
	`<numFmts count="1"><numFmt numFmtId="164" formatCode="yyyy-mm-dd hh:mm:ss"/></numFmts>` +
	`<fonts count="2">` +
	`<font><sz val="11"/><name val="Calibri"/><family val="2"/></font>` +
	`<font><b/><sz val="11"/><name val="Calibri"/><family val="2"/></font>` +
	`</fonts>` +
	`<fills count="2"><fill><patternFill patternType="none"/></fill>` +
	`<fill><patternFill patternType="gray125"/></fill></fills>` +
	`<borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders>` +
	`<cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs>` +
	`<cellXfs count="5">` +
	`<xf numFmtId="0" fontId="0" fillId="0" borderId="0" xfId="0"/>` +
	`<xf numFmtId="0" fontId="1" fillId="0" borderId="0" xfId="0" applyFont="1"/>` +
	`<xf numFmtId="164" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/>` +
	`<xf numFmtId="1" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/>` +
	`<xf numFmtId="0" fontId="0" fillId="0" borderId="0" xfId="0" quotePrefix="1"/>` +
	`</cellXfs>` +
	`<cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles>` +
	`</styleSheet>`

// begin writes the parts before the sheets and flushes them, so that the receiver sees progress.
func (x *XLSX) begin() error {
	if err := x.writePart("[Content_Types].xml", typesPart); err != nil {
		return err
	}
	if err := x.writePart("_rels/.rels", rootRelsPart); err != nil {
		return err
	}
	if err := x.writePart("xl/styles.xml", stylesPart); err != nil {
		return err
	}
	if err := x.startSheet(); err != nil {
		return err
	}
	if err := x.zip.Flush(); err != nil {
		return fmt.Errorf("report: write workbook: %w", err)
	}
	return nil
}

func (x *XLSX) end() error {
	if err := x.endSheet(); err != nil {
		return err
	}
	if err := x.writePart("xl/workbook.xml", x.workbookPart()); err != nil {
		return err
	}
	if err := x.writePart("xl/_rels/workbook.xml.rels", x.workbookRelsPart()); err != nil {
		return err
	}
	if err := x.zip.Close(); err != nil {
		return fmt.Errorf("report: end workbook: %w", err)
	}
	return nil
}

func (x *XLSX) writePart(name, content string) error {
	w, err := x.zip.CreateHeader(partHeader(name))
	if err != nil {
		return fmt.Errorf("report: start %s: %w", name, err)
	}
	if _, err := w.Write([]byte(content)); err != nil {
		return fmt.Errorf("report: write %s: %w", name, err)
	}
	return nil
}

// partHeader returns a header with the first date that zip files know, so that the same rows make the same file.
func partHeader(name string) *zip.FileHeader {
	return &zip.FileHeader{Name: name, Method: zip.Deflate, Modified: time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)}
}

func (x *XLSX) workbookPart() string {
	var b strings.Builder
	b.WriteString(xmlDeclaration + `<workbook ` + mainSpace + ` xmlns:r="` + relTypes + `">` +
		`<bookViews><workbookView/></bookViews><sheets>`)
	for i := range x.rows {
		n := strconv.Itoa(i + 1)
		b.WriteString(`<sheet name="` + attribute(x.sheetName(i)) + `" sheetId="` + n + `" r:id="rId` + n + `"/>`)
	}
	// Excel keeps the range of a filter as a hidden name too, and misses it when it saves the file.
	b.WriteString(`</sheets><definedNames>`)
	for i, rows := range x.rows {
		quoted := "'" + strings.ReplaceAll(x.sheetName(i), "'", "''") + "'"
		last := "$" + columnName(len(x.cols)-1) + "$" + strconv.Itoa(rows+1)
		b.WriteString(`<definedName name="_xlnm._FilterDatabase" localSheetId="` + strconv.Itoa(i) + `" hidden="1">` +
			attribute(quoted) + `!$A$1:` + last + `</definedName>`)
	}
	b.WriteString(`</definedNames></workbook>`)
	return b.String()
}

func (x *XLSX) workbookRelsPart() string {
	var b strings.Builder
	b.WriteString(xmlDeclaration + `<Relationships ` + relSpace + `>`)
	for i := range x.rows {
		n := strconv.Itoa(i + 1)
		b.WriteString(`<Relationship Id="rId` + n + `" Type="` + relTypes + `/worksheet" Target="worksheets/sheet` +
			n + `.xml"/>`)
	}
	b.WriteString(`<Relationship Id="rId` + strconv.Itoa(len(x.rows)+1) + `" Type="` + relTypes +
		`/styles" Target="styles.xml"/></Relationships>`)
	return b.String()
}

const maxSheetName = 31 // UTF-16 units

func checkSheetName(name string) error {
	switch {
	case name == "" || sheetNameLen(name) > maxSheetName:
		return fmt.Errorf("report: sheet name %q: want 1 to %d characters", name, maxSheetName)
	case strings.ContainsAny(name, `[]:*?/\`), strings.HasPrefix(name, "'"), strings.HasSuffix(name, "'"):
		return fmt.Errorf("report: sheet name %q: spreadsheets refuse []:*?/\\ and ' at an end", name)
	}
	for _, r := range name {
		if needsHex(r) || r == '\t' || r == '\n' || r == '\uFFFD' {
			return fmt.Errorf("report: sheet name %q: not plain text", name)
		}
	}
	return nil
}

func sheetNameLen(name string) int { return len(utf16.Encode([]rune(name))) }

func (x *XLSX) sheetName(i int) string {
	if i == 0 {
		return x.name
	}
	number := " " + strconv.Itoa(i+1)
	base := []rune(x.name)
	for sheetNameLen(string(base))+len(number) > maxSheetName {
		base = base[:len(base)-1]
	}
	return string(base) + number
}

func attribute(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;").Replace(s)
}
