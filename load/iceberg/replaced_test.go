package iceberg_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"dealflow/internal/maintain"
	"dealflow/internal/testkit/world"
	"dealflow/load"
	"dealflow/load/iceberg"
	"dealflow/load/store"
	"dealflow/schemas/lake"
)

// refusing is a store that refuses to put objects whose keys end in a certain way.
type refusing struct {
	store.Store
	end string
}

var errRefused = errors.New("not allowed to put")

func (s refusing) Put(ctx context.Context, key string, body io.ReadSeeker, mode store.PutMode) error {
	if strings.HasSuffix(key, s.end) {
		return errRefused
	}
	return s.Store.Put(ctx, key, body, mode)
}

// publishThrough publishes a lake's tables through a store.
func publishThrough(t *testing.T, w *world.World, s store.Store) (*iceberg.Result, error) {
	t.Helper()
	l, err := load.Open(t.Context(), w.Store)
	if err != nil {
		t.Fatal(err)
	}
	return iceberg.Publish(t.Context(), l.Through(s), iceberg.Config{Clock: w.Clock.Now})
}

// needs returns the keys of the objects and data files that the tables need to which the hints lead.
func (r read) needs() (keys []string) {
	r.t.Helper()
	for _, table := range iceberg.Tables() {
		for _, s := range r.table(table).Snapshots {
			keys = append(keys, r.key(s.List))
			for _, manifest := range r.records(r.key(s.List)) {
				keys = append(keys, r.key(manifest["manifest_path"].(string)))
			}
			f := r.files(s)
			keys = append(append(keys, f.data...), f.deletes...)
		}
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// TestExpireKeepsWhatWasServed has publications fail, and tables being replaced or removed long after. expire runs soon after that: all
// that readers were led to until then exists for another grace.
func TestExpireKeepsWhatWasServed(t *testing.T) {
	t.Parallel()
	const hint = "/metadata/version-hint.text"
	first, last := iceberg.Tables()[0], iceberg.Tables()[len(iceberg.Tables())-1]
	for name, c := range map[string]struct {
		refused string // end of the keys that the first publication after v1 cannot put
		news    bool   // a commit comes before the next publication
		off     bool   // the tables are removed, then published again
	}{
		"nothing failed":                          {},
		"before what is published":                {refused: "/published.json"},
		"before what is published, then a commit": {refused: "/published.json", news: true},
		"before the hints":                        {refused: hint, news: true},
		"before the first hint":                   {refused: first.Namespace + "/" + first.Name + hint},
		"before the last hint":                    {refused: last.Namespace + "/" + last.Name + hint},
		"removed":                                 {off: true},
		"removed after hints stayed behind":       {off: true, refused: hint},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, b := world.NewBook(t)
			s := world.NewDatedStore(w.Clock.Now)
			w.Store = s
			b.WriteAll(world.Priced, 1, 12, `"message":"A","banks":[{"name":"one"}]`)
			b.WriteAll(world.Expected, 1, 3, "")
			for day := range 2 {
				night(t, w, b, day)
			}
			turn(t, w, on)
			oldest := newRead(t, s).needs()
			quiet := func(c *maintain.Config) { c.NoCatalog = true }
			settings := func(on bool) {
				t.Helper()
				_, now, err := iceberg.IsOn(t.Context(), w.Lake(t))
				if now.On = on; err != nil || iceberg.WriteSettings(t.Context(), s, now) != nil {
					t.Fatal(err)
				}
			}
			settings(false) // so that nothing publishes
			if _, err := maintain.Compact(t.Context(), w.Upkeep(t, quiet)); err != nil {
				t.Fatal(err)
			}
			if c.refused != "" {
				if _, err := publishThrough(t, w, refusing{s, c.refused}); !errors.Is(err, errRefused) {
					t.Fatalf("got %v, want the put to be refused", err)
				}
			}
			expire := func() (keys []string) {
				t.Helper()
				if _, err := w.Expire(t, maintain.Retention{Days: 400}, true, quiet); err != nil {
					t.Fatal(err)
				}
				return world.Keys(t, s)
			}
			absent := func(needs, exist []string) []string {
				return slices.DeleteFunc(slices.Clone(needs), func(key string) bool { return slices.Contains(exist, key) })
			}
			w.Later(8 * 24 * time.Hour)
			if c.news {
				night(t, w, b, 10)
			}
			served := newRead(t, s).needs()
			if gone := absent(served, expire()); len(gone) > 0 {
				t.Errorf("%q are gone before they were replaced", gone)
			}
			newRead(t, s).wantComplete()
			version, err := iceberg.ReadPublished(t.Context(), s)
			if err != nil {
				t.Fatal(err)
			}
			if c.off {
				turn(t, w, off)
			} else if _, err := publishThrough(t, w, s); err != nil {
				t.Fatal(err)
			}
			w.Later(time.Minute)
			if gone := absent(served, expire()); len(gone) > 0 {
				t.Errorf("%q are gone a minute after they were replaced", gone)
			}
			if c.off {
				turn(t, w, on)
				settings(false)
				if gone := absent(served, expire()); len(gone) > 0 {
					t.Errorf("%q are gone after the tables were published again", gone)
				}
				if again, err := iceberg.ReadPublished(t.Context(), s); err != nil || again.Tables[0].Version <= version.Tables[0].Version {
					t.Errorf("version %d, %v after the tables were removed, want one after %d", again.Tables[0].Version, err, version.Tables[0].Version)
				}
			}
			w.Later(8 * 24 * time.Hour)
			if exist := expire(); len(absent(oldest, exist)) == 0 || slices.ContainsFunc(exist, func(key string) bool { return strings.HasPrefix(key, lake.IcebergPrefix+"replaced/") }) {
				t.Error("all that was replaced exists after the grace, or is still said to be replaced")
			}
			newRead(t, s).wantComplete()
		})
	}
}

