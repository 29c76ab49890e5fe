package chart

import (
	"math"
	"testing"
)

func TestFormats(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{Count(0), "0"}, {Count(999), "999"}, {Count(1000), "1,000"}, {Count(-1234567), "-1,234,567"}, {Count(math.MinInt64), "-9,223,372,036,854,775,808"},
		{Decimals(1234.5678, 2), "1,234.57"}, {Decimals(-0.5, 1), "-0.5"}, {Decimals(-0.001, 1), "0.0"}, {Decimals(-12.5, 0), "-12"}, {Decimals(1e300, 2), "1e+300"},
		{exactly(8), "8"}, {exactly(8.25), "8.25"}, {exactly(-0.5), "-0.5"}, {exactly(1000), "1,000"}, {exactly(0.0004), "0"}, {exactly(1e300), "1e+300"},
		{Decimals(math.NaN(), 1), None}, {Decimals(math.Inf(-1), 1), None},
		{fit("short", 100), "short"}, {fit("two\nlines", 100), "two lines"}, {fit("a much longer text", 60), "a much…"}, {fit("anything", 0), "…"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}
