package spans

import "slices"

// fan is the number of spans of a size in one of the next size.
const fan = 8

// Span is the commits Lo … Lo+Size-1.
type Span struct {
	Lo   int64 `json:"lo"`
	Size int64 `json:"size"` // a power of fan, or what Merged makes
}

// End returns the first commit after the span.
func (s Span) End() int64 { return s.Lo + s.Size }

// Contains says whether the span has all commits of other.
func (s Span) Contains(other Span) bool { return s.Lo <= other.Lo && other.End() <= s.End() }

// Until returns the spans that together are the commits 1 … n, oldest first.
func Until(n int64) []Span {
	size := int64(1)
	for size*fan <= n {
		size *= fan
	}
	var spans []Span
	for lo := int64(1); lo <= n; {
		for lo+size-1 > n {
			size /= fan
		}
		spans = append(spans, Span{lo, size})
		lo += size
	}
	return spans
}

// After returns spans that contain the commits n+1 … last, oldest first. They may contain later ones.
func After(n, last int64) []Span {
	var spans []Span
	for lo := n + 1; lo <= last; {
		size := int64(1)
		for size < last && (lo-1)%(size*fan) == 0 {
			size *= fan
		}
		spans = append(spans, Span{lo, size})
		lo += size
	}
	return spans
}

// A manifest repeats the schema of its table. So short spans that few kept commits share are one block.
const (
	long = fan * fan // the least size of a span that many kept commits share
	few  = 4         // the least number that are many
)

// MergedUntil returns spans of Until, those as one that are short and that few of the sorted kept commits share.
func MergedUntil(spans []Span, kept []int64) []Span {
	return merged(spans, func(s Span) int { return between(kept, s.End()-1, s.parent().End()-1) })
}

// MergedAfter is MergedUntil for spans of After.
func MergedAfter(spans []Span, kept []int64) []Span {
	return merged(spans, func(s Span) int { return between(kept, s.parent().Lo, s.Lo) })
}

// parent returns the span of the next size that contains this one.
func (s Span) parent() Span {
	size := s.Size * fan
	return Span{(s.Lo-1)/size*size + 1, size}
}

// merged returns consecutive spans, those as one that are short and of which share says that few kept commits have them.
func merged(spans []Span, share func(Span) int) (found []Span) {
	alone := func(s Span) bool { return s.Size < long && share(s) < few }
	for i, s := range spans {
		if i > 0 && alone(s) && alone(spans[i-1]) {
			found[len(found)-1].Size += s.Size
		} else {
			found = append(found, s)
		}
	}
	return found
}

// between returns how many of the sorted commits are lo … hi-1.
func between(commits []int64, lo, hi int64) int {
	from, _ := slices.BinarySearch(commits, lo)
	to, _ := slices.BinarySearch(commits, hi)
	return to - from
}
