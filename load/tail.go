package load

import (
	"context"
	"errors"
	"math"

	"golang.org/x/sync/errgroup"

	"dealflow/load/runs"
	"dealflow/load/store"
	"dealflow/schemas/lake"
)

// tail is the objects of the commits from a checkpoint's on, as far as a hint lets expect them and a few more. They were
// requested before it was known which of them are needed, so that a store far away takes as long for all as for one.
type tail struct {
	first   int64
	objects [][]byte // nil for one that was absent
}

// mostAhead is the number of commits that are read ahead at most: a checkpoint is rarely older.
const mostAhead = checkpointEvery + 2

// from returns the objects from a commit's on; nil if the commit was not requested.
func (t *tail) from(number int64) [][]byte {
	if t == nil || number < t.first || number >= t.first+int64(len(t.objects)) {
		return nil
	}
	return t.objects[number-t.first:]
}

// hintAndClaims reads, side by side, what may name the newest commit.
func hintAndClaims(ctx context.Context, s store.Store) (hint Hint, published lake.CatalogEnd, named []claim, err error) {
	reading, ctx := errgroup.WithContext(ctx)
	reading.Go(func() (err error) {
		hint, err = checkedHint(ctx, s)
		return err
	})
	reading.Go(func() (err error) {
		published, err = readCatalogEnd(ctx, s)
		return err
	})
	err = reading.Wait()
	return hint, published, append(hint.claims(), catalogClaims(published)...), err
}

// checkpointAndTail reads the newest checkpoint, and side by side with it the commits that are probably needed. The hint
// was read before: so what it names is found.
func (l *Lake) checkpointAndTail(ctx context.Context, hint Hint) (log *Log, ahead *tail, err error) {
	ahead = &tail{first: max(1, hint.Checkpoint)}
	last := max(hint.Commit, ahead.first) + 2 // the next one, which is absent if the hint is right, and the one that would show a hole
	reading, ctx := errgroup.WithContext(ctx)
	reading.Go(func() (err error) {
		log, err = l.newestCheckpoint(ctx, hint, math.MaxInt64)
		return err
	})
	reading.Go(func() (err error) {
		ahead.objects, err = runs.ReadObjects(ctx, l.store, ahead.first, min(last, ahead.first+mostAhead))
		return err
	})
	err = reading.Wait()
	return log, ahead, err
}

// claims lists what the hint names.
func (h *Hint) claims() []claim {
	if h.Commit == 0 {
		return nil
	}
	return []claim{{lake.NamedCommit{Number: h.Commit, SHA256: h.SHA256, KnownAt: h.KnownAt}, lake.LatestKey}}
}

// catalogClaims lists what the published catalog names.
func catalogClaims(published lake.CatalogEnd) []claim {
	if published.Number == 0 {
		return nil
	}
	return []claim{{published.NamedCommit, lake.CatalogKey}}
}

// readHint is ReadHint with the error of the store.
func readHint(ctx context.Context, s store.Store) (hint Hint, err error) {
	data, err := store.Read(ctx, s, lake.LatestKey)
	if err == nil {
		hint, err = parseHint(data)
	}
	if errors.Is(err, store.ErrNotFound) {
		err = nil
	}
	return hint, err
}
