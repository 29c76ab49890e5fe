package simulation

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/apache/arrow/go/v17/arrow/memory"

	"dealflow/extract"
	"dealflow/internal/pull"
	"dealflow/internal/testkit"
	"dealflow/load"
	"dealflow/load/store"
	"dealflow/load/store/faultstore"
	"dealflow/load/store/memstore"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
	"dealflow/serve"
)

// life is a market and its lake over some nights.
type life struct {
	t        *testing.T
	seed     uint64
	dice     *rand.Rand
	feeds    []api.Feed
	market   *market
	listener *listener
	store    *memstore.Mem
	work     string
	mem      memory.Allocator
	pageSize int
	stretch  int // as in pull.Config
	beat     time.Duration
	zip      bool
	says     refusals
	catalog  bool // runs build the catalog and run the quality checks
	ledger   *ledger
	complete map[api.Feed]time.Time // when the last complete pull of a feed began
	runs     int
	diary    []string
	tally    map[string]int // number of executions by result
}

// newLife must be called in a bubble.
func newLife(t *testing.T, seed uint64) *life {
	dice := diceOf(seed, "life")
	all := api.Feeds()
	dice.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	l := &life{
		t: t, seed: seed, dice: dice, feeds: all[:1+dice.IntN(4)], store: new(memstore.Mem), work: t.TempDir(), mem: testkit.Allocator(t),
		pageSize: 1 + dice.IntN(20), beat: []time.Duration{time.Second, 20 * time.Millisecond}[dice.IntN(2)], zip: dice.IntN(4) == 0, stretch: 8,
		ledger: newLedger(), complete: map[api.Feed]time.Time{}, tally: map[string]int{}, catalog: hasCatalog(seed),
	}
	l.market = newMarket(seed, l.feeds, []int{3, 12, 30}[dice.IntN(3)])
	l.says = []refusals{withErrorID, withErrorID, withForm, withNothing, withHTML}[diceOf(seed, "refusals").IntN(5)]
	ttl := time.Hour
	if dice.IntN(4) == 0 {
		ttl = 20 * time.Second
	}
	l.listener = server(t, l.market, serve.Config{TokenTTL: ttl, SigningKeys: [][]byte{slices.Repeat([]byte{'k'}, serve.MinSigningKey)}})
	return l
}

// plan is what goes wrong in one execution.
type plan struct {
	unrest  int     // most events per feed, at any instant and right after answers
	faults  float64 // probability of a fault per request
	skew    time.Duration
	server  bool          // instants of observation are the server's
	accept  bool          // removals are accepted
	crash   int64         // the store fails at this call and after it; 0: never
	applied bool          // the call that fails takes effect nonetheless
	cancel  time.Duration // the run is cancelled after this time; 0: never
	ends    time.Duration // the run's deadline; 0: none
	day     string        // day of the snapshot; "": the clock's day
	lost    bool          // the API has lost its data during the execution
}

// draw draws what goes wrong.
func (l *life) draw() plan {
	p := plan{server: l.dice.IntN(2) == 0, accept: l.dice.IntN(2) == 0}
	if l.dice.IntN(3) > 0 {
		p.unrest = []int{3, 10, 30}[l.dice.IntN(3)]
	}
	if l.dice.IntN(2) == 0 {
		p.faults = []float64{0.01, 0.05, 0.1}[l.dice.IntN(3)]
	}
	switch l.dice.IntN(8) {
	case 0, 1, 2:
		p.skew = time.Duration(l.dice.Int64N(int64(18*time.Minute))) - 9*time.Minute
	case 3:
		p.skew = []time.Duration{-12 * time.Minute, 12 * time.Minute}[l.dice.IntN(2)]
	}
	switch l.dice.IntN(8) {
	case 0, 1:
		p.crash, p.applied = 1+l.dice.Int64N(80), l.dice.IntN(2) == 0
	case 2:
		p.cancel = time.Duration(1 + l.dice.Int64N(int64(40*l.beat)))
	case 3:
		p.ends = time.Duration(1 + l.dice.Int64N(int64(80*l.beat)))
	}
	return p
}

