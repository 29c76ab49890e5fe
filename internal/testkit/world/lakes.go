package world

import (
	"testing"
	"time"

	"dealflow/serve"
	"dealflow/serve/sim"
)

// ShortLake has three nights: commit 1 adds deals; 2 changes deal 1 of bond/ig/priced, removes deal 2, and
// puts a record into the quarantine; 3 has deal 2 reappear. The damages in testdata/damaged name its rows.
func ShortLake(t testing.TB) *World {
	t.Helper()
	w, b := NewBook(t)
	all := Feeds(Priced, Expected, LoanPriced)
	b.WriteAll(Priced, 1, 4, `"message":"A","banks":[{"name":"one","status":"lead"},{"name":"two"}]`)
	b.WriteAll(Expected, 1, 3, `"tranches":[{"name":"a"},{"name":"b"}]`)
	b.WriteAll(LoanPriced, 1, 2, `"tranches":[{"trancheId":1,"banks":[{"name":"x"},{"name":"y"}]},{"trancheId":2,"banks":[{"name":"z"}]}]`)
	w.Night(t, 0, all, Quiet)
	b.Write(Priced, 1, `"message":"B","banks":[{"name":"one"}]`)
	b.Strike(Priced, 2)
	b.WriteBody(Expected, 9, `{"id":9,"id":9}`)
	w.Night(t, 1, all, Quiet)
	b.Strike(Expected, 9)
	b.Write(Priced, 2, `"message":"A"`)
	w.Night(t, 2, all, Quiet)
	return w
}

// NightsOfAMarket has four nights of a simulated market.
func NightsOfAMarket(t testing.TB) *World {
	t.Helper()
	w := New(t, sim.Config{Seed: 7, Deals: 40})
	for n := range 4 {
		w.Night(t, n*3, Quiet)
	}
	return w
}

// StumblingNights has two nights of a market whose API answers with faults.
func StumblingNights(t testing.TB) *World {
	t.Helper()
	w := New(t, sim.Config{Seed: 8, Deals: 20})
	faults := serve.AllFaults(8, 0.2, serve.FaultTooMany, serve.FaultBareTooMany, serve.FaultLinkSpelling)
	w.ServeAgain(t, serve.Config{Source: w.Market, Faults: faults})
	w.Pages, w.Attempts = 10, 8
	w.Night(t, 0, Quiet)
	w.Night(t, 3, Quiet)
	return w
}

// EventfulNights has deals that are removed, reappear and cannot be read, and a day with three runs.
func EventfulNights(t testing.TB) *World {
	t.Helper()
	w, b := NewBook(t)
	all := Feeds(Priced, Expected, LoanExpected)
	b.WriteAll(Priced, 1, 20, `"message":"A"`)
	b.WriteAll(Expected, 1, 6, `"tranches":[{"name":"a"},null,{"name":"b"}]`)
	b.WriteAll(LoanExpected, 1, 3, "")
	w.Night(t, 0, all, Quiet)
	b.Strike(Priced, 1)
	b.Forbid(Priced, 2)
	b.Unlist(Priced, 3)
	b.WriteBody(Priced, 4, `{"dealId":4,"dealId":4}`)
	b.WriteBody(Priced, 21, `["dealId",21]`)
	b.Strike(Expected, 1, 2)
	b.Write(Expected, 3, `"tranches":[]`)
	w.Night(t, 1, all, Quiet)
	b.Strike(Priced, 21)
	b.Write(Priced, 1, `"message":"A"`)
	b.Write(Priced, 4, `"message":"B"`)
	w.Later(time.Hour)
	w.MustRun(t, all, Quiet)
	b.Write(Priced, 5, `"message":"C"`)
	w.Later(time.Hour)
	w.MustRun(t, all, Quiet)
	w.Night(t, 2, all, Quiet)
	return w
}

// SyncedNights has two nights of a market with syncs after each.
func SyncedNights(t testing.TB) *World {
	t.Helper()
	w := New(t, sim.Config{Seed: 9, Deals: 30})
	for n := range 2 {
		w.Night(t, 4*n, Quiet)
		for range 3 {
			w.Later(20 * time.Hour)
			w.MustSync(t, Quiet)
		}
	}
	return w
}
