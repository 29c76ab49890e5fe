package load

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"dealflow/load/store"
	"dealflow/schemas/lake"
)

// ErrLostCommit means that the hint or the published catalog names a commit that the log does not have: its object was
// lost. A commit that takes its number would begin a second history, and what it said would be lost without a trace.
var ErrLostCommit = errors.New("the lake has lost a commit")

// claim is what an object outside the log says about the newest commit when it was written. It can prove that a commit
// was lost. It never proves that the log is complete.
type claim struct {
	lake.NamedCommit
	where string // key of the object
}

// Lost returns the commits that the lake has lost, as far as the hint and the catalog prove it, and that no commit
// records as lost. Open and Refresh find them. The caller must not change the slice.
func (l *Lake) Lost() []lake.LostCommit { return l.lost }

// Floor returns the instant that known_at of the next commit must be later than: that of the newest commit, or of a lost
// one, which a reader may have seen.
func (l *Lake) Floor() lake.Instant {
	floor := l.log.KnownAt
	for _, c := range l.lost {
		if c.KnownAt.After(floor.Time) {
			floor = c.KnownAt
		}
	}
	return floor
}

// OpenAccepting is Open for a writer. With acceptLost a lake that has lost commits is no error: the next commit records
// them as lost.
func OpenAccepting(ctx context.Context, s store.Store, acceptLost bool) (*Lake, error) {
	l, err := Open(ctx, s)
	if !acceptLost || !errors.Is(err, ErrLostCommit) {
		return l, err
	}
	l.acceptLost = true
	return l, l.requireCommit()
}

// checkLost returns an error for a lake that has lost commits, unless that was accepted.
func (l *Lake) checkLost() error {
	if len(l.lost) == 0 || l.acceptLost {
		return nil
	}
	var texts, keys []string
	for i := range l.lost {
		texts = append(texts, l.log.LossText(&l.lost[i]))
		keys = append(keys, lake.CommitKey(l.lost[i].Number))
	}
	return fmt.Errorf("%w: %s; bring %s back from a copy of the lake, and run `dealflow verify`; if there is no copy, run with --accept-lost-commit: it continues after commit %d, and the next commit records the loss%s",
		ErrLostCommit, strings.Join(texts, "; "), strings.Join(keys, ", "), l.log.Number, l.foreignCatalog())
}

// foreignCatalog says what else it may be if the catalog alone names the lost commits. Another program may have copied it here.
func (l *Lake) foreignCatalog() string {
	for i := range l.lost {
		if !slices.Equal(l.lost[i].NamedBy, []string{lake.CatalogKey}) {
			return ""
		}
	}
	return "; if " + lake.CatalogKey + " is that of another lake, nothing was lost: delete it, and run `dealflow catalog`"
}

// LossText says what names a lost commit, and what the log has in its place.
func (g *Log) LossText(lost *lake.LostCommit) string {
	has := fmt.Sprintf("the log ends with commit %d", g.Number)
	if lost.Number <= g.Number {
		has = "the log has another commit with that number"
	}
	return fmt.Sprintf("%s %s, but %s", lost.Naming(), lost.NamedCommit, has)
}

// has says whether the log has a commit that is named. A name without a hash is that of any commit with its number.
func (g *Log) has(ctx context.Context, s store.Store, n lake.NamedCommit) (bool, error) {
	if n.Number > g.Number || n.SHA256 == "" {
		return n.Number <= g.Number, nil
	}
	have, found, err := g.named(ctx, s, n.Number)
	return err == nil && (!found || have.SHA256 == n.SHA256), err // not found: in a damaged log it cannot be told
}

// RecordsLoss says whether a commit of the log records a named commit as lost.
func (g *Log) RecordsLoss(n lake.NamedCommit) bool {
	return slices.ContainsFunc(g.Commits, func(c lake.Commit) bool {
		return slices.ContainsFunc(c.Lost, func(lost lake.LostCommit) bool {
			return lost.Number == n.Number && (n.SHA256 == "" || lost.SHA256 == n.SHA256)
		})
	})
}