// live executes some nights and then one without faults, after which the lake equals the market.
func (l *life) live() {
	midnight := time.Now().Truncate(24 * time.Hour)
	for range 2 + l.dice.IntN(5) {
		midnight = midnight.Add(24 * time.Hour)
		evening := midnight.Add(-2*time.Hour + time.Duration(l.dice.IntN(100))*time.Minute)
		if l.dice.IntN(6) == 0 {
			evening = midnight.Add(-24*time.Hour + 20*time.Minute) // just after midnight
		}
		if evening.After(time.Now()) {
			l.day(evening)
		}
		for l.execute("run", l.draw()); l.t.Context().Err() == nil && l.dice.IntN(4) == 0; {
			l.execute("run", l.draw()) // the same day
		}
		if l.t.Failed() {
			return
		}
	}
	l.market.calm()
	l.sleep(midnight.Add(24*time.Hour + 22*time.Hour))
	l.execute("run", plan{accept: true, server: true})
	l.wantMarket()
}

// day lets the time pass until the evening, with syncs.
func (l *life) day(evening time.Time) {
	now := time.Now()
	if l.dice.IntN(8) == 0 {
		l.market.empty(l.feeds[l.dice.IntN(len(l.feeds))], []string{"remove", "omit"}[l.dice.IntN(2)])
	}
	l.market.stir([]int{0, 4, 15}[l.dice.IntN(3)], now, evening)
	for range l.dice.IntN(4) {
		l.sleep(time.Now().Add(time.Duration(l.dice.Int64N(int64(time.Until(evening)/2) + 1))))
		l.execute("sync", l.draw())
	}
	l.sleep(evening)
}

func (l *life) sleep(until time.Time) { time.Sleep(time.Until(until)) }

// execute executes one command under a plan and checks the result.
func (l *life) execute(command string, p plan) {
	if l.t.Failed() {
		return
	}
	l.t.Helper()
	l.runs++
	n := newNetwork(l.seed+uint64(l.runs)<<40, l.listener)
	n.beat, n.zip, n.slow = l.beat, l.zip, l.dice.IntN(4)
	n.fault = func(_ site, dice *rand.Rand) fault {
		if dice.Float64() >= p.faults {
			return none
		}
		return anyFaults[dice.IntN(len(anyFaults))]
	}
	n.says = l.says
	if p.lost = l.loses(p); p.lost {
		p.accept = false // the user would accept that all deals are gone
	}
	l.market.lose(p.lost)
	l.market.stir(p.unrest, time.Now(), time.Now().Add(60*n.beat))
	l.market.ambush(p.unrest)
	s := &span{command: command, from: time.Now(), skew: p.skew, complete: maps.Clone(l.complete)}
	result, err := l.run(command, p, n)
	s.to, s.calls, s.accept = time.Now(), n.calls, p.accept
	l.market.ambush(0)
	l.market.lose(false)
	if errors.Is(err, context.Canceled) {
		err = context.Canceled // which feed reports first is random
	}
	l.note("%s from %s to %s, %+v: %v", command, s.from.Format(clockForm), s.to.Format(clockForm), p, err)
	for _, line := range n.trace {
		l.diary = append(l.diary, "    "+line)
	}
	l.checkResult(s, p, result, err)
	l.wantChecks(result)
}

// loses says whether the API has lost its data during the next execution. The lake must have deals of each feed, or an
// empty list would be right.
func (l *life) loses(p plan) bool {
	if p == (plan{accept: true, server: true}) || diceOf(l.seed, "lost", l.runs).IntN(8) > 0 {
		return false
	}
	return !slices.ContainsFunc(l.feeds, func(f api.Feed) bool { return len(l.ledger.live(f)) == 0 })
}

func (l *life) note(form string, args ...any) { l.diary = append(l.diary, fmt.Sprintf(form, args...)) }

// client returns a client on a network.
func (l *life) client(p plan, n *network) (*extract.Client, api.Base) {
	l.t.Helper()
	at, err := api.ParseBase(base)
	if err != nil {
		l.t.Fatal(err)
	}
	config := extract.Config{
		Base: at, ClientID: "demo", ClientSecret: api.NewSecret("demo"), PageSize: l.pageSize, Transport: n,
		Backoff: longestJitter, MaxBackoff: longestJitter,
	}
	client, err := extract.New(config)
	if err != nil {
		l.t.Fatal(err)
	}
	return client, at
}

// clock returns the time by the machine's clock.
func (p plan) clock() time.Time { return time.Now().Add(p.skew) }

