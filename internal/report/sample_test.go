package report

import (
	"strconv"
	"time"
)

// sampleColumns has a column of every kind.
var sampleColumns = []Column{
	{Name: "text", Kind: KindText},
	{Name: "integer", Kind: KindInteger},
	{Name: "number", Kind: KindNumber},
	{Name: "isTrue", Kind: KindBool},
	{Name: "time", Kind: KindTime},
}

// sampleTexts are what a text cell must bring through unharmed.
var sampleTexts = []string{
	"plain", "Охорона праці 🚒", "=1+1", "+1", "-1", "@SUM(A1)", "  =1", "\uFF1D1", "'quoted", " around ", "a\nb", "\t",
	"line\n", "control \x01 and \x1f", "_x0041_", "_x0041_x0042_", "_x0041\x01", "_xZZZZ_", "needs_retry",
	`<b>&"]]>`, "007", "12345678901234567890", "TRUE", "2026-01-01", "#REF!", "\uFFFE", "\u00A0",
}

// sampleRows has a row for every sample text and then some for the edges of the other kinds.
func sampleRows() [][]Cell {
	at := time.Date(2026, 10, 25, 0, 30, 0, 999e6, time.UTC) // half an hour before summer time ends in Kyiv
	var rows [][]Cell
	for i, s := range sampleTexts {
		rows = append(rows, []Cell{Text(s), Int(int64(i)), Num(float64(i) + 0.25), Bool(i%2 == 0),
			Time(at.Add(time.Duration(i) * time.Hour))})
	}
	return append(rows,
		[]Cell{Null(), Int(123_456_789_012), Num(-0.5), Null(), Time(time.Date(1899, 1, 1, 0, 0, 0, 0, time.UTC))},
		[]Cell{Text(""), Int(-1_234_567_890_123_456_789), Null(), Null(), Null()},
		[]Cell{Null(), Int(1_000_000_000_000_000), Null(), Null(), Time(time.Date(1900, 2, 28, 0, 0, 0, 0, time.UTC))},
		[]Cell{Null(), Int(999_999_999_999_999), Null(), Null(), Time(time.Date(1900, 3, 1, 0, 0, 0, 0, time.UTC))},
		[]Cell{Null(), Null(), Null(), Null(), Null()},
		[]Cell{Text("last"), Int(0), Num(100), Bool(false), Time(time.Date(2026, 3, 29, 1, 0, 0, 0, time.UTC))},
	)
}

// sampleShown is each sample row as a spreadsheet shows it in Kyiv.
func sampleShown() [][]string {
	var rows [][]string
	kyiv := time.FixedZone("", 3*3600)
	at := time.Date(2026, 10, 25, 3, 30, 0, 0, kyiv)
	for i, s := range sampleTexts {
		number := strconv.Itoa(i)
		shown := at.Add(time.Duration(i) * time.Hour)
		if i > 0 {
			shown = shown.Add(-time.Hour) // the clock was put back
		}
		rows = append(rows, []string{s, number, number + ".25", []string{"TRUE", "FALSE"}[i%2],
			shown.Format(time.DateTime)})
	}
	return append(rows,
		[]string{"", "123456789012", "-0.5", "", "1899-01-01T02:02:00+02:02"},
		[]string{"", "-1234567890123456789", "", "", ""},
		[]string{"", "1000000000000000", "", "", "1900-02-28T02:02:00+02:02"},
		[]string{"", "999999999999999", "", "", "1900-03-01 02:02:04"},
		[]string{"", "", "", "", ""},
		[]string{"last", "0", "100", "FALSE", "2026-03-29 04:00:00"},
	)
}

func sampleHeader() []string { return []string{"text", "integer", "number", "isTrue", "time"} }
