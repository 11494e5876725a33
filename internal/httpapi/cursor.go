package httpapi

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"hash/crc32"

	"github.com/coursebridge/coursebridge/internal/domain"
)

// List names the list that a cursor belongs to, so that a cursor of one list is
// not accepted for another.
type List byte

// The lists that can be walked by cursor.
const (
	Employees   List = 'e'
	Assignments List = 'a'
	Changes     List = 'c' // assignments by update time
)

// cursorVersion is the first byte of every cursor. It changes with the format.
const cursorVersion = 1

var errCursor = errors.New("is not a cursor of this list; take the URL from the Link header as it is")

// FormatCursor returns a cursor as opaque text. The checksum detects truncated and
// altered cursors; it is no secret, because a cursor holds only positions that its
// holder has seen.
func FormatCursor(list List, c domain.Cursor) string {
	buf := make([]byte, 0, 48)
	buf = append(buf, cursorVersion, byte(list))
	for _, v := range []int64{c.ID, c.At, c.Watermark, int64(c.Page)} {
		buf = binary.AppendVarint(buf, v)
	}
	buf = binary.BigEndian.AppendUint32(buf, crc32.ChecksumIEEE(buf))
	return base64.RawURLEncoding.EncodeToString(buf)
}

// ParseCursor returns the cursor that FormatCursor has written for the list.
func ParseCursor(list List, s string) (domain.Cursor, error) {
	buf, err := base64.RawURLEncoding.Strict().DecodeString(s)
	if err != nil || len(buf) < 6 || len(buf) > 64 || buf[0] != cursorVersion || buf[1] != byte(list) {
		return domain.Cursor{}, errCursor
	}
	body, sum := buf[:len(buf)-4], buf[len(buf)-4:]
	if crc32.ChecksumIEEE(body) != binary.BigEndian.Uint32(sum) {
		return domain.Cursor{}, errCursor
	}
	rest := body[2:]
	var v [4]int64
	for i := range v {
		n, size := binary.Varint(rest)
		if size <= 0 || n < 0 {
			return domain.Cursor{}, errCursor
		}
		v[i], rest = n, rest[size:]
	}
	c := domain.Cursor{ID: v[0], At: v[1], Watermark: v[2], Page: int(v[3])}
	if len(rest) > 0 || c.Page < 1 || c.Page > maxPage || FormatCursor(list, c) != s {
		return domain.Cursor{}, errCursor
	}
	return c, nil
}