// run executes a command.
func (l *life) run(command string, p plan, n *network) (*pull.Result, error) {
	client, at := l.client(p, n)
	ctx, cancel := context.WithCancel(l.t.Context())
	defer cancel()
	if p.cancel > 0 {
		defer time.AfterFunc(p.cancel, cancel).Stop()
	}
	var s store.Store = l.store
	if p.crash > 0 {
		s = &faultstore.Store{Store: l.store, FailAt: p.crash, Applied: p.applied}
	}
	cfg := pull.Config{
		Client: client, Base: at, Store: s, RunID: fmt.Sprintf("00000000-0000-7000-8000-%012d", l.runs),
		Clock: p.clock, SnapshotDate: p.day, ServerClock: p.server, Feeds: l.feeds, AcceptRemovals: p.accept, NoCatalog: !l.catalog,
		Deadline: p.ends, Workers: 1 + l.runs%2, OneByOne: true, Stretch: l.stretch,
		WorkDir: l.work, Version: "test", Memory: l.mem,
	}
	defer func() { n.close(); synctest.Wait() }()
	if command == "sync" {
		return pull.Sync(ctx, cfg)
	}
	return pull.Run(ctx, cfg)
}

// checkResult reads the lake and compares it with the market and with the execution's result. It compares the error
// with the plan.
func (l *life) checkResult(s *span, p plan, result *pull.Result, err error) {
	l.t.Helper()
	if err != nil {
		l.wantReason(s, p, err)
	}
	if p.lost {
		l.tally[s.command+" of an API without data"]++
	}
	opened, openErr := load.Open(l.t.Context(), l.store)
	if openErr != nil && !errors.Is(openErr, load.ErrNoLake) {
		l.t.Fatal(openErr)
	}
	log := opened.Log()
	before := l.ledger.clone()
	fresh, followErr := l.ledger.follow(log, l.store, l.mem)
	if followErr != nil {
		l.t.Error(followErr)
		return
	}
	l.wantHeads(opened)
	made := log.Number - before.commit
	commits := log.Commits
	if n := len(commits); made == 2 && commits[n-1].Command == "compact" { // many small files: the run has merged them
		made, commits = 1, commits[:n-1]
		l.tally["run compacted"]++
	}
	switch {
	case made > 1 || made < 0:
		l.t.Errorf("an execution made %d commits", made)
	case made == 0 && len(fresh) > 0:
		l.t.Errorf("%d versions came without a commit", len(fresh))
	case made == 0 && result != nil && result.Commit != 0, made == 1 && err == nil && (result == nil || result.Commit != commits[len(commits)-1].Number):
		l.t.Errorf("the result says commit %+v, the log %d", result, log.Number)
	case made == 1 && !log.KnownAt.After(before.known):
		l.t.Errorf("known at %s, not after the last one, %s", log.KnownAt, before.known)
	}
	j := &checker{t: l.t, market: l.market, store: l.store, mem: l.mem, oracle: tables(), pick: l.dice.IntN}
	switch {
	case made == 1:
		l.tally[s.command+" committed"]++
		l.checkCommit(j, s, p, log, &commits[len(commits)-1], before, fresh)
	case s.command == "run" && err == nil:
		l.t.Error("a run neither commits nor fails")
	case err == nil && result.Outcome == lake.OutcomeUnchanged:
		l.tally["sync without news"]++
		for i := range result.Feeds {
			if f := &result.Feeds[i]; f.Outcome == lake.OutcomeDone && !p.lost {
				j.feed(s, f.Feed, before, l.ledger)
			}
		}
	case err == nil:
		l.tally[s.command+" "+result.Outcome]++
	default:
		l.tally[s.command+" failed"]++
	}
}

func (l *life) checkCommit(j *checker, s *span, p plan, log *load.Log, commit *lake.Commit, before *ledger, fresh []*version) {
	l.t.Helper()
	done := map[api.Feed]bool{}
	for i := range commit.Feeds {
		f := &commit.Feeds[i]
		l.tally[s.command+" feed "+f.Outcome]++
		if f.Outcome != lake.OutcomeDone {
			l.wantFailed(f, p, before)
			continue
		}
		done[f.Feed] = true
		if p.lost {
			l.t.Errorf("%s is done, with %d removed, although the API has lost its data", f.Feed, f.Removed)
			continue
		}
		s.unproved = f.UnprovedAbsent
		l.tally["deals kept without evidence"] += len(f.UnprovedAbsent)
		l.tally["deals removed by an API that says "+string(l.says)] += int(f.Removed)
		j.feed(s, f.Feed, before, l.ledger)
		j.counts(f, fresh)
		if s.command == "run" {
			j.snapshot(log, f.Feed, f, commit.SnapshotDate, l.ledger)
			l.complete[f.Feed] = s.from
		}
	}
	for _, v := range fresh {
		if !done[v.feed()] {
			l.t.Errorf("%s is not done, but has a new version of deal %d", v.feed(), v.DealID)
		}
		if !v.KnownAt.Equal(commit.KnownAt.Time) || v.RunID != commit.RunID {
			l.t.Errorf("%s deal %d: known at %s by run %s, the commit is %s of %s", v.feed(), v.DealID, v.KnownAt, v.RunID, commit.KnownAt, commit.RunID)
		}
		if v.ObservedAt.After(commit.KnownAt.Time) {
			l.t.Errorf("%s deal %d: observed at %s, known at %s", v.feed(), v.DealID, v.ObservedAt, v.KnownAt)
		}
	}
}

