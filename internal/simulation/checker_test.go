package simulation

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow/memory"

	"dealflow/internal/testkit/oracle"
	"dealflow/load"
	"dealflow/load/store"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
)

// span describes one execution for the checker.
type span struct {
	command  string
	from, to time.Time              // by the market's clock
	skew     time.Duration          // error of the machine's clock
	calls    []call                 // requests whose answers arrived undamaged
	complete map[api.Feed]time.Time // when the last complete pull before it began
	accept   bool                   // removals are accepted
	unproved []int64                // deals of the feed that the run kept without evidence
}

// lastPass returns when the last walk or sweep of a feed began. For a list without a documented order, the final check
// of page one after a walk of several pages does not count: it says nothing about later pages.
func (s *span) lastPass(feed api.Feed) time.Time {
	type pass struct {
		at    time.Time
		pages int
	}
	var passes []pass
	for _, c := range s.calls {
		switch {
		case c.feed != feed:
		case c.first():
			passes = append(passes, pass{c.at, 1})
		case c.what == "next" && len(passes) > 0:
			passes[len(passes)-1].pages++
		}
	}
	n := len(passes)
	switch {
	case n == 0:
		return time.Time{}
	case n > 1 && !feed.HasUpdatedSince() && passes[n-1].pages == 1 && passes[n-2].pages > 1:
		return passes[n-2].at
	}
	return passes[n-1].at
}

// checker compares commits with the states of the market.
type checker struct {
	t      *testing.T
	market *market
	store  store.Store
	mem    memory.Allocator
	oracle *oracle.Oracle
	pick   func(n int) int // a random number below n
}

// errorf reports a broken promise about a deal, with all states of the deal.
func (j *checker) errorf(s *span, d *deal, feed api.Feed, form string, args ...any) {
	j.t.Helper()
	var calls []string
	for _, c := range s.calls {
		if c.feed == feed {
			calls = append(calls, fmt.Sprintf("%s %s", c.at.Format(clockForm), c.site))
		}
	}
	j.t.Errorf("%s deal %d: %s\n  %s from %s to %s, last pass from %s\n  the deal was%s\n  calls:\n    %s", feed, d.id, fmt.Sprintf(form, args...),
		s.command, s.from.Format(clockForm), s.to.Format(clockForm), s.lastPass(feed).Format(clockForm), d, strings.Join(calls, "\n    "))
}

// feed checks what an execution committed for a feed whose outcome is done.
func (j *checker) feed(s *span, feed api.Feed, before, after *ledger) {
	j.t.Helper()
	b := j.market.books[feed]
	for id := range after.newest[feed] {
		if b.deals[id] == nil {
			j.t.Errorf("%s deal %d: no such deal ever was", feed, id)
		}
	}
	for _, id := range b.ids {
		d := b.deals[id]
		was, is := before.newest[feed][id], after.newest[feed][id]
		v := view{span: s, feed: feed, deal: d, was: was, is: is, said: after.payload[feed][id], states: d.during(s.from, s.to)}
		v.readChange()
		if s.command == "sync" {
			j.report(&v, v.wrongForSync())
		} else {
			j.report(&v, v.wrongForRun())
		}
		j.report(&v, v.wrongVersion())
	}
}

func (j *checker) report(v *view, wrong string) {
	j.t.Helper()
	if wrong != "" {
		j.errorf(v.span, v.deal, v.feed, "%s; the lake has %s after %s", wrong, describe(v.is), describe(v.was))
	}
}

func describe(v *version) string {
	if v == nil {
		return "nothing"
	}
	return fmt.Sprintf("version %d %s %s", v.Version, v.Change, stamp(v.content))
}

// view is one deal in one execution.
type view struct {
	*span
	feed    api.Feed
	deal    *deal
	was, is *version // latest versions before and after
	said    *version // latest version with a payload, after
	states  []state  // states of the deal during the execution

	last   time.Time // when the last pass began
	ends   []state   // states from then on
	stable bool      // the list's order showed all changes of the deal
}

func (v *view) readChange() {
	v.last = v.lastPass(v.feed)
	v.ends = v.deal.during(v.last, v.to)
	since := v.from
	if v.command == "sync" {
		since = v.complete[v.feed]
	}
	v.stable = !slices.ContainsFunc(v.deal.during(since, v.to), func(s state) bool {
		return s.at.After(since) && s.quiet
	})
}

func all(states []state, is func(state) bool) bool {
	return !slices.ContainsFunc(states, func(s state) bool { return !is(s) })
}

func some(states []state, is func(state) bool) bool { return slices.ContainsFunc(states, is) }

func listedWhole(s state) bool { return s.listed() && s.broken == whole }

func absent(s state) bool { return !s.there() }

// holds reports whether the lake's content of the deal is that of one of the states.
func (v *view) holds(states []state) bool {
	return some(states, func(s state) bool { return s.readable() && s.content == v.said.content })
}

