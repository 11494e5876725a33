package httpapi

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/go-faster/jx"

	"github.com/coursebridge/coursebridge/internal/domain"
)

// typeName returns the name of a JSON type with its article, for messages.
func typeName(kind jx.Type) string {
	switch kind {
	case jx.Object:
		return "an object"
	case jx.Array:
		return "an array"
	case jx.String:
		return "a string"
	case jx.Number:
		return "a number"
	case jx.Bool:
		return "a boolean"
	}
	return "null"
}

func checkType(raw jx.Raw, kind jx.Type) error {
	if got := raw.Type(); got != kind {
		return fmt.Errorf("must be %s, not %s", typeName(kind), typeName(got))
	}
	return nil
}

func parseText(raw jx.Raw) (string, error) {
	if err := checkType(raw, jx.String); err != nil {
		return "", err
	}
	if err := validText(raw); err != nil {
		return "", err
	}
	return jx.DecodeBytes(raw).Str()
}

func parseBool(raw jx.Raw) (bool, error) {
	if err := checkType(raw, jx.Bool); err != nil {
		return false, err
	}
	return jx.DecodeBytes(raw).Bool()
}

func parseInstant(raw jx.Raw) (time.Time, error) {
	s, err := parseText(raw)
	if err != nil {
		return time.Time{}, err
	}
	return domain.ParseInstant(s)
}

// arrayOf returns a decoder of arrays with at most limit items. It stops at the
// first item beyond, so that a long array costs little.
func arrayOf(limit int) func(jx.Raw) ([]jx.Raw, error) {
	errTooMany := fmt.Errorf("must have at most %d items", limit)
	return func(raw jx.Raw) ([]jx.Raw, error) {
		if err := checkType(raw, jx.Array); err != nil {
			return nil, err
		}
		items := []jx.Raw{}
		err := jx.DecodeBytes(raw).Arr(func(d *jx.Decoder) error {
			if len(items) == limit {
				return errTooMany
			}
			item, err := d.Raw()
			items = append(items, item)
			return err
		})
		if errors.Is(err, errTooMany) {
			return nil, errTooMany
		}
		return items, err
	}
}

func parsePoints(raw jx.Raw) (domain.Points, error) {
	if err := checkType(raw, jx.Number); err != nil {
		return 0, err
	}
	// A number past the range of float64 comes back as infinity, which is out of range below.
	f, _ := strconv.ParseFloat(numberText(raw), 64)
	return domain.ParsePoints(f)
}

var errRange = errors.New("must be an integer of at most 18 digits")

// parseInteger accepts every notation of a whole number: 1.0 and 1e2 are integers
// in JSON Schema, and some languages have floating-point numbers only.
func parseInteger(raw jx.Raw) (int64, error) {
	if raw.Type() != jx.Number {
		return 0, fmt.Errorf("must be an integer, not %s", typeName(raw.Type()))
	}
	digits := numberText(raw)
	if strings.ContainsAny(digits, ".eE") {
		var ok bool
		if digits, ok = wholeNumber(digits); !ok {
			return 0, errors.New("must be an integer, without a fraction")
		}
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil {
		return 0, errRange
	}
	return n, nil
}

func numberText(raw jx.Raw) string { return strings.TrimSpace(string(raw)) }

// wholeNumber returns the digits of a number in fraction or exponent notation, and
// ok = false if it is not whole. It writes at most 19 zeros for an exponent, which is
// already beyond an int64.
func wholeNumber(s string) (digits string, ok bool) {
	mantissa, exponent, _ := strings.Cut(strings.ToLower(s), "e")
	mantissa, negative := strings.CutPrefix(mantissa, "-")
	before, after, _ := strings.Cut(mantissa, ".")
	digits = strings.TrimLeft(before+after, "0")
	if digits == "" {
		return "0", true
	}
	shift := 0
	if exponent != "" {
		var err error
		if shift, err = strconv.Atoi(exponent); err != nil {
			shift = 1 << 30 // past any int64
			if strings.HasPrefix(exponent, "-") {
				return "", false
			}
		}
	}
	trimmed := strings.TrimRight(digits, "0")
	shift += len(digits) - len(trimmed) - len(after)
	if shift < 0 {
		return "", false
	}
	digits = trimmed + strings.Repeat("0", min(shift, 19))
	if negative {
		digits = "-" + digits
	}
	return digits, true
}