// wantHeads compares the lake's own reading of its history with the ledger.
func (l *life) wantHeads(opened *load.Lake) {
	l.t.Helper()
	latest, err := opened.Latest(l.t.Context(), l.mem)
	if err != nil {
		l.t.Error(err)
		return
	}
	for feed, newest := range l.ledger.newest {
		if len(latest[feed]) != len(newest) {
			l.t.Errorf("%s: %d latest, history has %d deals", feed, len(latest[feed]), len(newest))
		}
		for id, v := range newest {
			if h := latest[feed][id]; h.Version != v.Version || h.Removed == v.live() {
				l.t.Errorf("%s deal %d: latest %+v, history %s", feed, id, h, describe(v))
			}
		}
	}
}

// wantReason checks that an execution failed for a reason in its plan.
func (l *life) wantReason(s *span, p plan, err error) {
	l.t.Helper()
	text := err.Error()
	last := l.ledger.known
	switch {
	case p.crash > 0 && errors.Is(err, faultstore.ErrInjected):
	case p.cancel > 0 && errors.Is(err, context.Canceled):
	case p.ends > 0 && errors.Is(err, pull.ErrDeadline):
	case errors.Is(err, pull.ErrClock) && (p.skew.Abs() > 10*time.Minute && !p.server || s.from.Add(min(p.skew, 0)).Before(last.Add(-9*time.Minute))):
	case strings.Contains(text, "the date of the last snapshot, or a later one") && p.skew != 0:
	case errors.Is(err, load.ErrNoLake) && s.command == "sync" && l.ledger.commit == 0:
	case errors.Is(err, pull.ErrNothingDone) && s.command == "sync":
	case errors.Is(err, pull.ErrFeedsFailed), errors.Is(err, pull.ErrFeedsHeld): // each feed has its own reason
	default:
		l.t.Errorf("it failed without need: %v", err)
	}
}

// wantFailed checks that a feed failed for a reason in the plan.
func (l *life) wantFailed(f *lake.FeedRun, p plan, before *ledger) {
	l.t.Helper()
	switch {
	case f.Outcome == lake.OutcomeHeld && !p.accept && (len(before.live(f.Feed)) > 10 || strings.Contains(f.Error, "the list is empty") && len(before.live(f.Feed)) > 0):
	case p.ends > 0 && strings.Contains(f.Error, "deadline"):
	case f.Outcome == lake.OutcomeSkipped:
	case strings.Contains(f.Error, "the list is not stable"):
	default:
		l.t.Errorf("%s %s without need: %s", f.Feed, f.Outcome, f.Error)
	}
}

// wantMarket checks, after a run without faults, that the lake equals the market and that its files are complete.
func (l *life) wantMarket() {
	l.t.Helper()
	opened, err := load.Open(l.t.Context(), l.store)
	if err != nil {
		l.t.Error(err)
		return
	}
	wantWholeFiles(l.t, opened.Log(), l.store)
	for _, feed := range l.feeds {
		if f := opened.Log().Commits[len(opened.Log().Commits)-1].Feed(feed); f == nil || f.Outcome != lake.OutcomeDone {
			l.t.Errorf("%s is not done after a quiet run: %+v", feed, f)
			continue
		}
		book := l.market.books[feed]
		for _, id := range book.ids {
			s, v, said := book.deals[id].now(), l.ledger.newest[feed][id], l.ledger.payload[feed][id]
			switch {
			case listedWhole(s) && (!v.live() || said.content != s.content):
				l.t.Errorf("%s deal %d: the market has %s, the lake %s", feed, id, stamp(s.content), describe(v))
			case v.live() && !s.there():
				l.t.Errorf("%s deal %d is nowhere, the lake has %s", feed, id, describe(v))
			case v.live() && s.readable() && said.content != s.content:
				l.t.Errorf("%s deal %d: by id the market has %s, the lake %s", feed, id, stamp(s.content), describe(v))
			}
		}
	}
}
