package watch

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"dealflow/internal/exitcode"
	"dealflow/internal/watch/schedule"
	"dealflow/load/store"
	"dealflow/load/store/memstore"
	"dealflow/schemas/lake"
)

// office is a watch with commands of the test, in a bubble of testing/synctest: its time passes at once.
type office struct {
	cfg  Config
	said bytes.Buffer
	did  []string                                      // commands with their days and times
	code func(due schedule.Due) int                    // of a command; nil: 0
	does func(ctx context.Context, c schedule.Command) // before it ends; may be nil

	mu    sync.Mutex
	known Known
}

// set changes what the lake says.
func (o *office) set(k Known) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.known = k
}

func (o *office) get() Known {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.known
}

// pulled returns what a lake with one feed says of a run.
func pulled(began time.Time) Known {
	return Known{Has: true, Pulls: [][]Pull{{{Began: began}}}}
}

func newOffice() *office {
	o := &office{}
	o.cfg = Config{
		Plan: schedule.Plan{Zone: time.UTC, Run: schedule.TimeOfDay{Hour: 22}}, Store: new(memstore.Mem), Clock: time.Now, Limit: 6 * time.Hour, Notify: func(string) {},
		Presence: Presence{ID: "one", Owner: "here, process 1"}, Log: slog.New(slog.NewTextHandler(&o.said, nil)),
		Wait: func(ctx context.Context, d time.Duration) {
			timer := time.NewTimer(min(d, Tick))
			defer timer.Stop()
			select {
			case <-ctx.Done():
			case <-timer.C:
			}
		},
		Read: func(context.Context) (Known, error) { return o.get(), nil },
	}
	o.cfg.Execute = func(ctx context.Context, due schedule.Due) int {
		o.did = append(o.did, strings.TrimSpace(fmt.Sprintf("%s %s %s", due.Command, due.Slot.Day, time.Now().UTC().Format("02T15:04"))))
		if o.does != nil {
			o.does(ctx, due.Command)
		}
		code := 0
		if o.code != nil {
			code = o.code(due)
		}
		if due.Command == schedule.Run && (code == exitcode.Done || code == exitcode.Warnings) { // others have committed nothing
			o.set(pulled(o.cfg.Clock()))
		}
		return code
	}
	return o
}

// work lets the watch work for a time.
func (o *office) work(t *testing.T, d time.Duration) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	return New(o.cfg).Run(ctx)
}

func (o *office) want(t *testing.T, want ...string) {
	t.Helper()
	if !slices.Equal(o.did, want) {
		t.Errorf("got  %q\nwant %q\n%s", o.did, want, o.said.String())
	}
}

// The bubble's time begins at midnight of 2000-01-01, a Saturday.

// TestRetries lets runs fail with each kind of exit code, and checks when they are tried again.
func TestRetries(t *testing.T) {
	for _, c := range []struct {
		name  string
		codes []int // one for each attempt, then 0
		want  []string
	}{
		{"error", []int{1, 1, 1, 1, 1, 1}, []string{"01T00:00", "01T00:15", "01T00:45", "01T01:45", "01T03:45", "01T07:45", "01T11:45"}},
		{"partial", []int{3}, []string{"01T00:00", "01T00:15"}},
		{"another run won", []int{11, 13}, []string{"01T00:00", "01T00:15", "01T00:45"}},
		{"credentials", []int{4, 4}, []string{"01T00:00", "01T01:00", "01T03:00"}},
		{"hold", []int{5}, []string{"01T00:00"}},
		{"held feed", []int{6}, []string{"01T00:00"}},
		{"deadline", []int{12}, []string{"01T00:00"}},
		{"warnings", []int{9}, []string{"01T00:00"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := newOffice()
				o.code = func(schedule.Due) int {
					if n := len(o.did); n <= len(c.codes) {
						return c.codes[n-1]
					}
					return 0
				}
				if err := o.work(t, 21*time.Hour); err != nil {
					t.Fatal(err)
				}
				var want []string
				for _, at := range c.want {
					want = append(want, "run 2000-01-01 "+at)
				}
				o.want(t, want...)
			})
		})
	}
}

