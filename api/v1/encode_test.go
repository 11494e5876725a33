package v1

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// bodies has one value of every type that the server encodes.
var bodies = []Body{
	Employee{}, EmployeeWithAssignments{}, EmployeeList{}, Provisioned{}, Offboarded{}, Deleted{}, CourseList{},
	Assignment{}, AssignmentList{}, AssignmentCreated{}, Revoked{}, BulkResults{}, Progress{}, Results{}, Token{},
	ActivityResults{}, CourseSaved{}, Grant{}, CompanyList{},
}

// The encoders are written by hand: whatever the values, their text must be what
// encoding/json makes of the struct tags.
func TestEncodingIsThatOfTheTags(t *testing.T) {
	t.Parallel()
	for _, zero := range bodies {
		t.Run(reflect.TypeOf(zero).Name(), func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(t *rapid.T) {
				value := reflect.New(reflect.TypeOf(zero)).Elem()
				fill(t, value)
				var got, want bytes.Buffer
				if err := WriteSuccess(&got, value.Interface().(Body)); err != nil {
					t.Fatal(err)
				}
				encoder := json.NewEncoder(&want)
				encoder.SetEscapeHTML(false)
				if err := encoder.Encode(Success[any]{"success", value.Interface()}); err != nil {
					t.Fatal(err)
				}
				var gotTree, wantTree any
				if err := json.Unmarshal(got.Bytes(), &gotTree); err != nil {
					t.Fatalf("%s: %v", got.Bytes(), err)
				}
				if err := json.Unmarshal(want.Bytes(), &wantTree); err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(wantTree, gotTree); diff != "" {
					t.Fatalf("-encoding/json +ours:\n%s", diff)
				}
			})
		})
	}
}

// fill fills a value with random contents as the server has them: lists are never
// nil, and what an enum holds is one of its values.
func fill(t *rapid.T, v reflect.Value) {
	if enum, ok := v.Interface().(interface{ Values() []string }); ok {
		v.SetString(rapid.SampledFrom(enum.Values()).Draw(t, "enum"))
		return
	}
	switch v.Interface().(type) {
	case DateTime:
		v.Set(reflect.ValueOf(DateTime{time.UnixMilli(rapid.Int64Range(-1e12, 1e13).Draw(t, "time"))}))
		return
	case BulkResult:
		v.Set(reflect.ValueOf(rapid.SampledFrom([]BulkResult{
			{Index: 3, OK: true, AssignmentID: 7, Status: "started"}, {Status: "error", Code: "internal", Message: "\"No.\""},
		}).Draw(t, "result")))
		return
	case ActivityResult:
		v.Set(reflect.ValueOf(rapid.SampledFrom([]ActivityResult{
			{Index: 3, OK: true, Status: "started"}, {Code: "internal", Message: "No."},
		}).Draw(t, "result")))
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).Tag.Get("json") != "-" {
				fill(t, v.Field(i))
			}
		}
	case reflect.Pointer:
		if rapid.Bool().Draw(t, "set") {
			v.Set(reflect.New(v.Type().Elem()))
			fill(t, v.Elem())
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), rapid.IntRange(0, 3).Draw(t, "length"), 3))
		for i := range v.Len() {
			fill(t, v.Index(i))
		}
	case reflect.String:
		v.SetString(rapid.OneOf(rapid.String(), rapid.Just("a\xffb\"\\\n\u2028<&>")).Draw(t, "string"))
	case reflect.Bool:
		v.SetBool(rapid.Bool().Draw(t, "bool"))
	case reflect.Float64:
		v.SetFloat(float64(rapid.IntRange(0, 100_00).Draw(t, "points")) / 100)
	default:
		v.SetInt(rapid.Int64Range(0, 1<<53).Draw(t, "int"))
	}
}

func TestNilListsAreEmpty(t *testing.T) {
	t.Parallel()
	for _, body := range []Body{EmployeeWithAssignments{}, EmployeeList{}, AssignmentList{}, CourseList{}, BulkResults{}, ActivityResults{}} {
		var text strings.Builder
		if err := WriteSuccess(&text, body); err != nil || strings.Contains(text.String(), "null") {
			t.Errorf("%T: %s, %v", body, text.String(), err)
		}
	}
}

func TestWriteError(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	body := Error{Message: `Say "please".`, Code: "invalid_request", Fields: []FieldError{{"name", "is required"}}}
	if err := WriteError(&text, body); err != nil {
		t.Fatal(err)
	}
	const want = `{"result":"error","message":"Say \"please\".","code":"invalid_request","fields":[{"field":"name","message":"is required"}]}`
	if text.String() != want {
		t.Errorf("got %s\nwant %s", text.String(), want)
	}
}

