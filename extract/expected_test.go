package extract

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"
)

// restless makes a bond expected list in which deals that were already read change during the first moves requests.
func restless(moves int) *market {
	m := newMarket().fill(bondExpected, 35, time.Minute) // until 09:36
	m.before = func(r *http.Request) {
		m.now = m.now.Add(time.Minute)
		if moves--; moves >= 0 {
			m.touch(bondExpected, 1000)
		}
	}
	return m
}

// TestExpectedBondsThatDoNotSettleAreSwept: after five walks, the changes since the first walk are requested.
func TestExpectedBondsThatDoNotSettleAreSwept(t *testing.T) {
	m := restless(22) // five walks of four pages, two sweeps
	s, spool, err := m.snapshot(t, bondExpected)
	if err != nil {
		t.Fatal(err)
	}
	m.compare(t, bondExpected, spool)
	// The first page is dated 09:36; the deals of its last five minutes come again, and the one that moves.
	if n := m.seen("changedFrom=2026-03-02T09:31:00Z&pageSize=1000"); n != 3 || m.seen("changedFrom") != n || s.Sweeps != 7 || s.Pages != 23 || s.UpdatedSince != "" {
		t.Errorf("%d sweeps of changes, %+v: %v", n, s, m.requests)
	}
}

// TestExpectedBondsWithoutChangedFrom: the error distinguishes a server that refuses changedFrom from a list that is
// too fast.
func TestExpectedBondsWithoutChangedFrom(t *testing.T) {
	m := restless(1000)
	m.instead = func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Query().Has("changedFrom") {
			fail(w, http.StatusBadRequest, "unknown parameter changedFrom")
			return true
		}
		return false
	}
	_, _, err := m.snapshot(t, bondExpected)
	var unsettled *UnsettledError
	var status *StatusError
	if !errors.As(err, &unsettled) || unsettled.Rounds != 5 || unsettled.Fresh != 1 || !errors.As(err, &status) || status.Status != 400 ||
		!strings.Contains(err.Error(), "does not accept changedFrom") || !strings.Contains(err.Error(), "unknown parameter") || IsForbiddenOrMissing(err) {
		t.Errorf("got %v", err)
	}
}

// TestExpectedBondsWhoseSweepFails: only a 400 means that changedFrom is refused.
func TestExpectedBondsWhoseSweepFails(t *testing.T) {
	m := restless(1000)
	m.instead = func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Query().Has("changedFrom") {
			fail(w, http.StatusNotFound, "no")
			return true
		}
		return false
	}
	_, _, err := m.snapshot(t, bondExpected)
	var unsettled *UnsettledError
	if errors.As(err, &unsettled) || statusOf(err) != 404 || !strings.Contains(err.Error(), "sweep 6: page 1") || IsForbiddenOrMissing(err) {
		t.Errorf("got %v", err)
	}
}
