package report

import (
	"context"
	"encoding/csv"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// soffice is LibreOffice's program. Where the full tests are asked for it must be there; elsewhere its check may be
// passed over.
func soffice(t testing.TB) (string, bool) {
	t.Helper()
	for _, name := range []string{"soffice", "libreoffice"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, true
		}
	}
	if os.Getenv("COURSEBRIDGE_TEST_FULL") == "1" {
		t.Fatal("LibreOffice is not installed (on Debian: libreoffice-calc-nogui)")
	}
	t.Log("LibreOffice is not installed: its reading of the workbook is not checked")
	return "", false
}

// convert lets LibreOffice write every sheet of a workbook as CSV and returns the files by sheet name. Text is
// quoted there and nothing else is, so that types can be told apart.
func convert(t testing.TB, program string, workbook []byte) map[string]string {
	t.Helper()
	dir := t.TempDir()
	source, out := filepath.Join(dir, "report.xlsx"), filepath.Join(dir, "out")
	if err := os.WriteFile(source, workbook, 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	// A profile of its own keeps it from handing the work to another instance that is running.
	cmd := exec.CommandContext(ctx, program, "-env:UserInstallation=file://"+filepath.Join(dir, "profile"), "--headless",
		"--convert-to", "csv:Text - txt - csv (StarCalc):44,34,76,1,,0,true,true,false,false,false,-1", "--outdir", out,
		source)
	cmd.Env = append(os.Environ(), "HOME="+dir, "LC_ALL=C.UTF-8")
	cmd.WaitDelay = 10 * time.Second
	if output, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("soffice: %v\n%s", err, output)
	}
	files, err := filepath.Glob(filepath.Join(out, "report-*.csv"))
	if err != nil {
		t.Fatal(err)
	}
	sheets := map[string]string{}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(file), "report-"), ".csv")
		sheets[name] = string(content)
	}
	return sheets
}

func TestLibreOfficeReadsBack(t *testing.T) {
	t.Parallel()
	program, ok := soffice(t)
	if !ok {
		return
	}
	const limit = 20
	sheets := convert(t, program, writeXLSX(t, sampleColumns, limit, sampleRows()...))
	rows, cells := sampleShown(), sampleRows()
	want := map[string]string{
		"Assignments":   asConverted(cells[:limit], rows[:limit]),
		"Assignments 2": asConverted(cells[limit:], rows[limit:]),
	}
	if diff := cmp.Diff(want, sheets); diff != "" {
		t.Errorf("sheets (-want +got):\n%s", diff)
	}
}

// asConverted is the CSV that LibreOffice makes of a sheet with these cells, shown so: quotes around text only.
func asConverted(cells [][]Cell, shown [][]string) string {
	var b strings.Builder
	b.WriteString(`"` + strings.Join(sampleHeader(), `","`) + "\"\n")
	for i, row := range shown {
		for j, s := range row {
			if j > 0 {
				b.WriteByte(',')
			}
			kind := cells[i][j].kind
			isText := kind == KindText || kind == KindTime && strings.Contains(s, "T") || kind == KindInteger && len(s) > 15
			if isText && s != "" {
				s = `"` + strings.ReplaceAll(s, `"`, `""`) + `"`
			}
			b.WriteString(s)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// The assignment report reads the same from the workbook, through LibreOffice, as from the CSV file.
func TestLibreOfficeAgreesWithCSV(t *testing.T) {
	t.Parallel()
	program, ok := soffice(t)
	if !ok {
		return
	}
	rows := assignmentRows(3000)
	sheets := convert(t, program, writeXLSX(t, assignmentColumns, maxSheetRows, rows...))
	got := readAll(t, sheets["Assignments"])
	want := readAll(t, writeCSV(t, assignmentColumns, location(t, "Europe/Kyiv"), false, rows...))
	for _, row := range want[1:] {
		for i, col := range assignmentColumns {
			switch {
			case col.Kind == KindBool:
				row[i] = strings.ToUpper(row[i])
			case col.Kind == KindTime && row[i] != "":
				row[i] = strings.Replace(row[i][:len(time.DateTime)], "T", " ", 1)
			}
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("report (-csv +xlsx):\n%s", diff)
	}
}

func readAll(t testing.TB, file string) [][]string {
	t.Helper()
	rows, err := csv.NewReader(strings.NewReader(file)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return rows
}
