package domain

import (
	"errors"
	"math"
	"strconv"
)

// Points is a score or a percentage in hundredths, so that it is stored and
// compared exactly: 92.5 is 9250.
type Points int64

// FullPoints is 100.
const FullPoints Points = 100_00

// ParsePoints accepts 0 to 100 with at most two decimals.
func ParsePoints(f float64) (Points, error) {
	if math.IsNaN(f) || f < 0 || f > 100 {
		return 0, errors.New("must be a number from 0 to 100")
	}
	p := math.Round(f * 100)
	if math.Abs(f*100-p) > 1e-6 {
		return 0, errors.New("must have at most two decimals")
	}
	return Points(p), nil
}

// Float returns the number as JSON shows it.
func (p Points) Float() float64 { return float64(p) / 100 }

func (p Points) String() string { return strconv.FormatFloat(p.Float(), 'f', -1, 64) }
