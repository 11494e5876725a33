package domain_test

import (
	"math"
	"strconv"
	"testing"

	"github.com/coursebridge/coursebridge/internal/domain"
)

// Every number with two decimals survives the way in and out.
func TestPointsRoundTrip(t *testing.T) {
	t.Parallel()
	for i := range int64(domain.FullPoints) + 1 {
		text := strconv.FormatFloat(float64(i)/100, 'f', -1, 64)
		f, err := strconv.ParseFloat(text, 64)
		if err != nil {
			t.Fatal(err)
		}
		p, err := domain.ParsePoints(f)
		if err != nil || p != domain.Points(i) || p.String() != text || p.Float() != f {
			t.Fatalf("%s: %d, %q, %v, %v", text, p, p, p.Float(), err)
		}
	}
}

func TestParsePointsRefuses(t *testing.T) {
	t.Parallel()
	for _, bad := range []float64{-0.01, 100.01, 1e300, math.Inf(1), math.Inf(-1), math.NaN(), 0.001, 99.999, 33.333, 50.0001} {
		if p, err := domain.ParsePoints(bad); err == nil {
			t.Errorf("%v is %s", bad, p)
		}
	}
}
