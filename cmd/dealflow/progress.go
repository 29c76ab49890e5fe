package main

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"dealflow/extract"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
)

// progress shows the progress of a run. On a terminal it shows a live line for each feed. Otherwise it prints a line
// when a feed is done, and for every wait of a second or more. It is safe for concurrent use.
type progress struct {
	out   io.Writer
	bars  *mpb.Progress
	feeds map[api.Feed]*feedBar

	mu    sync.Mutex
	ended bool
}

type feedBar struct {
	bar *mpb.Bar

	mu   sync.Mutex
	text string
}

func newProgress(out io.Writer, feeds []api.Feed) *progress {
	p := &progress{out: out, feeds: map[api.Feed]*feedBar{}}
	if !isTerminal(out) {
		return p
	}
	p.bars = mpb.New(mpb.WithOutput(out), mpb.WithWidth(2), mpb.WithAutoRefresh())
	for _, feed := range feeds {
		b := &feedBar{text: "waiting"}
		b.bar = p.bars.New(0, mpb.SpinnerStyle(), mpb.BarFillerOnComplete("✓"),
			mpb.PrependDecorators(decor.Name(feed.String(), decor.WCSyncSpaceR)),
			mpb.AppendDecorators(decor.Any(func(decor.Statistics) string { return b.shown() })))
		p.feeds[feed] = b
	}
	return p
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
	if bar := p.feeds[now.Feed]; bar != nil {
		text := fmt.Sprintf("%s %d: %d pages, %d deals, %s", now.Phase, now.Round, now.Pages, now.Deals, size(now.Bytes))
		if now.Wait > 0 {
			text = fmt.Sprintf("waiting %s: %s", now.Wait.Round(time.Second), now.Reason)
		}
		bar.show(text)
		return
	}
	if now.Wait >= time.Second {
		who := now.Feed.String()
		if now.Feed == (api.Feed{}) {
			who = now.Phase
		}
		p.line("%-18s waits %s: %s", who, now.Wait.Round(time.Second), now.Reason)
	}
}

// feedDone is the callback for a feed whose part of the run is done.
func (p *progress) feedDone(f lake.FeedRun) {
	text := fmt.Sprintf("%-7s %6d deals  +%d ~%d -%d  %d pages, %s", f.Outcome, f.Deals, f.Added+f.Reappeared, f.Changed, f.Removed, f.Pages, size(f.Bytes))
	if f.Error != "" {
		text = fmt.Sprintf("%-7s %s", f.Outcome, printable(f.Error))
	}
	if bar := p.feeds[f.Feed]; bar != nil {
		bar.show(text)
		bar.bar.SetTotal(1, true)
		return
	}
	p.line("%-18s %s", f.Feed, text)
}

func (p *progress) line(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	fmt.Fprintf(p.out, format+"\n", args...)
}

// end stops updating the lines and leaves them on the terminal. It may be called more than once.
func (p *progress) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bars == nil || p.ended {
		return
	}
	p.ended = true
	for _, b := range p.feeds {
		b.bar.Abort(false)
	}
	p.bars.Wait()
}
