package serve

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
)

// TestFaults checks that servers with the same seed have the same faults, that every kind of fault occurs, and that
// without rates there is no fault.
func TestFaults(t *testing.T) {
	fates := func(faults Faults) []string {
		m := &faultInjector{faults: faults}
		var all []string
		token := ""
		for i := range 600 {
			if i%100 == 0 { // the last token may have expired
				token = fmt.Sprint("Bearer ", i)
			}
			r := withVisit(httptest.NewRequest(http.MethodGet, "/v3/bond/ig/priced-deal?seeker=x", nil), &visit{})
			r.Header.Set("Authorization", token)
			w, err := m.strike(httptest.NewRecorder(), r)
			_, cut := w.(*breaking)
			all = append(all, fmt.Sprintf("%v, cut %t, odd %t", err, cut, visitOf(r).oddLinks))
		}
		return all
	}
	first := fates(AllFaults(1, 0.1))
	if !slices.Equal(first, fates(AllFaults(1, 0.1))) {
		t.Error("the same seed struck differently")
	}
	if slices.Equal(first, fates(AllFaults(2, 0.1))) {
		t.Error("another seed struck alike")
	}
	for _, want := range []string{
		"<nil>, cut false, odd false", "<nil>, cut true, odd false", "<nil>, cut false, odd true",
		errStruck.Error() + ", cut false, odd false", errTokenInvalid.Error() + ", cut false, odd false",
		errOldCursor.Error() + ", cut false, odd false", tooMany(0).Error() + ", cut false, odd false",
	} {
		if !slices.Contains(first, want) {
			t.Errorf("in 600 requests, got no %q", want)
		}
	}
	for _, fate := range fates(Faults{Seed: 1}) {
		if fate != "<nil>, cut false, odd false" {
			t.Fatalf("without rates: got %q", fate)
		}
	}
	if err := AllFaults(1, 1.5).validate(); err == nil {
		t.Error("a rate above 1 was taken")
	}
}
