package transfer_test

import (
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"dealflow/internal/maintain"
	"dealflow/internal/testkit"
	"dealflow/internal/testkit/s3test"
	"dealflow/internal/testkit/world"
	"dealflow/load"
	"dealflow/load/store"
	"dealflow/load/store/faultstore"
	"dealflow/load/store/memstore"
	"dealflow/load/store/storetest"
	"dealflow/load/transfer"
	"dealflow/schemas/lake"
)

// copyTo copies a lake, or ends the test.
func copyTo(t *testing.T, from, to store.Store) *transfer.Result {
	t.Helper()
	result, err := transfer.Copy(t.Context(), transfer.Config{From: from, To: to, Memory: testkit.Allocator(t)})
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// placesOwn drops what belongs to one place: a copy has its own.
func placesOwn(objects map[string]string) map[string]string {
	withoutDerived(objects)
	for key := range objects {
		if key == lake.BegunKey || key == lake.CatalogKey || strings.HasPrefix(key, lake.HeldPrefix) {
			delete(objects, key)
		}
	}
	return objects
}

// wantNoHalfLake checks that what a reader finds in a store is no lake yet, a refusal because a commit is missing, or a
// lake with all files of its newest commit. A lake that has commits after the newest one that a reader finds must refuse a
// writer: its next commit would begin a second history.
func wantNoHalfLake(t *testing.T, s store.Store, what string) {
	t.Helper()
	l, err := load.Open(t.Context(), s)
	if err != nil {
		hole := strings.Contains(err.Error(), "is missing, but commit") // what putCommits says of its last two puts
		if _, first := contents(t, s)[lake.CommitKey(1)]; first && !hole {
			t.Errorf("%s: there is a first commit, but %v", what, err)
		}
		return
	}
	keys := world.Keys(t, s)
	for _, file := range l.Log().AllFiles() {
		if !slices.Contains(keys, file.Path) {
			t.Errorf("%s: a reader sees commit %d, which names %s, and that is not there", what, l.Log().Number, file.Path)
		}
	}
	var newest int64
	for _, key := range keys {
		if n, ok := lake.CommitNumber(key); ok && strings.HasPrefix(key, lake.CommitsPrefix) {
			newest = max(newest, n)
		}
	}
	if newest == l.Log().Number {
		return
	}
	session, _, err := l.Start(t.Context(), load.SessionConfig{
		RunID: "r", Command: "run", Clock: time.Now, WorkDir: t.TempDir(), Memory: testkit.Allocator(t), Log: slog.New(slog.DiscardHandler),
	})
	if err == nil {
		t.Errorf("%s: a writer may begin after commit %d, but there is a commit %d (%v)", what, l.Log().Number, newest, session.Close(t.Context()))
		return
	}
	for _, want := range []string{"has not finished", "again", lake.CommitKey(l.Log().Number + 1), lake.CommitKey(newest), lake.BegunKey} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%s: a writer is refused with %q, want %q in it", what, err, want)
		}
	}
}

// lose deletes all objects of a store.
func lose(t *testing.T, s store.Store) {
	t.Helper()
	if err := s.Delete(t.Context(), world.Keys(t, s)...); err != nil {
		t.Fatal(err)
	}
}

