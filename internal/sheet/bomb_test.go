package sheet_test

import (
	"archive/zip"
	"bytes"
	"io"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strings"
	"testing"
	"time"

	"github.com/coursebridge/coursebridge/internal/sheet"
)

// workbook packs the parts of a workbook. A part is its head, a middle that is repeated,
// and its end.
func workbook(tb testing.TB, parts map[string]part) []byte {
	tb.Helper()
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for name, p := range parts {
		f, err := w.Create(name)
		if err != nil {
			tb.Fatal(err)
		}
		chunk := strings.Repeat(p.middle, max(1, min(p.count, 64<<10/len(p.middle))))
		written := len(p.head)
		_, _ = io.WriteString(f, p.head)
		for target := len(p.middle) * p.count; written < target; written += len(chunk) {
			_, _ = io.WriteString(f, chunk)
		}
		_, _ = io.WriteString(f, p.end)
	}
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
	return out.Bytes()
}

type part struct {
	head, middle string
	count        int
	end          string
}

const (
	sheetPart  = "xl/worksheets/sheet1.xml"
	sharedPart = "xl/sharedStrings.xml"
	sheetHead  = `<worksheet><sheetData><row><c t="inlineStr"><is><t>email</t></is></c></row>`
	sheetEnd   = `</sheetData></worksheet>`
)

// Small files that unpack to very much are refused, and cost little memory until then.
//
//nolint:paralleltest // It measures what is allocated.
func TestBombsAreRefused(t *testing.T) {
	const mega = 1 << 20
	for name, parts := range map[string]map[string]part{
		"a text of 20 MB":            {sheetPart: {sheetHead + `<row><c t="inlineStr"><is><t>`, "x", 20 * mega, `</t></is></c></row>` + sheetEnd}},
		"a shared text of 20 MB":     {sharedPart: {`<sst><si><t>`, "x", 20 * mega, `</t></si></sst>`}, sheetPart: {sheetHead, "<row/>", 1, sheetEnd}},
		"a row of 3 million cells":   {sheetPart: {sheetHead + "<row>", "<c/>", 3 * mega, "</row>" + sheetEnd}},
		"elements 5 million deep":    {sheetPart: {"", "<a>", 5 * mega, ""}},
		"a row of elements in depth": {sheetPart: {sheetHead + "<row>", "<a>", 5 * mega, ""}},
		"one attribute of 20 MB":     {sheetPart: {`<worksheet a="`, "x", 20 * mega, `">` + sheetEnd}},
		"a comment of 20 MB":         {sheetPart: {`<worksheet><!--`, "x", 20 * mega, `-->` + sheetEnd}},
		"one text in many cells": {
			sharedPart: {`<sst><si><t>`, "x", 4000, `</t></si></sst>`},
			sheetPart:  {sheetHead, `<row>` + strings.Repeat(`<c t="s"><v>0</v></c>`, 40) + `</row>`, 40_000, sheetEnd},
		},
		"40 MB of shared texts": {sharedPart: {`<sst>`, "<si><t>" + strings.Repeat("x", 4000) + "</t></si>", 10_000, `</sst>`}, sheetPart: {sheetHead, "<row/>", 1, sheetEnd}},
	} {
		content := workbook(t, parts)
		if len(content) > 2*mega {
			t.Errorf("%s: the file has %d bytes, which is no small file", name, len(content))
		}
		var err error
		if held := heldAtMost(func() { _, err = sheet.Read(content) }); held > 48*mega {
			t.Errorf("%s: %d MiB were held at once", name, held/mega)
		}
		if err == nil {
			t.Errorf("%s was read", name)
		}
	}
}

// heldAtMost returns how many bytes of the heap, beyond those before, were reachable at
// once while fn ran. The collector runs often meanwhile, so that garbage hardly counts.
func heldAtMost(fn func()) uint64 {
	defer debug.SetGCPercent(debug.SetGCPercent(40))
	runtime.GC()
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample)
	before, most := sample[0].Value.Uint64(), uint64(0)
	done := make(chan struct{})
	go func() {
		defer close(done)
		fn()
	}()
	for {
		select {
		case <-done:
			return most
		case <-time.After(time.Millisecond):
			metrics.Read(sample)
			if now := sample[0].Value.Uint64(); now > before {
				most = max(most, now-before)
			}
		}
	}
}

// The largest tables that are accepted hold what maxUploads of the cabinet counts on.
//
//nolint:paralleltest // It measures what is allocated.
func TestLargestTablesHoldBoundedMemory(t *testing.T) {
	const mega = 1 << 20
	row := strings.Repeat("12345,", sheet.MaxColumns-1) + "1\n"
	wide := row + strings.Repeat(row, sheet.MaxRows)
	text := strings.Repeat("x", 300)
	long := "a\n" + strings.Repeat(text+"\n", sheet.MaxRows)
	for name, content := range map[string]string{"50,000 rows of 50 cells": wide, "15 MB of text": long} {
		var table sheet.Table
		var err error
		held := heldAtMost(func() { table, err = sheet.Read([]byte(content)) })
		t.Logf("%s: %d MiB", name, held/mega)
		if err != nil || len(table.Rows) != sheet.MaxRows {
			t.Errorf("%s: %d rows, %v", name, len(table.Rows), err)
		}
		if held > 90*mega {
			t.Errorf("%s: %d MiB were held at once", name, held/mega)
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, seed := range []string{
		"", "name;email\r\n\"Anna\";a@x.test", "\ufeffid\tname\n1\tBob", "a,b\n\"open", "\xff\xfe\x00", "PK\x03\x04", "=1+1,@x\n-2,+3",
	} {
		f.Add([]byte(seed))
	}
	f.Add(workbook(f, map[string]part{sheetPart: {sheetHead, `<row><c r="B2" t="s"><v>0</v></c></row>`, 1, sheetEnd}, sharedPart: {"<sst>", "<si><r><t>x</t></r></si>", 1, "</sst>"}}))
	f.Fuzz(func(t *testing.T, content []byte) {
		table, err := sheet.Read(content)
		if err != nil {
			return
		}
		if len(table.Header) == 0 || len(table.Header) > sheet.MaxColumns || len(table.Rows) > sheet.MaxRows {
			t.Errorf("%d columns and %d rows", len(table.Header), len(table.Rows))
		}
		for _, row := range table.Rows {
			if len(row) != len(table.Header) {
				t.Fatalf("a row of %d cells below a head of %d", len(row), len(table.Header))
			}
		}
	})
}