// FindLost returns the commits that the hint and the published catalog in a store name, and that neither the log has nor
// any commit records as lost. It asks the store for each of them, twice: the log may be older than the store.
func FindLost(ctx context.Context, s store.Store, log *Log) ([]lake.LostCommit, error) {
	hint, err := readHint(ctx, s)
	if err != nil {
		return nil, err
	}
	published, err := readCatalogEnd(ctx, s)
	if err != nil {
		return nil, err
	}
	named := append(hint.claims(), catalogClaims(published)...)
	lost, _, err := findLost(ctx, s, log, named)
	return lost, err
}

// readCatalogEnd reads the end of the published catalog, which names the commit that it shows. It returns the zero value for
// a catalog that is absent, has no such end, or is just being replaced.
func readCatalogEnd(ctx context.Context, s store.Store) (end lake.CatalogEnd, err error) {
	text, err := store.ReadEnd(ctx, s, lake.CatalogKey, int64(lake.CatalogEndSize))
	if errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrChanged) {
		return end, nil
	}
	if err != nil {
		return end, fmt.Errorf("read the end of %s: %w", lake.CatalogKey, err)
	}
	end, ok := lake.ParseCatalogEnd(string(text))
	if !ok {
		return lake.CatalogEnd{}, nil
	}
	return end, nil
}

// findLost returns the commits that claims name and that are lost. appeared says that the store has a named commit that
// is later than the log: another run has just made it.
func findLost(ctx context.Context, s store.Store, log *Log, claims []claim) (lost []lake.LostCommit, appeared bool, err error) {
	for i := range claims {
		c := &claims[i]
		has, err := log.has(ctx, s, c.NamedCommit)
		if err != nil {
			return nil, false, err
		}
		if has || log.RecordsLoss(c.NamedCommit) {
			continue
		}
		exists, err := isCommitted(ctx, s, c.NamedCommit)
		if err == nil && !exists {
			if err = store.AwaitPuts(ctx, s, lake.CommitsPrefix); err == nil {
				exists, err = isCommitted(ctx, s, c.NamedCommit)
			}
		}
		switch {
		case err != nil:
			return nil, false, err
		case !exists:
			lost = addLost(lost, c)
		case c.Number > log.Number:
			appeared = true
		}
	}
	return lost, appeared, nil
}

// isReplaced says whether a log ends with a checkpoint of a commit in whose place the store has another one: that commit
// was lost, and a later run has taken its number. (If a commit follows, its chain hash tells.)
func (l *Lake) isReplaced(ctx context.Context, log *Log, ahead *tail) (bool, error) {
	if log.checkpoint == 0 || log.Number != log.checkpoint {
		return false, nil
	}
	if found := ahead.from(log.Number); found != nil {
		return found[0] != nil && lake.SHA256(found[0]) != log.SHA256, nil
	}
	data, err := store.Read(ctx, l.store, lake.CommitKey(log.Number))
	if errors.Is(err, store.ErrNotFound) {
		return false, nil // the checkpoint has all that an absent commit said
	}
	return err == nil && lake.SHA256(data) != log.SHA256, err
}

// isCommitted asks the store whether a named commit exists.
func isCommitted(ctx context.Context, s store.Store, n lake.NamedCommit) (bool, error) {
	data, err := store.Read(ctx, s, lake.CommitKey(n.Number))
	if errors.Is(err, store.ErrNotFound) {
		return false, nil
	}
	return err == nil && (n.SHA256 == "" || n.SHA256 == lake.SHA256(data)), err
}

// addLost adds a lost commit, or another object that names it.
func addLost(lost []lake.LostCommit, c *claim) []lake.LostCommit {
	for i := range lost {
		if lost[i].Number == c.Number && (lost[i].SHA256 == c.SHA256 || c.SHA256 == "" || lost[i].SHA256 == "") {
			if lost[i].SHA256 == "" {
				lost[i].NamedCommit = c.NamedCommit
			}
			lost[i].NamedBy = append(lost[i].NamedBy, c.where)
			return lost
		}
	}
	return append(lost, lake.LostCommit{NamedCommit: c.NamedCommit, NamedBy: []string{c.where}})
}
