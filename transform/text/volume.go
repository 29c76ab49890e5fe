package text

// parseVolume reads a size: USD500m (expected), EUR500m WNG, USD300m-500m, GBP250m+, up to USD400m, EUR benchmark. A
// size without a currency gets that of the currency column.
func parseVolume(text []byte, siblings Siblings, r *Reading) {
	s := scanner{text}
	v := s.volume(siblings, r)
	if v == yes && s.end() && amountBounds.containAll(&r.Main) {
		r.Status = statusOf(&r.Main)
		return
	}
	*r = Reading{}
	s = scanner{text}
	named := s.currency()
	switch {
	case s.oneOf("benchmark-sized", "benchmark size", "benchmark") && s.end():
		r.chooseCurrency(named, siblings)
		r.Status, r.Quality = statusNoNumber, qualityBenchmark
	case named != nil && !s.end() && saysNothing(s.rest):
		r.chooseCurrency(named, siblings)
		r.Status = statusNoNumber
	default:
		r.Status = unread(text, v)
	}
}

func (s *scanner) volume(siblings Siblings, r *Reading) verdict {
	var q qualifier
	q.before(s)
	named, v := s.size(&r.Main)
	if r.chooseCurrency(named, siblings); v != yes {
		return v
	}
	if r.Currency == nil {
		return no
	}
	expected, wng := false, false
	for more := true; more; {
		switch {
		case s.noted("expected", "exp"):
			expected = true
		case s.noted("wng", "will not grow"):
			wng = true
		default:
			more = q.after(s)
		}
	}
	r.Quality, v = q.apply(&r.Main)
	switch {
	case v == yes && wng && q.least: // the text says that the size will not grow, and that it may be more
		return ambiguous
	case r.Quality == nil && wng:
		r.Quality = qualityWNG
	case r.Quality == nil && expected:
		r.Quality = qualityExpected
	}
	return v
}