// pieces counts what is written at once.
type pieces struct {
	largest, total int
	fail           bool
}

func (p *pieces) Write(b []byte) (int, error) {
	p.largest, p.total = max(p.largest, len(b)), p.total+len(b)
	if p.fail {
		return 0, errors.New("the client has left")
	}
	return len(b), nil
}

// An employee with very many assignments is written in pieces, and not at all
// once the client has left.
func TestLongAnswersAreWrittenInPieces(t *testing.T) {
	t.Parallel()
	long := EmployeeWithAssignments{Assignments: make([]Assignment, 10_000)}
	var p pieces
	if err := WriteSuccess(&p, long); err != nil || p.largest > 2*pieceSize || p.total < 3_000_000 {
		t.Errorf("%d bytes in pieces of up to %d, %v", p.total, p.largest, err)
	}
	gone := pieces{fail: true}
	if err := WriteSuccess(&gone, long); err == nil || gone.total > 2*pieceSize {
		t.Errorf("%d bytes were written to a client that has left, %v", gone.total, err)
	}
}

// Assignments that are encoded a page at a time have the same text as the whole list.
func TestEncodedAssignments(t *testing.T) {
	t.Parallel()
	whole := EmployeeWithAssignments{Employee: Employee{ID: 7}, Assignments: make([]Assignment, 1000)}
	for i := range whole.Assignments {
		whole.Assignments[i].ID = int64(i)
	}
	for _, size := range []int{1, 50, 333, 1000} {
		inPages := EmployeeWithAssignments{Employee: whole.Employee, Encoded: &EncodedAssignments{}}
		for page := range slices.Chunk(whole.Assignments, size) {
			inPages.Encoded.Append(page)
		}
		var got, want bytes.Buffer
		if err := errors.Join(WriteSuccess(&got, inPages), WriteSuccess(&want, whole)); err != nil || got.String() != want.String() {
			t.Errorf("pages of %d: %d bytes instead of %d, %v", size, got.Len(), want.Len(), err)
		}
	}
}

func TestDateTimeIsReadAsItIsWritten(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`"2026-11-14T12:30:00.5+03:00"`:    `"2026-11-14T09:30:00.5+00:00"`,
		`"2026-11-14T09:30:00Z"`:           `"2026-11-14T09:30:00+00:00"`,
		`"2026-11-14T09:30:00.123999999Z"`: `"2026-11-14T09:30:00.123+00:00"`,
	} {
		var at DateTime
		if err := json.Unmarshal([]byte(text), &at); err != nil {
			t.Fatal(err)
		}
		if got, err := json.Marshal(at); err != nil || string(got) != want {
			t.Errorf("%s: got %s, %v, want %s", text, got, err, want)
		}
	}
}

// BenchmarkEncode holds the encoders against encoding/json, on the list of 500
// assignments that a client reads at most.
func BenchmarkEncode(b *testing.B) {
	score, at := 92.5, DateTime{time.Date(2026, 11, 14, 9, 30, 0, 0, time.UTC)}
	page := AssignmentList{Items: make([]Assignment, 500)}
	for i := range page.Items {
		page.Items[i] = Assignment{
			ID: 88120, ExternalID: "ASG-1", EmployeeExternalID: "HR-1042", EmployeeEmail: "anna@northwind.example",
			CourseID: 310, CourseName: "Forklift safety", Status: "completed", StatusCategory: "completed",
			CompletionPercent: 100, Score: &score, NumberOfAttempts: 1, AssignedAt: at, Deadline: at, StartedAt: &at,
			CompletedAt: &at, LastActivityAt: at,
		}
	}
	var out pieces
	b.Run("ours", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_ = WriteSuccess(&out, page)
		}
	})
	b.Run("encoding-json", func(b *testing.B) {
		b.ReportAllocs()
		encoder := json.NewEncoder(&out)
		for b.Loop() {
			_ = encoder.Encode(Success[AssignmentList]{"success", page})
		}
	})
}

func TestUpdatedEmployeeIsReadAsItIsWritten(t *testing.T) {
	t.Parallel()
	for _, want := range []EmployeeUpdated{
		{Employee: &Employee{ID: 7, ExternalID: "HR-7", Name: "Ann", Role: "employee", Tags: []string{"night"}}},
		{Offboarded: &Offboarded{ExternalID: "HR-7", Status: "offboarded"}},
	} {
		var text bytes.Buffer
		if err := WriteSuccess(&text, want); err != nil {
			t.Fatal(err)
		}
		var got Success[EmployeeUpdated]
		if err := json.Unmarshal(text.Bytes(), &got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got.Data); diff != "" {
			t.Errorf("-written +read:\n%s", diff)
		}
	}
}
