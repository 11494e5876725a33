package report

import (
	"io"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"
)

// assignmentColumns is the larger of the product's two reports.
var assignmentColumns = []Column{
	{Name: "id", Kind: KindInteger},
	{Name: "externalId", Kind: KindText},
	{Name: "employeeExternalId", Kind: KindText},
	{Name: "employeeName", Kind: KindText},
	{Name: "employeeEmail", Kind: KindText},
	{Name: "courseId", Kind: KindInteger},
	{Name: "courseName", Kind: KindText},
	{Name: "status", Kind: KindText},
	{Name: "statusCategory", Kind: KindText},
	{Name: "isOverdue", Kind: KindBool},
	{Name: "completionPercent", Kind: KindNumber},
	{Name: "score", Kind: KindNumber},
	{Name: "numberOfAttempts", Kind: KindInteger},
	{Name: "isRequired", Kind: KindBool},
	{Name: "assignedAt", Kind: KindTime},
	{Name: "deadline", Kind: KindTime},
	{Name: "startedAt", Kind: KindTime},
	{Name: "completedAt", Kind: KindTime},
	{Name: "lastActivityAt", Kind: KindTime},
}

// assignmentRows makes n different rows as a company would have them. Only their ids need to differ when they are
// written over and over.
func assignmentRows(n int) [][]Cell {
	first := []string{"Анна", "Борис", "Jürgen", "María", "Олексій", "John", "Світлана", "Chloé"}
	last := []string{"Шевченко", "Müller", "O'Brien", "García & Co", "Іваненко", "Smith", "Łukasiewicz"}
	course := []string{"Information Security Basics", "Охорона праці", "GDPR for Managers", "Fire <Safety> 101"}
	status := [][2]string{{"assigned", "not_started"}, {"started", "in_progress"}, {"completed", "completed"},
		{"needs_retry", "in_progress"}, {"failed", "overdue"}}
	random := rand.New(rand.NewPCG(1, 2))
	start := time.Date(2025, 9, 1, 6, 0, 0, 0, time.UTC)
	rows := make([][]Cell, n)
	for i := range rows {
		number := random.IntN(50_000)
		state := status[random.IntN(len(status))]
		assigned := start.Add(time.Duration(random.Int64N(int64(400 * 24 * time.Hour)))).Truncate(time.Millisecond)
		begun := assigned.Add(time.Duration(random.Int64N(int64(200 * time.Hour))))
		row := []Cell{
			Int(int64(i + 1)), Text("asg-2026-" + strconv.Itoa(1_000_000+i)), Text("emp-" + strconv.Itoa(number)),
			Text(first[number%len(first)] + " " + last[number%len(last)]),
			Text("person" + strconv.Itoa(number) + "@example.com"),
			Int(int64(number%40 + 1)), Text(course[number%len(course)]), Text(state[0]), Text(state[1]),
			Bool(number%7 == 0), Num(float64(random.IntN(10_001)) / 100), Null(), Int(int64(number % 4)),
			Bool(number%2 == 0), Time(assigned), Time(assigned.AddDate(0, 0, 30).Truncate(time.Hour)), Null(), Null(),
			Time(assigned),
		}
		if state[0] != "assigned" {
			row[11], row[16], row[18] = Num(float64(random.IntN(101))), Time(begun), Time(begun)
		}
		if state[0] == "completed" {
			row[17] = Time(begun.Add(time.Hour))
		}
		rows[i] = row
	}
	return rows
}

type counter int64

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}

func benchmark(b *testing.B, start func(w io.Writer, loc *time.Location) (Writer, error)) {
	loc, err := time.LoadLocation("Europe/Kyiv")
	if err != nil {
		b.Fatal(err)
	}
	rows := assignmentRows(20_000)
	var size counter
	w, err := start(&size, loc)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	n := int64(0)
	for b.Loop() {
		row := rows[n%int64(len(rows))]
		n++
		row[0] = Int(n)
		if err := w.Row(row); err != nil {
			b.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "rows/s")
	b.ReportMetric(float64(size)/float64(n), "bytes/row")
}

func BenchmarkCSV(b *testing.B) {
	benchmark(b, func(w io.Writer, loc *time.Location) (Writer, error) {
		return NewCSV(w, assignmentColumns, loc, false)
	})
}

func BenchmarkXLSX(b *testing.B) {
	benchmark(b, func(w io.Writer, loc *time.Location) (Writer, error) {
		return NewXLSX(w, assignmentColumns, loc, "Assignments")
	})
}