// TestDisaster copies a lake each night, loses it, copies the copy back, and goes on: every answer as of every instant
// is as it was, and the nights after are those that the lost lake would have had.
func TestDisaster(t *testing.T) {
	testkit.Long(t)
	t.Parallel()
	w, b := world.NewBook(t)
	backup := world.Folder(t, filepath.Join(t.TempDir(), "backup"))
	feeds := world.Feeds(world.Priced, world.LoanPriced)
	for night := range 4 {
		b.WriteAll(world.Priced, int64(night), int64(night)+3, fmt.Sprintf(`"message":"night %d"`, night))
		b.WriteAll(world.LoanPriced, 1, 2, "")
		w.Night(t, night, feeds)
		if night == 1 {
			b.WriteBody(world.Priced, 77, `{"dealId":77,"dealId":77}`) // goes into the quarantine
			storetest.Overwrite(t, w.Store, lake.BankAliasesKey, []byte("alias,canonical\nBank A,Bank Alpha\n"))
		}
		storetest.Overwrite(t, w.Store, fmt.Sprintf("%s2026-01-0%d/a.run.end.json", lake.AttemptsPrefix, night+1), []byte("{}\n"))
		if night == 2 {
			w.MustCompact(t)
		}
		if result := copyTo(t, w.Store, backup); night == 0 && result.Added != result.Commits || result.Commits != w.Log(t).Number {
			t.Fatalf("night %d: %+v", night, result)
		}
	}
	world.WantSound(t, backup)
	answers, want := w.Answers(t), placesOwn(contents(t, w.Store))
	lose(t, w.Store)

	w.Store = world.Folder(t, filepath.Join(t.TempDir(), "restored"))
	copyTo(t, backup, w.Store)
	got := placesOwn(contents(t, w.Store))
	for key := range got {
		if _, named := want[key]; !named {
			t.Errorf("%s is in the restored lake, but was not in the lost one", key)
		}
	}
	live := w.Log(t).Live
	for key := range want {
		if got[key] != want[key] && (live(key) || !strings.HasSuffix(key, ".parquet")) {
			t.Errorf("%s: %d bytes, before %d", key, len(got[key]), len(want[key]))
		}
	}
	world.WantAnswers(t, w.Answers(t), answers)
	b.Write(world.Priced, 9, `"message":"after the disaster"`)
	next := w.Night(t, 4, feeds)
	if next.Commit != w.Log(t).Number || next.Commit < 5 {
		t.Errorf("the night after made commit %d", next.Commit)
	}
	after := w.Answers(t)
	for question, answer := range answers {
		if strings.Contains(question, "_as_of") && after[question] != answer {
			t.Errorf("%s: the answer has changed after the restored lake's first night", question)
		}
	}
	world.WantSound(t, w.Store)
	if _, err := transfer.Copy(t.Context(), transfer.Config{From: backup, To: w.Store, Memory: testkit.Allocator(t)}); !errors.Is(err, transfer.ErrOwnCommits) {
		t.Errorf("a copy over the later night: got %v, want ErrOwnCommits", err)
	}
}

// compactedBetween is a lake, and a copy in memory of it as it was some commits earlier: in between some files were added
// and removed again. With expiry the source no longer has those.
func compactedBetween(t *testing.T, expire bool) (w *world.World, earlier store.Store) {
	t.Helper()
	w, b := world.NewBook(t)
	w.Store = world.NewDatedStore(w.Clock.Now)
	feeds := world.Feeds(world.Priced)
	for night := range 5 {
		b.WriteAll(world.Priced, 1, 3, fmt.Sprintf(`"message":"night %d"`, night))
		w.Night(t, night, feeds, world.Quiet)
		if night == 0 {
			earlier = memory("copy")
			copyTo(t, w.Store, earlier)
		}
	}
	w.MustCompact(t)
	if expire {
		w.Later(load.Grace * 2)
		w.MustExpire(t, maintain.Retention{Days: 1000}, true)
	}
	return w, earlier
}

// TestCopyTakesLaterCommits copies again after the source was compacted, and after expiry deleted the files that only
// commits in between needed. Each call of the copy's store fails once. What a reader finds is never a commit without its
// files, and a further call goes on.
func TestCopyTakesLaterCommits(t *testing.T) {
	t.Parallel()
	for name, expire := range map[string]bool{"compacted": false, "expired": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, earlier := compactedBetween(t, expire)
			whole := memory("copy")
			copyTo(t, w.Store, whole)
			want := w.Answers(t)
			calls := &faultstore.Store{Store: world.CopyStore(t, earlier, memory("copy"))}
			copyTo(t, w.Store, calls)
			for n := int64(1); n <= calls.Calls(); n++ {
				for _, applied := range []bool{false, true} {
					to := world.CopyStore(t, earlier, memory("copy"))
					faulty := &faultstore.Store{Store: to, FailAt: n, Applied: applied}
					what := fmt.Sprintf("call %d, applied %t", n, applied)
					if _, err := transfer.Copy(t.Context(), transfer.Config{From: w.Store, To: faulty, Memory: testkit.Allocator(t)}); err != nil && !errors.Is(err, faultstore.ErrInjected) {
						t.Errorf("%s: %v", what, err)
					}
					wantNoHalfLake(t, to, what)
					if n%7 != 0 {
						continue
					}
					copyTo(t, w.Store, to)
					wantNoHalfLake(t, to, what)
				}
			}
			world.WantSound(t, calls.Store)
			w.Store = calls.Store
			world.WantAnswers(t, w.Answers(t), want)
		})
	}
}