// TestOutage checks that a run which failed is tried as soon as a sync finds that an outage is over, and that a wrong
// password is not tried every five minutes.
func TestOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOffice()
		o.cfg.Plan.Sync = 5 * time.Minute
		o.set(pulled(time.Now().Add(-2 * time.Hour)))
		from, to := time.Now().Add(22*time.Hour), time.Now().Add(25*time.Hour+7*time.Minute)
		o.code = func(schedule.Due) int {
			if now := time.Now(); now.Before(from) || now.After(to) {
				return 0
			}
			return 1
		}
		if err := o.work(t, 26*time.Hour); err != nil {
			t.Fatal(err)
		}
		runs := slices.DeleteFunc(slices.Clone(o.did), func(line string) bool { return !strings.HasPrefix(line, "run ") })
		if want := []string{"run 2000-01-01 01T22:00", "run 2000-01-01 01T22:15", "run 2000-01-01 01T22:45", "run 2000-01-01 01T23:45", "run 2000-01-01 02T01:10"}; !slices.Equal(runs, want) {
			t.Errorf("got %q, want %q: the last one right after the first sync that succeeded", runs, want)
		}

		o = newOffice()
		o.cfg.Plan.Sync = 5 * time.Minute
		o.set(pulled(time.Now()))
		o.code = func(schedule.Due) int { return 4 }
		if err := o.work(t, 12*time.Hour); err != nil {
			t.Fatal(err)
		}
		if len(o.did) < 3 || len(o.did) > 8 {
			t.Errorf("credentials that are refused were tried %d times in 12 hours, want a few: %q", len(o.did), o.did)
		}
	})
}

// TestStop stops a watch in the middle of a command, which is then not done, and during a wait.
func TestStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOffice()
		o.set(Known{Has: true})
		cancelled := false
		o.does = func(ctx context.Context, _ schedule.Command) {
			<-ctx.Done()
			cancelled = true
		}
		o.code = func(schedule.Due) int { return 130 }
		if err := o.work(t, time.Hour); err != nil || !cancelled {
			t.Fatalf("%v, cancelled %t; want a command that was cancelled, and no error", err, cancelled)
		}
		p, state, err := ReadPresence(t.Context(), o.cfg.Store, time.Now())
		if err != nil || state != Stopped || len(p.Last) != 0 || p.AtWork != "" {
			t.Errorf("the lake has %s, %+v, %v; want a watch that was stopped and did nothing", state, p, err)
		}
	})
}

// TestStuck gives a command more time than it may take. One that ends when it is cancelled is tried again; one that does
// not ends the watch.
func TestStuck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOffice()
		o.does = func(ctx context.Context, _ schedule.Command) {
			if len(o.did) == 1 {
				<-ctx.Done()
			}
		}
		o.code = func(schedule.Due) int {
			if len(o.did) == 1 {
				return 130
			}
			return 0
		}
		if err := o.work(t, 10*time.Hour); err != nil {
			t.Fatal(err)
		}
		o.want(t, "run 2000-01-01 01T00:00", "run 2000-01-01 01T06:15")
		if !strings.Contains(o.said.String(), "it has taken too long") {
			t.Errorf("it did not say that the command was cancelled:\n%s", o.said.String())
		}

		o = newOffice()
		ends := make(chan struct{})
		o.does = func(context.Context, schedule.Command) { <-ends }
		if err := o.work(t, 24*time.Hour); !errors.Is(err, ErrStuck) {
			t.Errorf("got %v, want ErrStuck", err)
		}
		close(ends)
	})
}

// TestGone takes the lake away from a watch that has seen it: no run begins another one in its place.
func TestGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOffice()
		o.set(pulled(time.Now()))
		there := o.get()
		gone := time.AfterFunc(21*time.Hour, func() { o.set(Known{}) })
		back := time.AfterFunc(23*time.Hour+20*time.Minute, func() { o.set(there) })
		defer gone.Stop()
		defer back.Stop()
		if err := o.work(t, 30*time.Hour); err != nil {
			t.Fatal(err)
		}
		o.want(t, "run 2000-01-01 01T23:30")
		if !strings.Contains(o.said.String(), "the lake is gone") {
			t.Errorf("it did not say that the lake is gone:\n%s", o.said.String())
		}
	})
}

