package domain

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"regexp"
	"time"
)

// Cursor is the position of the last record seen in a list. With At the list is
// ordered by time, else by id.
type Cursor struct {
	ID        int64  // 0 where UUID is set
	UUID      string // of a delivery, whose id is not a number
	At        int64  // milliseconds since 1970, negative before
	Watermark int64  // the sync watermark of the walk's first page
	Page      int    // the page that ended at this position, 0 where pages are not counted
}

// Time returns the time of the last record seen.
func (c Cursor) Time() time.Time { return time.UnixMilli(c.At).UTC() }

// List names the list that a cursor belongs to, so that a cursor of one list is
// not accepted for another.
type List byte

// The lists that can be walked by cursor.
const (
	EmployeeList   List = 'e'
	AssignmentList List = 'a'
	ChangeList     List = 'c' // assignments by update time
	DeliveryList   List = 'd'
	AuditList      List = 'l'
	TokenList      List = 't'
	RequestList    List = 'r'
	CabinetList    List = 'w' // the cabinet's assignments, by deadline or from the newest
)

// MaxPage is the largest page number of a cursor. It lies past the end of any list,
// and multiplying it with a limit does not overflow.
const MaxPage = 1_000_000_000_000

const (
	// cursorVersion is the first byte of every cursor. It changes with the format.
	cursorVersion  = 1
	maxCursorBytes = 96
)

var errCursor = errors.New("is not a cursor of this list")

// Format returns the cursor as opaque text, for links and for the command line. The
// checksum detects truncated and altered cursors; it is no secret, because a cursor
// holds only positions that its holder has seen.
func (c Cursor) Format(list List) string {
	buf := make([]byte, 0, maxCursorBytes)
	buf = append(buf, cursorVersion, byte(list))
	for _, v := range []int64{c.ID, c.At, c.Watermark, int64(c.Page)} {
		buf = binary.AppendVarint(buf, v)
	}
	buf = append(buf, c.UUID...)
	buf = binary.BigEndian.AppendUint32(buf, crc32.ChecksumIEEE(buf))
	return base64.RawURLEncoding.EncodeToString(buf)
}

// ParseCursor returns the cursor that Format has written for the list.
func ParseCursor(list List, text string) (Cursor, error) {
	buf, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil || len(buf) < 6 || len(buf) > maxCursorBytes || buf[0] != cursorVersion || buf[1] != byte(list) {
		return Cursor{}, errCursor
	}
	body, sum := buf[:len(buf)-4], buf[len(buf)-4:]
	if crc32.ChecksumIEEE(body) != binary.BigEndian.Uint32(sum) {
		return Cursor{}, errCursor
	}
	rest := body[2:]
	var v [4]int64
	for i := range v {
		n, size := binary.Varint(rest)
		if size <= 0 {
			return Cursor{}, errCursor
		}
		v[i], rest = n, rest[size:]
	}
	c := Cursor{ID: v[0], UUID: string(rest), At: v[1], Watermark: v[2], Page: int(v[3])}
	if c.ID < 0 || c.Watermark < 0 || c.Page < 0 || c.Page > MaxPage || !validUUID(list, c.UUID) || c.Format(list) != text {
		return Cursor{}, errCursor
	}
	return c, nil
}

var uuidForm = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

// validUUID reports whether the text is a UUID where the records of the list have
// one, and empty elsewhere.
func validUUID(list List, text string) bool {
	if list == DeliveryList {
		return uuidForm.MatchString(text)
	}
	return text == ""
}
