package rows

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"slices"

	"github.com/apache/arrow/go/v17/arrow/memory"

	"dealflow/load/parquet"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
	"dealflow/transform"
	"dealflow/transform/drift"
)

// Deal is a deal whose rows are written.
type Deal struct {
	ID      int64
	Version int32
	Fresh   bool // a new version: its rows go to history too
	Exact   bool // what is read is the payload of the version, byte by byte
}

// Config says what is written, and where. All fields but Day, Stretch and Earlier must be set.
type Config struct {
	Feed     api.Feed
	Base     api.Base // of the feed's links
	Day      string   // YYYY-MM-DD, of the snapshot; "" for none
	Stretch  int      // Least of parquet.Stretch
	Memory   memory.Allocator
	Snapshot func(table string) (*parquet.Writer, error) // opens the file of a table in the snapshot
	History  func(table string) (*parquet.Writer, error) // the same in history
	Read     func(*transform.Flattener, Deal) error      // stages the rows of a deal
	Earlier  *Earlier                                    // nil: the rows of all deals are made
}

// Written is what Write did.
type Written struct {
	Drift     []lake.Drift // of all deals of the snapshot; without a snapshot, of the deals that were read; never nil
	TakenOver int64        // deals whose rows were not made
}

// Write writes the rows of deals, and puts the files into the lake.
func Write(ctx context.Context, cfg Config, deals []Deal) (written *Written, err error) {
	w, err := newWriter(&cfg, deals)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, w.release()) }()
	for _, stretch := range stretches(&cfg, deals) {
		if err := w.write(ctx, stretch); err != nil {
			return nil, err
		}
	}
	if err := w.finish(ctx); err != nil {
		return nil, err
	}
	return &Written{Drift: w.drift.Take(), TakenOver: w.takenOver}, nil
}

// stretches cuts the deals of a snapshot where its row groups end. Without a snapshot all deals are one.
func stretches(cfg *Config, deals []Deal) [][]Deal {
	if cfg.Day == "" {
		return [][]Deal{deals}
	}
	var found [][]Deal
	stretch := parquet.Stretch{Least: cfg.Stretch}
	from := 0
	for i := range deals {
		if stretch.EndsBefore(deals[i].ID) {
			found, from = append(found, deals[from:i]), i
		}
	}
	return append(found, deals[from:])
}

// writer writes the files of a feed.
type writer struct {
	*Config
	flattener     *transform.Flattener
	snapshot      *transform.Batches // nil: no snapshot is written
	history       *transform.Batches
	snapshotFiles *parquet.Tables
	historyFiles  *parquet.Tables
	ofHistory     parquet.Stretches
	drift         drift.Log
	takenOver     int64
}

func newWriter(cfg *Config, deals []Deal) (*writer, error) {
	w := &writer{Config: cfg, flattener: transform.NewFlattener(cfg.Feed, cfg.Base)}
	w.history = transform.NewHistoryBatches(cfg.Memory, cfg.Feed)
	w.historyFiles = parquet.NewTables(w.history, func(t *lake.Table) (*parquet.Writer, error) { return cfg.History(t.Name) })
	w.ofHistory = parquet.Stretches{Tables: w.historyFiles, Stretch: parquet.Stretch{Least: cfg.Stretch}}
	if cfg.Day == "" {
		return w, nil
	}
	var err error
	if w.snapshot, err = transform.NewSnapshotBatches(cfg.Memory, cfg.Feed, cfg.Day); err != nil {
		return nil, errors.Join(err, w.release())
	}
	w.snapshotFiles = parquet.NewTables(w.snapshot, func(t *lake.Table) (*parquet.Writer, error) { return cfg.Snapshot(t.Name) })
	if !slices.ContainsFunc(deals, func(d Deal) bool { return !d.Fresh }) {
		// As in a first run, every row of the snapshot is one of history too, and is built once.
		w.snapshotFiles.History = w.historyFiles
	}
	return w, nil
}