// TestByHand has another process run the night: the watch does not. One that has failed does not count.
func TestByHand(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOffice()
		o.cfg.Plan.Jitter, o.cfg.Plan.Seed = time.Hour, "lake"
		o.set(pulled(time.Now()))
		hand := time.AfterFunc(22*time.Hour+time.Second, func() { o.set(pulled(time.Now())) })
		defer hand.Stop()
		if err := o.work(t, 30*time.Hour); err != nil {
			t.Fatal(err)
		}
		o.want(t)
	})
}

// TestPresence lets two watches begin on one lake. Only one works; when it is silent for too long, the other takes over,
// and the first one ends as soon as it sees that.
func TestPresence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := new(memstore.Mem)
		begin := func(id string, d time.Duration) (*office, chan error) {
			o, done := newOffice(), make(chan error, 1)
			o.cfg.Store, o.cfg.Presence = s, Presence{ID: id, Owner: id + ", process 1"}
			o.set(pulled(time.Now()))
			go func() { done <- o.work(t, d) }()
			synctest.Wait()
			return o, done
		}
		_, first := begin("first", 4*time.Hour)
		if err := CheckFree(t.Context(), s, time.Now()); !errors.Is(err, ErrBusy) {
			t.Errorf("got %v, want ErrBusy", err)
		}
		if _, second := begin("second", time.Hour); !errors.Is(<-second, ErrBusy) {
			t.Error("the second watch began")
		}
		time.Sleep(3*time.Hour + time.Minute) // it stays: its object is put again
		if p, state, err := ReadPresence(t.Context(), s, time.Now()); err != nil || state != Alive || p.ID != "first" {
			t.Errorf("after three hours the lake has %s of %+v, %v", state, p, err)
		}
		// The machine of the first one sleeps, here: its object is old.
		p, _, err := ReadPresence(t.Context(), s, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		p.ExpiresAt = lake.At(time.Now().Add(-time.Second))
		data, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Put(t.Context(), lake.WatchKey, bytes.NewReader(data), store.Replace); err != nil {
			t.Fatal(err)
		}
		_, third := begin("third", time.Hour)
		if err := <-first; !errors.Is(err, ErrBusy) {
			t.Errorf("the first watch ends with %v, want ErrBusy", err)
		}
		if err := <-third; err != nil {
			t.Errorf("the one that took over ends with %v", err)
		}
		if p, state, _ := ReadPresence(t.Context(), s, time.Now()); state != Stopped || p.ID != "third" {
			t.Errorf("in the end the lake has %s of %s", state, p.ID)
		}
	})
}

// TestReadPresence checks what objects mean that no sound watch has put.
func TestReadPresence(t *testing.T) {
	now := time.Date(2026, 1, 7, 22, 0, 0, 0, time.UTC)
	for text, want := range map[string]State{
		``: Absent, `[]`: Absent, `{"format_version":2,"expires_at":"2026-01-07T22:10:00Z"}`: Absent,
		`{"format_version":1,"expires_at":"2026-01-07T22:10:00Z"}`:                                Alive,
		`{"format_version":1,"expires_at":"2026-01-07T22:00:00Z"}`:                                Silent,
		`{"format_version":1,"expires_at":"2027-01-07T22:00:00Z"}`:                                Silent, // its clock is wrong
		`{"format_version":1,"expires_at":"2026-01-07T22:10:00Z","ended":"2026-01-07T21:00:00Z"}`: Stopped,
	} {
		s := new(memstore.Mem)
		if err := s.Put(t.Context(), lake.WatchKey, strings.NewReader(text), store.Replace); err != nil {
			t.Fatal(err)
		}
		if _, got, err := ReadPresence(t.Context(), s, now); err != nil || got != want {
			t.Errorf("%s: got %s, %v, want %s", text, got, err, want)
		}
	}
}

// failing is a store that fails, or does not answer.
type failing struct {
	store.Store
	down, silent atomic.Bool
	hung         atomic.Pointer[chan struct{}] // a put waits until it is closed, also after its context has ended
}