// TestNewCopyIsResumed fails a first copy at each call of its store. Until the last commit is in, there is no lake for a
// reader, and none for a writer to begin; a further call goes on.
func TestNewCopyIsResumed(t *testing.T) {
	t.Parallel()
	from := world.ShortLake(t).Store
	calls := &faultstore.Store{Store: memory("copy")}
	copyTo(t, from, calls)
	want := contents(t, calls.Store)
	for n := int64(1); n <= calls.Calls(); n++ {
		for _, applied := range []bool{false, true} {
			to := memory("copy")
			faulty := &faultstore.Store{Store: to, FailAt: n, Applied: applied}
			what := fmt.Sprintf("call %d, applied %t", n, applied)
			_, err := transfer.Copy(t.Context(), transfer.Config{From: from, To: faulty, Memory: testkit.Allocator(t)})
			wantNoHalfLake(t, to, what)
			if l, err := load.Open(t.Context(), to); err == nil && l.Log().Number != 3 {
				t.Errorf("%s: a reader sees commit %d of a copy that has not finished", what, l.Log().Number)
			}
			_, first := contents(t, to)[lake.CommitKey(1)]
			if _, begun := contents(t, to)[lake.BegunKey]; err != nil && begun && !first {
				if _, err := load.Open(t.Context(), to); err == nil || !strings.Contains(err.Error(), "run `dealflow copy "+from.URL()+" copy` again") {
					t.Errorf("%s: got %v, want the command that goes on", what, err)
				}
			}
			copyTo(t, from, to)
			wantSame(t, contents(t, to), want)
		}
	}
}

// TestCopiesSideBySide copies a lake to one new place twice at the same time, as a person and a schedule may: both end well, and the copy is
// one lake.
func TestCopiesSideBySide(t *testing.T) {
	t.Parallel()
	w, b := world.NewBook(t)
	for night := range 3 {
		b.WriteAll(world.Priced, 1, 4, fmt.Sprintf(`"message":"night %d"`, night))
		w.Night(t, night)
	}
	for range 10 {
		to := world.Folder(t, filepath.Join(t.TempDir(), "copy"))
		failed := make(chan error)
		for range 2 {
			go func() {
				_, err := transfer.Copy(t.Context(), transfer.Config{From: w.Store, To: to, Memory: testkit.Allocator(t)})
				failed <- err
			}()
		}
		if err := errors.Join(<-failed, <-failed); err != nil {
			t.Error(err)
		}
		world.WantSound(t, to)
	}
}

// TestCopyUntil copies up to each commit: the copy answers as the lake did then.
func TestCopyUntil(t *testing.T) {
	t.Parallel()
	w := world.ShortLake(t)
	from, newest := w.Store, w.Log(t).Number
	for n := int64(1); n <= newest; n++ {
		to := memory("until")
		result, err := transfer.Copy(t.Context(), transfer.Config{From: from, To: to, Until: n, Memory: testkit.Allocator(t)})
		if err != nil || result.Commits != n {
			t.Fatalf("until %d: %+v, %v", n, result, err)
		}
		report := world.WantSound(t, to)
		if got := int64(len(placesOwn(contents(t, to)))) - n; got != result.Files {
			t.Errorf("until %d: the copy has %d data files, want the %d that commit %d needs", n, got, result.Files, n)
		}
		if report.Commit != n {
			t.Errorf("until %d: the copy ends with commit %d", n, report.Commit)
		}
	}
	for _, n := range []int64{-1, newest + 1} {
		if _, err := transfer.Copy(t.Context(), transfer.Config{From: from, To: memory("x"), Until: n, Memory: testkit.Allocator(t)}); err == nil || !strings.Contains(err.Error(), "does not exist: want one from 1 to 3") {
			t.Errorf("until %d: got %v, want a refusal", n, err)
		}
	}
}

