package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"dealflow/extract"
	"dealflow/internal/logs"
	"dealflow/internal/words"
	"dealflow/load"
	"dealflow/load/store"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
)

// heartbeat is how often a pull without a terminal says how far it is.
const heartbeat = 30 * time.Second

// progress shows the progress of a run. On a terminal it shows a live line for each feed. Otherwise it prints a line
// when a feed is done, for every wait of a second or more, and at each heartbeat for each feed that is being read. It
// is safe for concurrent use.
type progress struct {
	app   *app
	order []api.Feed
	bars  *mpb.Progress // nil without a terminal
	out   io.Writer     // where lines went before the bars
	feeds map[api.Feed]*feedBar
	stop  context.CancelFunc // of the heartbeat; nil for none
	done  chan struct{}      // the heartbeat has ended

	mu    sync.Mutex
	read  map[api.Feed]*reading // feeds that are being read
	ended bool
}

type feedBar struct {
	bar *mpb.Bar

	mu   sync.Mutex
	text string
}

// reading is a feed that is being read.
type reading struct {
	began time.Time
	last  extract.Progress
}

func newProgress(a *app, feeds []api.Feed) *progress {
	p := &progress{app: a, order: feeds, feeds: map[api.Feed]*feedBar{}, read: map[api.Feed]*reading{}}
	if !a.sink.Terminal || a.sink.JSON || a.settings.quiet {
		return p
	}
	p.bars = mpb.New(mpb.WithOutput(a.Stderr), mpb.WithWidth(2), mpb.WithAutoRefresh())
	p.out = a.sink.To(p.bars) // lines appear above the bars
	for _, feed := range feeds {
		b := &feedBar{text: "waiting"}
		b.bar = p.bars.New(0, mpb.SpinnerStyle(), mpb.BarFillerOnComplete("✓"),
			mpb.PrependDecorators(decor.Name(feed.String(), decor.WCSyncSpaceR)),
			mpb.AppendDecorators(decor.Any(func(decor.Statistics) string { return b.shown() })))
		p.feeds[feed] = b
	}
	return p
}

// beat starts the heartbeat: a line for each feed that is being read, whenever ticks says so, until end. sizes returns the
// number of deals that a feed will probably have; it is called once, at the first tick. beat must not be called twice.
func (p *progress) beat(ctx context.Context, ticks <-chan time.Time, sizes func(context.Context) map[api.Feed]int64) {
	ctx, p.stop = context.WithCancel(ctx)
	p.done = make(chan struct{})
	go func() {
		defer close(p.done)
		var expected map[api.Feed]int64
		for {
			select {
			case <-ctx.Done():
				return
			case now := <-ticks:
				if expected == nil {
					expected = sizes(ctx)
				}
				for _, feed := range p.order {
					p.sayReading(feed, now, expected[feed])
				}
			}
		}
	}()
}

// sayReading prints how far the reading of a feed is. size is the number of deals that it will probably have; 0 if it is
// not known.
func (p *progress) sayReading(feed api.Feed, now time.Time, size int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	r := p.read[feed]
	if r == nil {
		return
	}
	rate := 0.0
	if took := now.Sub(r.began).Seconds(); took > 0 {
		rate = math.Round(float64(r.last.Deals)/took*10) / 10
	}
	fields := []any{"feed", feed.String(), "phase", r.last.Phase, "deals", r.last.Deals, "pages", r.last.Pages, "deals_per_second", rate}
	text := fmt.Sprintf("%-18s %s: %d deals, %d pages, %.1f deals per second", feed, r.last.Phase, r.last.Deals, r.last.Pages, rate)
	if left := size - int64(r.last.Deals); left > 0 && rate > 0 && r.last.Phase == "walk" && r.last.Round == 1 {
		eta := time.Duration(float64(left)/rate) * time.Second
		fields = append(fields, "eta_seconds", int64(eta.Seconds()))
		text += fmt.Sprintf(", about %s left", words.Age(eta))
	}
	p.app.say().Info("progress", append(fields, logs.Text("%s", text))...)
}

// sizesOf returns the number of deals of each feed in its last snapshot. If they cannot be read, no size is known.
func sizesOf(ctx context.Context, s store.Store) map[api.Feed]int64 {
	sizes := map[api.Feed]int64{}
	l, err := load.Open(ctx, s)
	if err != nil {
		return sizes
	}
	for _, feed := range api.Feeds() {
		if last := l.Log().LastSnapshot(feed); last != nil {
			sizes[feed] = last.Feed(feed).Deals
		}
	}
	return sizes
}

func (b *feedBar) show(text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.text = text
}

func (b *feedBar) shown() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text
}

// page is the callback for extract's progress.
func (p *progress) page(now extract.Progress) {
	p.record(now)
	if bar := p.feeds[now.Feed]; bar != nil {
		text := fmt.Sprintf("%s %d: %d pages, %d deals, %s", now.Phase, now.Round, now.Pages, now.Deals, words.Size(now.Bytes))
		if now.Wait > 0 {
			text = fmt.Sprintf("waiting %s: %s", now.Wait.Round(time.Second), now.Reason)
		}
		bar.show(text)
		return
	}
	if now.Wait >= time.Second && !p.app.settings.verbose { // with --verbose, the request itself says so
		who := now.Feed.String()
		if now.Feed == (api.Feed{}) {
			who = now.Phase
		}
		p.app.say().Info("waiting", "feed", who, "phase", now.Phase, "seconds", now.Wait.Seconds(), "reason", now.Reason,
			logs.Text("%-18s waits %s: %s", who, now.Wait.Round(time.Second), now.Reason))
	}
}

// record records what the heartbeat says of a feed.
func (p *progress) record(now extract.Progress) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !slices.Contains(p.order, now.Feed) {
		return
	}
	r := p.read[now.Feed]
	if r == nil {
		r = &reading{began: p.app.Now()}
		p.read[now.Feed] = r
	}
	r.last = now
}

// feedDone is the callback for a feed whose part of the run is done.
func (p *progress) feedDone(f lake.FeedRun) {
	p.mu.Lock()
	delete(p.read, f.Feed)
	p.mu.Unlock()
	text := fmt.Sprintf("%-7s %6d deals  +%d ~%d -%d  %d pages, %s", f.Outcome, f.Deals, f.Added+f.Reappeared, f.Changed, f.Removed, f.Pages, words.Size(f.Bytes))
	if f.Error != "" {
		text = fmt.Sprintf("%-7s %s", f.Outcome, words.Printable(f.Error))
	}
	if bar := p.feeds[f.Feed]; bar != nil {
		bar.show(text)
		bar.bar.SetTotal(1, true)
		return
	}
	fields := []any{
		"feed", f.Feed.String(), "outcome", f.Outcome, "deals", f.Deals, "new", f.Added + f.Reappeared, "changed", f.Changed, "removed", f.Removed,
		"pages", f.Pages, "bytes", f.Bytes, logs.Text("%-18s %s", f.Feed, text),
	}
	if f.Error != "" {
		fields = append(fields, "error", f.Error)
	}
	p.app.say().Info("feed done", fields...)
}

// end stops the heartbeat, and leaves the live lines on the terminal. It may be called more than once.
func (p *progress) end() {
	p.mu.Lock()
	ended := p.ended
	p.ended = true
	p.mu.Unlock()
	if ended {
		return
	}
	if p.stop != nil {
		p.stop()
		<-p.done
	}
	if p.bars == nil {
		return
	}
	p.app.sink.To(p.out)
	for _, b := range p.feeds {
		b.bar.Abort(false)
	}
	p.bars.Wait()
}
