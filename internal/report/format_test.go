package report

import (
	"testing"

	"dealflow/internal/chart"
)

func TestFormats(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{maybe(nil, 1), chart.None}, {maybe(new(2.25), 1), "2.2"},
		{billions(1_234_567_890), "1.235"}, {percent(0.12345), "12.3"}, {outOf(3, 1200), "3 of 1,200"}, {percent(ratio(1, 0)), chart.None},
		{plural(1, "deal", "deals"), "1 deal"}, {plural(0, "deal", "deals"), "0 deals"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}