// TestCopyRefuses holds what is no copy: a damaged source, a target in use, a lake in itself.
func TestCopyRefuses(t *testing.T) {
	t.Parallel()
	sound := world.ShortLake(t).Store
	damaged, incomplete, foreign, other := memory("damaged"), memory("incomplete"), memory("foreign"), memory("other")
	world.CopyStore(t, sound, damaged)
	world.CopyStore(t, sound, incomplete)
	l, err := load.Open(t.Context(), sound)
	if err != nil {
		t.Fatal(err)
	}
	path := l.Log().AllFiles()[0].Path
	data := storetest.Bytes(t, sound, path)
	data[len(data)/2] ^= 1
	storetest.Overwrite(t, damaged, path, data)
	storetest.Remove(t, incomplete, path)
	storetest.Overwrite(t, foreign, "notes.txt", []byte("mine"))
	copyTo(t, oldLake(t, "v1"), other)
	for name, test := range map[string]struct {
		from, to store.Store
		want     string
	}{
		"no lake":            {memory("nothing"), memory("new"), "no lake found"},
		"a damaged file":     {damaged, memory("new"), path + ": the file has SHA-256"},
		"a file is gone":     {incomplete, memory("new"), "a data file is gone: commit 3 needs " + path},
		"a folder in use":    {sound, foreign, "is not empty: it contains notes.txt"},
		"another lake":       {sound, other, "has commits of its own"},
		"in its own place":   {damaged, damaged, "inside the other, or in its place"},
		"inside the source":  {named{damaged, "/lakes/a"}, memory("/lakes/a/backup"), "inside the other"},
		"around the source":  {named{damaged, "/lakes/a"}, memory("/lakes/"), "inside the other"},
		"name begins alike":  {named{damaged, "/lakes/a"}, memory("/lakes/ab"), path},
		"of an older format": {oldLake(t, "v2"), memory("new"), ""},
	} {
		_, err := transfer.Copy(t.Context(), transfer.Config{From: test.from, To: test.to, Memory: testkit.Allocator(t)})
		if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%s: got %v, want %q", name, err, test.want)
		}
	}
}

// TestCopyOnS3 copies a lake from a folder to a bucket, from one prefix of the bucket to another, and back to a folder.
func TestCopyOnS3(t *testing.T) {
	t.Parallel()
	from := world.ShortLake(t).Store
	want := placesOwn(contents(t, from))
	server := s3test.Start(t, s3test.Options{})
	first, second, folder := server.Store(t, "first"), server.Store(t, "the second"), world.Folder(t, filepath.Join(t.TempDir(), "back"))
	for _, to := range []store.Store{first, second, folder} {
		copyTo(t, from, to)
		world.WantSound(t, to)
		wantSame(t, placesOwn(contents(t, to)), want)
		if from != first { // the next copy must not need it
			lose(t, from)
		}
		from = to
	}
}

// TestPlainTools copies a lake object by object in the order that docs/how-to/back-up.md gives for other tools, and cuts
// the copy after each object. What is there is no lake, or says that commits were lost, or is whole.
func TestPlainTools(t *testing.T) {
	t.Parallel()
	w := world.ShortLake(t)
	w.Publish(t)
	var order []string
	first := []string{lake.LatestKey, lake.CatalogKey}
	order = append(order, first...)
	keys := world.Keys(t, w.Store)
	for _, commits := range []bool{false, true} {
		for _, key := range keys {
			if strings.HasPrefix(key, lake.CommitsPrefix) == commits && !slices.Contains(first, key) && key != lake.LeaseKey {
				order = append(order, key)
			}
		}
	}
	newest := w.Log(t).Number
	to := new(memstore.Mem)
	for i, key := range order {
		storetest.Overwrite(t, to, key, storetest.Bytes(t, w.Store, key))
		l, err := load.Open(t.Context(), to)
		switch last := i == len(order)-1; {
		case last && (err != nil || l.Log().Number != newest):
			t.Errorf("the whole copy: %v", err)
		case !last && !errors.Is(err, load.ErrLostCommit) && !errors.Is(err, load.ErrNoLake):
			t.Errorf("cut after %s: got %v, want a lost commit, or no lake", key, err)
		}
	}
	world.WantSound(t, to)
}
