package report

import (
	"math"
	"testing"
)

func TestFormats(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{count(0), "0"}, {count(999), "999"}, {count(1000), "1,000"}, {count(-1234567), "-1,234,567"}, {count(math.MinInt64), "-9,223,372,036,854,775,808"},
		{decimals(1234.5678, 2), "1,234.57"}, {decimals(-0.5, 1), "-0.5"}, {decimals(-0.001, 1), "0.0"}, {decimals(-12.5, 0), "-12"}, {decimals(1e300, 2), "1e+300"},
		{decimals(math.NaN(), 1), none}, {decimals(math.Inf(-1), 1), none}, {maybe(nil, 1), none}, {maybe(new(2.25), 1), "2.2"},
		{billions(1_234_567_890), "1.235"}, {percent(0.12345), "12.3"}, {outOf(3, 1200), "3 of 1,200"}, {percent(ratio(1, 0)), none},
		{plural(1, "deal", "deals"), "1 deal"}, {plural(0, "deal", "deals"), "0 deals"},
		{fit("short", 100), "short"}, {fit("two\nlines", 100), "two lines"}, {fit("a much longer text", 60), "a much…"}, {fit("anything", 0), "…"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}