func (f *failing) Put(ctx context.Context, key string, body io.ReadSeeker, mode store.PutMode) error {
	if hung := f.hung.Load(); hung != nil {
		<-*hung
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	if f.silent.Load() {
		<-ctx.Done()
		return ctx.Err()
	}
	if f.down.Load() {
		return errors.New("down")
	}
	return f.Store.Put(ctx, key, body, mode)
}

// TestSilentStore lets the store fail and then not answer: the watch works on, and warns once for each.
func TestSilentStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, s := newOffice(), &failing{Store: new(memstore.Mem)}
		o.cfg.Store = s
		o.set(pulled(time.Now()))
		o.cfg.Plan.Sync = time.Hour
		for after, change := range map[time.Duration]func(){
			61 * time.Minute: func() { s.down.Store(true) }, 121 * time.Minute: func() { s.down.Store(false) }, 181 * time.Minute: func() { s.silent.Store(true) }, 241 * time.Minute: func() { s.silent.Store(false) },
		} {
			timer := time.AfterFunc(after, change)
			defer timer.Stop()
		}
		if err := o.work(t, 6*time.Hour-time.Minute); err != nil {
			t.Fatal(err)
		}
		if warned := strings.Count(o.said.String(), "could not be told"); len(o.did) != 6 || warned != 2 {
			t.Errorf("%d syncs and %d warnings, want 6 and 2:\n%s", len(o.did), warned, o.said.String())
		}
	})
}

