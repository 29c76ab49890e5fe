package spans

import (
	"slices"
	"testing"
)

// TestSpans divides commits as published snapshots do: the spans of each are its commits, in order and once. Where few commits are
// kept, few spans are short; where all are, those that many have stay as they are.
func TestSpans(t *testing.T) {
	t.Parallel()
	const last = 700
	alone, many := func(Span) int { return 1 }, func(Span) int { return few }
	for n := int64(1); n < last; n++ {
		for name, c := range map[string]struct {
			spans    []Span
			from, to int64
		}{
			"until":  {merged(Until(n), alone), 1, n},
			"after":  {merged(After(n, last), alone), n + 1, last},
			"kept":   {MergedUntil(Until(n), []int64{n}), 1, n},
			"later":  {MergedAfter(After(n, last), []int64{n}), n + 1, last},
			"shared": {merged(Until(n), many), 1, n},
		} {
			next, short := c.from, 0
			for _, s := range c.spans {
				if s.Lo != next {
					t.Fatalf("%s %d: %v, want a span that begins with %d", name, n, c.spans, next)
				}
				next = s.End()
				if s.Size < 64 {
					short++
				}
			}
			open := name == "after" || name == "later"
			if next <= c.to || !open && next != c.to+1 || name != "shared" && short > 1 || name == "shared" && !slices.Equal(c.spans, Until(n)) {
				t.Errorf("%s %d: %v, want the commits %d to %d, and one short span at most", name, n, c.spans, c.from, c.to)
			}
		}
	}
}
