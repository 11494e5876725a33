package domain

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// RequestBodies is what a company's log keeps of the bodies of failed requests: "off"
// for nothing, else the personal fields that are shown, separated by commas. The
// zero value keeps bodies and masks every personal field.
type RequestBodies string

// RequestBodiesOff keeps no bodies.
const RequestBodiesOff RequestBodies = "off"

// PersonalFields are the fields of request bodies that hold personal data, of which a
// company chooses the ones that its log shows.
var PersonalFields = []string{"email", "externalId", "name", "tags"}

// plainFields are the fields without personal data. Every string and number in any
// other field that is not one of PersonalFields is masked: nobody knows what it holds.
var plainFields = []string{"active", "courseId", "deadline", "isRequired", "items"}

// MaxLoggedBody is how many bytes of a body the log keeps.
const MaxLoggedBody = 4 << 10

// Mask stands for a value that the log does not show.
const Mask = "•••"

// notJSON ends the text of a body that can't be read to its end.
const notJSON = "… (not JSON from here on)"

// MaskFields returns the choice that masks these personal fields and shows the others.
func MaskFields(fields []string) RequestBodies {
	var shown []string
	for _, name := range PersonalFields {
		if !slices.Contains(fields, name) {
			shown = append(shown, name)
		}
	}
	return RequestBodies(strings.Join(shown, ","))
}

// Shows reports whether the values of a personal field are shown.
func (b RequestBodies) Shows(field string) bool {
	return slices.Contains(strings.Split(string(b), ","), field)
}

// Check refuses a choice that names anything but personal fields.
func (b RequestBodies) Check() error {
	if b == "" || b == RequestBodiesOff {
		return nil
	}
	for _, name := range strings.Split(string(b), ",") {
		if !slices.Contains(PersonalFields, name) {
			return errors.New("must be off or a list of personal fields")
		}
	}
	return nil
}

// FailedRequest is what a failed request and its answer say.
type FailedRequest struct {
	Body    []byte
	Subject string // the identifier in the path, empty without one
	Message string // of the answer
}

// LoggedBody is what the log keeps of a FailedRequest.
type LoggedBody struct {
	Text    string
	Message string
	// Mentions are the digests of the personal values, so that an erasure finds what it
	// must remove. It is empty if every personal value is masked.
	Mentions []int64
}

// Log returns what the log keeps of a failed request.
func (b RequestBodies) Log(r FailedRequest) LoggedBody {
	m := masker{bodies: b}
	if r.Subject != "" {
		m.values = append(m.values, r.Subject)
	}
	m.write(r.Body)
	out := LoggedBody{Message: strings.ToValidUTF8(r.Message, "\uFFFD")}
	if b != RequestBodiesOff {
		out.Text = m.out.String()
	}
	for _, value := range m.masked {
		out.Message = strings.ReplaceAll(out.Message, strconv.Quote(value), `"`+Mask+`"`)
	}
	if !m.readAll { // the message may quote a value of the rest
		out.Message = quoted.ReplaceAllString(out.Message, `"`+Mask+`"`)
	}
	if m.shown {
		for _, value := range m.values {
			out.Mentions = append(out.Mentions, DigestMention(value))
		}
		slices.Sort(out.Mentions)
		out.Mentions = slices.Compact(out.Mentions)
	}
	return out
}

// quoted matches a value that a message quotes.
var quoted = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)

// DigestMention returns the digest of a personal value, whatever its case. Two values
// may share one; then an erasure removes more than it must.
func DigestMention(value string) int64 {
	sum := sha256.Sum256([]byte(FoldName(value)))
	return int64(binary.BigEndian.Uint64(sum[:])) // all 64 bits, whatever the sign
}

// masker copies the text of a body and masks personal values. It reads the body only
// as far as the log keeps it.
type masker struct {
	bodies RequestBodies
	out    bytes.Buffer
	path   []level
	values []string // the personal values
	masked []string // those of them that are not shown
	shown  bool     // a personal value is in the text

	readAll bool // the text has the whole body
}

// level is an object or array that the masker is in.
type level struct {
	array bool
	field string // the name of the value that comes next
	count int    // of keys and values so far
}

func (m *masker) write(body []byte) {
	in := json.NewDecoder(bytes.NewReader(body))
	in.UseNumber()
	for {
		token, err := in.Token()
		switch {
		case errors.Is(err, io.EOF):
			m.readAll = true
			return
		case err != nil:
			m.out.WriteString(notJSON)
			return
		}
		before, shown := m.out.Len(), m.shown
		m.token(token)
		if m.out.Len() > MaxLoggedBody-len(notJSON) {
			m.out.Truncate(before)
			m.out.WriteString("…")
			m.shown = shown
			return
		}
	}
}

func (m *masker) token(token json.Token) {
	if delim, ok := token.(json.Delim); ok && (delim == '}' || delim == ']') {
		m.path = m.path[:len(m.path)-1]
		m.out.WriteRune(rune(delim))
		return
	}
	field, isKey := m.next(token)
	switch value := token.(type) {
	case json.Delim:
		m.out.WriteRune(rune(value))
		m.path = append(m.path, level{array: value == '[', field: field})
	case string:
		switch {
		case isKey && isFieldName(value):
			m.string(value)
		case isKey || !m.shows(field, value):
			m.out.WriteString(`"` + Mask + `"`)
		default:
			m.string(value)
		}
	case json.Number:
		if m.shows(field, value.String()) {
			m.out.WriteString(value.String())
		} else {
			m.out.WriteString(Mask)
		}
	case bool:
		m.out.WriteString(strconv.FormatBool(value))
	case nil:
		m.out.WriteString("null")
	}
}

// next writes the separator in front of a token. It returns the field that the token
// belongs to and whether the token is the name of a field.
func (m *masker) next(token json.Token) (field string, isKey bool) {
	if len(m.path) == 0 {
		return "", false
	}
	at := &m.path[len(m.path)-1]
	at.count++
	switch {
	case !at.array && at.count%2 == 0:
		m.out.WriteString(": ")
		return at.field, false
	case at.count > 1:
		m.out.WriteString(", ")
	}
	if !at.array {
		at.field, _ = token.(string)
		return at.field, true
	}
	return at.field, false
}

// shows reports whether the log shows a value, and notes it unless its field is plain:
// no message quotes the value of a plain field.
func (m *masker) shows(field, value string) bool {
	if slices.Contains(plainFields, field) {
		return strings.Trim(value, "0123456789-+:./TZ ") == ""
	}
	if field == "employeeExternalId" {
		field = "externalId"
	}
	if value != "" {
		m.values = append(m.values, value)
	}
	if slices.Contains(PersonalFields, field) && m.bodies.Shows(field) {
		m.shown = true
		return true
	}
	m.masked = append(m.masked, value)
	return false
}

func (m *masker) string(s string) {
	out := json.NewEncoder(&m.out)
	out.SetEscapeHTML(false)
	_ = out.Encode(s)               // a string is always encoded
	m.out.Truncate(m.out.Len() - 1) // the end of the line
}

// isFieldName reports whether a name looks like one that a programmer chose. Others
// may be data, such as an address.
func isFieldName(s string) bool {
	return len(s) <= 40 && strings.Trim(strings.ToLower(s), "abcdefghijklmnopqrstuvwxyz_-0123456789") == ""
}