// TestHungPut lets one put of the watch's object hang for half a minute. The next one is made as soon as the store has answered,
// also if the watch ends: no other watch may take this one for silent, and none has to wait for one that has ended.
func TestHungPut(t *testing.T) {
	for _, c := range []struct {
		name   string
		worked time.Duration
		want   State
		beat   time.Duration // after the bubble's start, at least
	}{
		{"at work", 9 * time.Minute, Alive, 5*time.Minute + 30*time.Second},
		{"at the end", 5*time.Minute + 25*time.Second, Stopped, 5*time.Minute + 30*time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o, s, release := newOffice(), &failing{Store: new(memstore.Mem)}, make(chan struct{})
				o.cfg.Store = s
				o.set(pulled(time.Now()))
				start := time.Now()
				hang := time.AfterFunc(4*time.Minute+59*time.Second, func() { s.hung.Store(&release) })
				well := time.AfterFunc(5*time.Minute+30*time.Second, func() {
					s.hung.Store(nil)
					close(release)
				})
				defer hang.Stop()
				defer well.Stop()
				done := make(chan error, 1)
				go func() { done <- o.work(t, c.worked) }()
				time.Sleep(8 * time.Minute)
				synctest.Wait()
				p, state, err := ReadPresence(t.Context(), s, time.Now())
				if err != nil || state != c.want || p.Beat.Before(start.Add(c.beat)) {
					t.Errorf("%s, put at %s, %v; want %s, and an object that was put after the store had answered", state, p.Beat, err, c.want)
				}
				if err := <-done; err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// TestPolicyIsDocumented compares what is tried again with the table of the page about schedules.
func TestPolicyIsDocumented(t *testing.T) {
	page, err := os.ReadFile("../../docs/how-to/schedule.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(page), "<!-- watch -->")
	table, _, _ = strings.Cut(table, "<!-- /watch -->")
	rows := regexp.MustCompile(`(?m)^\| ([0-9, ]+) \| (\w+)`).FindAllStringSubmatch(table, -1)
	documented := map[string]string{}
	for _, row := range rows {
		for _, code := range strings.Split(row[1], ", ") {
			documented[strings.TrimSpace(code)] = row[2]
		}
	}
	for _, code := range []int{0, 1, 2, 3, 4, 5, 6, 9, 11, 12, 13, 130} {
		want := "again"
		if Settled(schedule.Run, code) {
			want = "settled"
		}
		if got := documented[fmt.Sprint(code)]; got != want {
			t.Errorf("exit code %d of a run: the page says %q, want %q", code, got, want)
		}
	}
}

// TestAsleep lets the machine sleep over three nights. The last of them is made up for, and the lake has the days of the
// others.
func TestAsleep(t *testing.T) {
	for code, want := range map[int][]string{
		exitcode.Done:    {"run 2000-01-03 01T20:00"}, // by the timers, which do not count the sleep
		exitcode.Partial: {"run 2000-01-03 01T20:00", "run 2000-01-03 01T20:15", "run 2000-01-03 01T20:45", "run 2000-01-03 01T21:45"},
	} {
		asleep(t, code, want)
	}
}

func asleep(t *testing.T, code int, want []string) {
	synctest.Test(t, func(t *testing.T) {
		o := newOffice()
		o.code = func(schedule.Due) int { return code }
		o.set(pulled(time.Now()))
		var slept atomic.Int64
		o.cfg.Clock = func() time.Time { return time.Now().Add(time.Duration(slept.Load())) }
		asleep := time.AfterFunc(20*time.Hour, func() { slept.Store(int64(61 * time.Hour)) }) // until the 4th, 09:00
		defer asleep.Stop()
		if err := o.work(t, 22*time.Hour); err != nil {
			t.Fatal(err)
		}
		o.want(t, want...)
		p, _, err := ReadPresence(t.Context(), o.cfg.Store, o.cfg.Clock())
		if err != nil || !slices.Equal(p.Missed, []string{"2000-01-01", "2000-01-02"}) {
			t.Errorf("missed nights: got %q, %v; want those of the first and the second", p.Missed, err)
		}
		if !strings.Contains(o.said.String(), "nights were missed") {
			t.Errorf("it did not say so:\n%s", o.said.String())
		}
	})
}

// TestRestart lets a watch end, and another one begin. It knows what the lake does not say: that a night is as complete as it
// gets, and which nights were tried.
func TestRestart(t *testing.T) {
	for _, c := range []struct {
		name          string
		code          int
		stopped       time.Duration // after the bubble's start
		made          []Pull        // by hand, before the second watch
		want          []string
		missed, tried []string
	}{
		{"a night that is late", exitcode.Late, 23 * time.Hour, nil, nil, nil, nil},
		{"a night that failed", 1, 23 * time.Hour, nil, []string{"run 2000-01-01 01T23:00"}, nil, nil},
		{"nights that failed, then a run by hand", 1, 60 * time.Hour, []Pull{{Began: time.Date(2000, 1, 3, 12, 0, 0, 0, time.UTC), Day: "2000-01-03"}}, nil,
			[]string{"2000-01-01", "2000-01-02"}, []string{"2000-01-01", "2000-01-02"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				first := newOffice()
				first.set(pulled(time.Now()))
				first.code = func(schedule.Due) int { return c.code }
				if err := first.work(t, c.stopped); err != nil {
					t.Fatal(err)
				}
				second, known := newOffice(), first.get()
				second.cfg.Store, second.cfg.Presence.ID = first.cfg.Store, "two"
				if c.made != nil {
					known.Pulls, known.Day = [][]Pull{append(known.Pulls[0], c.made...)}, c.made[0].Day
				}
				second.set(known)
				if err := second.work(t, time.Hour); err != nil {
					t.Fatal(err)
				}
				second.want(t, c.want...)
				p, _, err := ReadPresence(t.Context(), first.cfg.Store, time.Now())
				if err != nil || !slices.Equal(p.Missed, c.missed) || !slices.Equal(p.Tried, c.tried) {
					t.Errorf("%v, missed %q, tried %q; want %q and %q", err, p.Missed, p.Tried, c.missed, c.tried)
				}
			})
		})
	}
}

// TestHungStore lets the store hang when the watch reads what was done. The command is carried out all the same: what
// becomes of it is recorded as that of any other.
func TestHungStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, release := newOffice(), make(chan struct{})
		o.set(pulled(time.Now()))
		read, hangs := o.cfg.Read, time.Now().Add(time.Hour)
		o.cfg.Read = func(ctx context.Context) (Known, error) {
			if time.Now().After(hangs) {
				<-release
			}
			return read(ctx)
		}
		if err := o.work(t, 23*time.Hour); err != nil {
			t.Fatal(err)
		}
		close(release)
		o.want(t, "run 2000-01-01 01T22:01")
	})
}