// write writes a stretch of deals.
func (w *writer) write(ctx context.Context, stretch []Deal) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if same := w.Earlier.find(stretch); same != nil {
		return w.takeOver(ctx, stretch, same)
	}
	var ofVersions, ofOthers drift.Log
	for _, deal := range stretch {
		if !deal.Exact {
			addDrift(&ofVersions, w.flattener.TakeDrift())
		}
		if err := w.read(ctx, deal); err != nil {
			return err
		}
		if err := w.append(deal); err != nil {
			return err
		}
		if !deal.Exact {
			addDrift(&ofOthers, w.flattener.TakeDrift())
		}
	}
	addDrift(&ofVersions, w.flattener.TakeDrift())
	w.count(stretch, ofVersions.Take(), ofOthers.Take())
	if w.snapshot == nil {
		return nil
	}
	return w.snapshotFiles.Flush()
}

// read stages the rows of a deal, unless the context has ended.
func (w *writer) read(ctx context.Context, deal Deal) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return w.Read(w.flattener, deal)
}

func addDrift(log *drift.Log, found []lake.Drift) {
	for _, d := range found {
		log.AddAll(d)
	}
}

// append adds the staged rows of a deal. Rows of a new version go to history too.
func (w *writer) append(d Deal) error {
	if w.snapshot != nil {
		w.snapshot.Append(w.flattener, d.ID, d.Version)
		if err := w.snapshotFiles.Drain(); err != nil {
			return err
		}
	}
	if !d.Fresh || w.snapshot != nil && w.snapshotFiles.History != nil {
		return nil
	}
	if err := w.ofHistory.Begin(d.ID); err != nil {
		return err
	}
	w.history.Append(w.flattener, d.ID, d.Version)
	return w.historyFiles.Drain()
}

// takeOver writes the rows of a stretch as the last snapshot has them. It reads the deals whose drift is not noted there.
func (w *writer) takeOver(ctx context.Context, stretch []Deal, same *found) error {
	for table, groups := range same.groups {
		for _, g := range groups {
			from := &w.Earlier.tables[table]
			rest, err := dayColumn(w.Memory, w.snapshot.Table(table), w.Day, from.deals[g].Rows)
			if err != nil {
				return err
			}
			err = w.snapshotFiles.TakeOver(table, from.file, g, from.deals[g], rest)
			rest.Release()
			if errors.Is(err, parquet.ErrTaken) {
				return cannotTakeOver(ctx, err)
			}
			if err != nil {
				return err
			}
		}
	}
	var ofOthers drift.Log
	for _, deal := range stretch {
		if deal.Exact {
			continue
		}
		if err := w.read(ctx, deal); err != nil {
			return err
		}
		addDrift(&ofOthers, w.flattener.TakeDrift())
	}
	w.count(stretch, same.drift, ofOthers.Take())
	w.takenOver += int64(len(stretch))
	return nil
}

// count adds the drift of a stretch: of the payloads that are those of their versions, which it notes for the file, and of the
// others. The rows of a deal depend on its version alone, but its drift on each byte of what was read: a member that is no part of
// the content may be new, and an example is quoted as it is spelt.
func (w *writer) count(stretch []Deal, ofVersions, ofOthers []lake.Drift) {
	addDrift(&w.drift, ofVersions)
	addDrift(&w.drift, ofOthers)
	if w.snapshot != nil && len(stretch) > 0 {
		w.snapshotFiles.NoteStretch(stretch[0].ID, parquet.StretchNote{Drift: ofVersions, Others: others(stretch)})
	}
}

// others is a digest of which deals of a stretch have payloads that are not those of their versions; "" for none.
func others(stretch []Deal) string {
	var ids []byte
	for i := range stretch {
		if !stretch[i].Exact {
			ids = binary.LittleEndian.AppendUint64(ids, uint64(stretch[i].ID))
		}
	}
	if ids == nil {
		return ""
	}
	sum := sha256.Sum256(ids)
	return hex.EncodeToString(sum[:])
}

// finish puts the files into the lake.
func (w *writer) finish(ctx context.Context) error {
	if w.snapshot != nil {
		if err := w.snapshotFiles.Finish(ctx); err != nil {
			return err
		}
	}
	return w.historyFiles.Finish(ctx)
}

// release frees memory, and deletes files that were not finished.
func (w *writer) release() error {
	var err error
	if w.snapshotFiles != nil {
		err = w.snapshotFiles.Release()
	}
	return errors.Join(err, w.historyFiles.Release())
}
