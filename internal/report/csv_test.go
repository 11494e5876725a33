package report

import (
	"bytes"
	"encoding/csv"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func writeCSV(t testing.TB, cols []Column, loc *time.Location, bom bool, rows ...[]Cell) string {
	t.Helper()
	var out bytes.Buffer
	w, err := NewCSV(&out, cols, loc, bom)
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
	return out.String()
}

func location(t testing.TB, name string) *time.Location {
	t.Helper()
	loc, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return loc
}

func TestCSVCells(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 11, 14, 9, 30, 0, 0, time.UTC)
	tests := []struct {
		name string
		cell Cell
		want string
	}{
		{"null", Null(), ""},
		{"zero cell", Cell{}, ""},
		{"empty text", Text(""), ""},
		{"plain", Text("Охорона праці 🚒"), "Охорона праці 🚒"},
		{"comma", Text("a,b"), `"a,b"`},
		{"quote", Text(`say "hi"`), `"say ""hi"""`},
		{"only quotes", Text(`""`), `""""""`},
		{"line break", Text("a\r\nb"), "\"a\r\nb\""},
		{"white space around", Text(" a "), `" a "`},
		{"invalid UTF-8", Text("a\xffb"), "a\uFFFDb"},
		{"apostrophe", Text("'quoted"), "'quoted"},
		{"equals", Text("=1+1"), "'=1+1"},
		{"plus", Text("+380441234567"), "'+380441234567"},
		{"minus", Text("-1"), "'-1"},
		{"at", Text("@SUM(A1)"), "'@SUM(A1)"},
		{"tab", Text("\ta"), "\"'\ta\""},
		{"CR", Text("\ra"), "\"'\ra\""},
		{"LF", Text("\na"), "\"'\na\""},
		{"after space", Text("  =1"), `"'  =1"`},
		{"after no-break space", Text("\u00A0=1"), "'\u00A0=1"},
		{"after byte order mark", Text("\uFEFF=1"), "'\uFEFF=1"},
		{"after zero-width space", Text("\u200B@x"), "'\u200B@x"},
		{"full-width equals", Text("\uFF1D1"), "'\uFF1D1"},
		{"full-width plus", Text("\uFF0B1"), "'\uFF0B1"},
		{"full-width minus", Text("\uFF0D1"), "'\uFF0D1"},
		{"full-width at", Text(" \uFF20x"), "\"' \uFF20x\""},
		{"formula with quotes", Text(`=HYPERLINK("http://x","y")`), `"'=HYPERLINK(""http://x"",""y"")"`},
		{"sign inside", Text("a=b"), "a=b"},
		{"spaces only", Text("  "), `"  "`},
		{"integer", Int(42), "42"},
		{"negative integer", Int(-7), "-7"},
		{"largest integer", Int(math.MaxInt64), "9223372036854775807"},
		{"whole number", Num(100), "100"},
		{"one decimal", Num(92.5), "92.5"},
		{"two decimals", Num(33.33), "33.33"},
		{"small", Num(0.05), "0.05"},
		{"rounded", Num(66.666), "66.67"},
		{"rounded up", Num(99.999), "100"},
		{"negative number", Num(-0.5), "-0.5"},
		{"negative zero", Num(math.Copysign(0, -1)), "0"},
		{"rounded to zero", Num(-0.001), "0"},
		{"large", Num(1e20), "100000000000000000000"},
		{"not a number", Num(math.NaN()), ""},
		{"infinite", Num(math.Inf(-1)), ""},
		{"true", Bool(true), "true"},
		{"false", Bool(false), "false"},
		{"time", Time(noon), "2026-11-14T11:30:00+02:00"},
		{"summer time", Time(noon.AddDate(0, -4, 0)), "2026-07-14T12:30:00+03:00"},
		{"milliseconds", Time(noon.Add(123_456_789)), "2026-11-14T11:30:00.123+02:00"},
		{"tenth", Time(noon.Add(500 * time.Millisecond)), "2026-11-14T11:30:00.5+02:00"},
		{"below a millisecond", Time(noon.Add(999_999)), "2026-11-14T11:30:00+02:00"},
		{"next day there", Time(noon.Add(13 * time.Hour)), "2026-11-15T00:30:00+02:00"},
	}
	kyiv := location(t, "Europe/Kyiv")
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got := writeCSV(t, []Column{{Name: "a"}, {Name: "b"}}, kyiv, false, []Cell{test.cell, Int(1)})
			if diff := cmp.Diff("a,b\r\n"+test.want+",1\r\n", got); diff != "" {
				t.Errorf("file differs (-want +got):\n%s", diff)
			}
		})
	}
}

func TestCSVFile(t *testing.T) {
	t.Parallel()
	one := []Column{{Name: "id"}}
	tests := []struct {
		name string
		got  string
		want string
	}{
		{"header alone", writeCSV(t, assignmentColumns[:3], nil, false), "id,externalId,employeeExternalId\r\n"},
		{"byte order mark", writeCSV(t, one, nil, true, []Cell{Int(1)}), "\xEF\xBB\xBFid\r\n1\r\n"},
		{"lone empty cell", writeCSV(t, one, nil, false, []Cell{Null()}, []Cell{Text("")}), "id\r\n\"\"\r\n\"\"\r\n"},
		{"UTC without location", writeCSV(t, one, nil, false, []Cell{Time(time.Unix(0, 0))}),
			"id\r\n1970-01-01T00:00:00+00:00\r\n"},
	}
	for _, test := range tests {
		if diff := cmp.Diff(test.want, test.got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}

// anyText draws text with more of the troublesome parts than chance would bring.
func anyText() *rapid.Generator[string] {
	parts := []string{`"`, ",", "\r", "\n", "\r\n", "\t", " ", "=", "+", "-", "@", "'", "Ж", "👩‍🚒", "\uFF1D", "\uFEFF",
		"_", "_x", "_x0041", "_x005F_", "x0041_", "_xZZZZ_", "<", "&", "]]>", "\x00", "\x1f", "\uFFFE", "\uFFFF", "\xff"}
	return rapid.Custom(func(t *rapid.T) string {
		part := rapid.OneOf(rapid.SampledFrom(parts), rapid.String())
		return strings.Join(rapid.SliceOfN(part, 0, 6).Draw(t, "parts"), "")
	})
}

func TestCSVReadsBack(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		cols := make([]Column, rapid.IntRange(1, 4).Draw(t, "columns"))
		rows := rapid.SliceOfN(rapid.SliceOfN(anyText(), len(cols), len(cols)), 0, 5).Draw(t, "rows")
		want := [][]string{make([]string, len(cols))}
		var out bytes.Buffer
		for i := range cols {
			cols[i].Name = string(rune('a' + i))
			want[0][i] = cols[i].Name
		}
		w, err := NewCSV(&out, cols, nil, false)
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range rows {
			cells, texts := make([]Cell, len(row)), make([]string, len(row))
			for i, s := range row {
				cells[i], texts[i] = Text(s), asRead(s)
			}
			want = append(want, texts)
			if err := w.Row(cells); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		got, err := csv.NewReader(&out).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("read back (-want +got):\n%s", diff)
		}
	})
}

// asRead is text as encoding/csv, which turns CRLF into LF, returns it.
func asRead(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if looksLikeFormula(s) {
		s = "'" + s
	}
	return strings.ReplaceAll(s, "\r\n", "\n")
}