// overtaken is a store through which one publication puts metadata, while another command publishes.
type overtaken struct {
	store.Store
	meanwhile func()
}

func (s *overtaken) Put(ctx context.Context, key string, body io.ReadSeeker, mode store.PutMode) error {
	if do := s.meanwhile; do != nil && strings.HasSuffix(key, ".zst") {
		s.meanwhile = nil
		do()
	}
	return s.Store.Put(ctx, key, body, mode)
}

// TestOvertaken publishes while another command publishes or removes the tables, in stores with tags and without. A later
// commit stays published, and so do its hints; over anything else a publication fails.
func TestOvertaken(t *testing.T) {
	t.Parallel()
	for name, gone := range map[string]bool{"a later commit": false, "removed": true} {
		for _, tags := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, tags %t", name, tags), func(t *testing.T) {
				t.Parallel()
				w, b := removedNights(t)
				for _, on := range []bool{false, true} { // so that the tables lack a commit
					if err := iceberg.WriteSettings(t.Context(), w.Store, iceberg.Settings{On: on}); err != nil {
						t.Fatal(err)
					}
					if !on {
						night(t, w, b, 4)
					}
				}
				l := w.Lake(t)
				s := &overtaken{Store: w.Store, meanwhile: func() {
					if gone {
						turn(t, w, off)
						return
					}
					night(t, w, b, 5)
				}}
				slow := store.Store(s)
				if tags {
					slow = struct {
						*overtaken
						store.Replacer
					}{s, w.Store.(store.Replacer)}
				}
				result, err := iceberg.Publish(t.Context(), l.Through(slow), iceberg.Config{Clock: w.Clock.Now})
				if s.meanwhile != nil || result != nil || errors.Is(err, store.ErrChanged) != gone || (err != nil) != gone {
					t.Errorf("got %+v, %v; want nothing published, and an error: %t", result, err, gone)
				}
				published, err := iceberg.ReadPublished(t.Context(), w.Store)
				if err != nil || (published == nil) != gone || !gone && published.Number != w.Log(t).Number {
					t.Errorf("%+v, %v is published, want the newest commit, or nothing: %t", published, err, gone)
				}
				if !gone {
					newRead(t, w.Store).wantEqual(w)
				}
			})
		}
	}
}