// wrongForRun returns what is wrong with the deal after a complete snapshot; "" if it is right.
func (v *view) wrongForRun() string {
	lived, lives := v.was.live(), v.is.live()
	kept := lived && lives && v.was == v.is
	switch {
	case !lives && all(v.states, listedWhole):
		return "it stood in the list throughout the run, and is not there"
	case !lives && v.stable && all(v.ends, listedWhole):
		return "it stood in the list when the last sweep began, and is not there"
	case lived && !lives && v.proved() && all(v.states, state.there):
		return "a false removal: by id it was there throughout the run"
	case lives && !lived && all(v.states, func(s state) bool { return !s.readable() }):
		return "it never could be read during the run, and is there"
	case lived && lives && !v.unproved() && all(v.states, absent):
		return "a missed removal: it was nowhere during the run"
	case lives && v.unproved() && !kept:
		return "it is kept without evidence, but has a new version"
	case v.unproved() && all(v.states, listedWhole):
		return "it stood in the list throughout the run, and is listed as absent"
	case lives && !v.holds(v.states) && !(kept && (v.unproved() || some(v.states, func(s state) bool { return s.there() && s.broken != whole }))):
		return "its content did not stand during the run"
	case lives && v.stable && all(v.ends, listedWhole) && !v.holds(v.ends):
		return "a change before the last sweep is missing"
	}
	return ""
}

// wrongForSync returns what is wrong with the deal after a sync; "" if it is right.
func (v *view) wrongForSync() string {
	switch {
	case v.was.live() && !v.is.live():
		return "a sync has removed it"
	case v.was != v.is && !v.holds(v.states):
		return "its content did not stand during the sync"
	case v.stable && !v.last.IsZero() && len(v.ends) == 1 && all(v.ends, listedWhole) && (!v.is.live() || !v.holds(v.ends)):
		return "a change before the sync is missing"
	}
	return ""
}

// unproved reports whether the run says that it kept the deal without evidence.
func (v *view) unproved() bool { return slices.Contains(v.span.unproved, v.deal.id) }

// about reports whether a call requested the deal by id.
func (v *view) about(c call) bool {
	return c.feed == v.feed && c.what == fmt.Sprintf("deal %d", v.deal.id)
}

// proved reports whether the API gave evidence that the deal is gone, or that it is refused.
func (v *view) proved() bool {
	return slices.ContainsFunc(v.calls, func(c call) bool { return v.about(c) && c.evidence })
}

// wrongVersion returns what is wrong with the version that the execution added, if any; "" if it is right.
func (v *view) wrongVersion() string {
	if v.was == v.is {
		return ""
	}
	if v.was != nil && v.is.Version != v.was.Version+1 || v.was == nil && v.is.Version != 1 {
		return "more than one version at once"
	}
	if seen := v.is.ObservedAt; v.from.Sub(seen) > v.skew.Abs()+time.Second || seen.Sub(v.to) > v.skew.Abs() {
		return fmt.Sprintf("observed at %s, outside of the run", seen)
	}
	if v.is.Change != lake.Removed {
		return ""
	}
	if !v.proved() {
		if v.accept && slices.ContainsFunc(v.calls, func(c call) bool { return v.about(c) && c.refused }) {
			return "" // the user accepts what something in front of the API says
		}
		return "removed without evidence"
	}
	gone := func(s state) bool { return s.content.number == 0 }
	if *v.is.Reason == lake.ReasonOutOfEntitlement {
		gone = func(s state) bool { return s.forbidden }
	}
	if !some(v.states, gone) {
		return "removed for the reason " + *v.is.Reason + ", which never was"
	}
	return ""
}

// snapshot checks a feed's files of the day: each deal of the lake is there once, in its latest version. It compares
// one table row for row.
func (j *checker) snapshot(log *load.Log, feed api.Feed, run *lake.FeedRun, day string, after *ledger) {
	j.t.Helper()
	live := after.live(feed)
	tables := lake.FeedTables(feed)
	if got := run.Deals; got != int64(len(live)) {
		j.t.Errorf("%s: the commit counts %d deals, history has %d", feed, got, len(live))
	}
	for _, table := range []*lake.Table{tables[0], tables[j.pick(len(tables))]} {
		got, err := tableRows(log, j.store, j.mem, table.Name, feed.Market, day)
		if err != nil {
			j.t.Error(err)
			return
		}
		var want []oracle.Row
		for id, v := range live {
			rows, err := j.oracle.Rows(feed, base, []byte(*after.payload[feed][id].Payload))
			if err != nil {
				j.t.Error(err)
				return
			}
			for _, row := range rows[table.Name] {
				row["version"] = int64(v.Version)
				want = append(want, row)
			}
		}
		if diff := oracle.Compare(want, got); diff != "" {
			j.t.Errorf("%s %s of %s differs from history:\n%s", feed, table.Name, day, diff)
		}
	}
}

// counts compares a commit's counts for a feed with the versions that it added.
func (j *checker) counts(run *lake.FeedRun, fresh []*version) {
	j.t.Helper()
	got := map[string]int64{lake.Added: run.Added, lake.Changed: run.Changed, lake.Removed: run.Removed, lake.Reappeared: run.Reappeared}
	notEntitled := run.NotEntitled
	for _, v := range fresh {
		if v.feed() == run.Feed {
			got[v.Change]--
			if v.Reason != nil && *v.Reason == lake.ReasonOutOfEntitlement {
				notEntitled--
			}
		}
	}
	for change, n := range got {
		if n != 0 {
			j.t.Errorf("%s: the commit counts %d %s more than history has", run.Feed, n, change)
		}
	}
	if notEntitled != 0 {
		j.t.Errorf("%s: the commit counts %d out of entitlement more than history has", run.Feed, notEntitled)
	}
}
