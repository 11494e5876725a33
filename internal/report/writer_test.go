package report

import (
	"bytes"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"
	"time"
)

// starts are the two writers, for what holds for both.
var starts = map[string]func(io.Writer, []Column) (Writer, error){
	"csv":  func(w io.Writer, cols []Column) (Writer, error) { return NewCSV(w, cols, time.UTC, false) },
	"xlsx": func(w io.Writer, cols []Column) (Writer, error) { return NewXLSX(w, cols, time.UTC, "Sheet") },
}

// TestMemory is not parallel: it counts every byte that the program allocates meanwhile.
func TestMemory(t *testing.T) { //nolint:paralleltest // other tests allocate too
	const rows, most = 200_000, 8 << 20
	sample := assignmentRows(1000)
	for name, start := range starts {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		w, err := start(io.Discard, assignmentColumns)
		if err != nil {
			t.Fatal(err)
		}
		for i := range rows {
			if err := w.Row(sample[i%len(sample)]); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		if grown := after.TotalAlloc - before.TotalAlloc; grown > most {
			t.Errorf("%s: %d rows allocated %d bytes, want at most %d", name, rows, grown, most)
		} else {
			t.Logf("%s: %d rows allocated %d bytes", name, rows, grown)
		}
	}
}

// The first bytes must not wait for the first rows: a client has a limit of its own.
func TestStartIsSent(t *testing.T) {
	t.Parallel()
	for name, start := range starts {
		var size counter
		if _, err := start(&size, assignmentColumns); err != nil {
			t.Fatal(err)
		}
		if size == 0 {
			t.Errorf("%s: nothing is written before the first row", name)
		}
	}
}

// broken accepts some bytes and then fails.
type broken struct{ left int }

var errBroken = errors.New("gone")

func (b *broken) Write(p []byte) (int, error) {
	if b.left -= len(p); b.left < 0 {
		return 0, errBroken
	}
	return len(p), nil
}

func TestFailureIsFinal(t *testing.T) {
	t.Parallel()
	cols := []Column{{Name: "a"}}
	row := []Cell{Text(strings.Repeat("not compressed well: 0123456789", 3000))}
	for name, start := range starts {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, err := start(&broken{left: 2000}, cols)
			for range 2000 {
				if err == nil {
					err = w.Row(row)
				}
			}
			if !errors.Is(err, errBroken) {
				t.Fatalf("err = %v, want that of the writer", err)
			}
			if err := w.Row(row); !errors.Is(err, errBroken) {
				t.Errorf("next Row = %v", err)
			}
			if err := w.Close(); !errors.Is(err, errBroken) {
				t.Errorf("Close = %v", err)
			}
		})
	}
}

func TestMisuse(t *testing.T) {
	t.Parallel()
	for name, start := range starts {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			if _, err := start(&out, nil); err == nil {
				t.Error("no columns: no error")
			}
			w, err := start(&out, []Column{{Name: "a"}})
			if err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(w.Close(), w.Close()); err != nil {
				t.Errorf("closed twice: %v", err)
			}
			if err := w.Row([]Cell{Int(1)}); !errors.Is(err, ErrClosed) {
				t.Errorf("Row after Close = %v", err)
			}
			if w, err = start(&out, []Column{{Name: "a"}}); err != nil {
				t.Fatal(err)
			}
			size := out.Len()
			if w.Row([]Cell{Int(1), Int(2)}) == nil || w.Row([]Cell{Int(1)}) == nil || w.Close() == nil {
				t.Error("a row of the wrong length is accepted")
			}
			if out.Len() != size {
				t.Error("a row is accepted after a failure")
			}
		})
	}
}
