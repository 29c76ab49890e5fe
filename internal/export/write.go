package export

import (
	"bytes"
	"context"
	"crypto/sha256"
	stdsql "database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"dealflow/load/store"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
	"dealflow/sql/answer"
	"dealflow/sql/quote"
)

// errOther means that the manifest of another export of the same commits was put first.
var errOther = errors.New("another export of the same commits was complete first")

// Result says what an export did. `--json` prints this object; fields are only ever added.
type Result struct {
	Outcome  string    `json:"outcome"`  // done, or unchanged: no commit is new, or the same export was there
	Target   string    `json:"target"`   // URL
	Manifest string    `json:"manifest"` // key of the manifest in the target; "" if no commit is new
	Export   *Manifest `json:"export"`   // what the manifest says; null if no commit is new
}

// Statements returns the statements that Write runs on the catalog.
func (e *Export) Statements() []string {
	if e.nothing || e.existing != nil {
		return nil
	}
	var all []string
	for _, table := range e.manifest.Tables {
		all = append(all, e.inserts(&table))
	}
	return append(all, e.provisional())
}

// IsDone says that there is nothing to write: no commit is new, or the export is there already.
func (e *Export) IsDone() bool { return e.nothing || e.existing != nil }

// Write writes the files of the export and then its manifest. db is the catalog of the lake. After an error the files that
// are there mean nothing: the next call writes new ones.
func (e *Export) Write(ctx context.Context, db *stdsql.DB) (*Result, error) {
	r := &Result{Outcome: lake.OutcomeUnchanged, Target: e.cfg.Target.URL()}
	switch {
	case e.existing != nil:
		r.Manifest, r.Export = e.existing.key(), e.existing
		return r, nil
	case e.nothing:
		return r, nil
	}
	if err := e.writeAll(ctx, db); err != nil {
		return nil, fmt.Errorf("export: %w", err)
	}
	r.Manifest, r.Export = e.manifest.key(), &e.manifest
	switch err := e.putManifest(ctx); {
	case errors.Is(err, errOther):
		r.Export = e.existing
	case err != nil:
		return nil, fmt.Errorf("export: %w", err)
	default:
		r.Outcome = lake.OutcomeDone
	}
	return r, nil
}

func (e *Export) writeAll(ctx context.Context, db *stdsql.DB) error {
	shared := map[string]*File{} // files of deletes by the feeds' service and kind
	for i := range e.manifest.Tables {
		t := &e.manifest.Tables[i]
		table, _ := lake.TableByName(t.Table)
		feeds := fmt.Sprintf("%s_%s", table.Service, table.Kind)
		var err error
		if e.manifest.From != nil {
			if _, ok := shared[feeds]; !ok {
				if shared[feeds], err = e.writeFile(ctx, db, feeds+".deletes", e.deletes(table.Service, table.Kind)); err != nil {
					return err
				}
			}
			t.Deletes = shared[feeds]
		}
		if t.Mode == ModeChanges && t.Deletes == nil {
			continue // no deal changed, so no row did
		}
		if t.Inserts, err = e.writeFile(ctx, db, t.Table+".inserts", e.inserts(t)); err != nil {
			return err
		}
	}
	return e.countProvisional(ctx, db)
}

// interval returns the arguments of the macros: the instants of the commits.
func (e *Export) interval(mode string) string {
	from := "-infinity"
	if mode == ModeChanges {
		from = e.manifest.From.KnownAt.String()
	}
	return fmt.Sprintf("(TIMESTAMPTZ '%s', TIMESTAMPTZ '%s')", from, e.manifest.To.KnownAt)
}

func (e *Export) deletes(service api.Service, kind api.Kind) string {
	return fmt.Sprintf(`SELECT market, deal_id, version, change, reason, known_at, "commit" FROM changes_rows%s WHERE service = '%s' AND kind = '%s' ORDER BY market, deal_id`,
		e.interval(ModeChanges), service, kind)
}

func (e *Export) inserts(t *Table) string {
	table, _ := lake.TableByName(t.Table)
	keys := strings.Join(lake.ColumnNames(table.KeyColumns()), ", ")
	return fmt.Sprintf("FROM %s_changes_rows%s ORDER BY %s", t.Table, e.interval(t.Mode), keys)
}

// writeFile writes the answer of a statement to the target; nil for no rows.
func (e *Export) writeFile(ctx context.Context, db *stdsql.DB, name, statement string) (f *File, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("%s: %w", name, err)
		}
	}()
	folder, err := os.MkdirTemp(e.cfg.WorkDir, "export-*")
	if err != nil {
		return nil, fmt.Errorf("work folder: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	local := filepath.Join(folder, "rows")
	rows, err := e.query(ctx, db, statement, local)
	if err != nil || rows == 0 {
		return nil, err
	}
	// A folder for each: Athena, Trino and others read folders.
	key := fmt.Sprintf("%s%s/rows.%s", dataPrefix(e.manifest.To.Number, e.cfg.ID), name, e.cfg.Format)
	return put(ctx, e.cfg.Target, key, local, rows)
}

// query writes the answer of a statement to a local file, and returns its number of rows.
func (e *Export) query(ctx context.Context, db *stdsql.DB, statement, local string) (rows int64, err error) {
	if e.cfg.Format == "parquet" {
		copied := quote.ToParquet(statement, local)
		err = db.QueryRowContext(ctx, copied).Scan(&rows)
		return rows, err
	}
	found, err := answer.Query(ctx, db, statement)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, found.Close()) }()
	file, err := os.Create(local)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if e.cfg.Format == "csv" {
		err = found.WriteCSV(file)
	} else {
		err = found.WriteNDJSON(file)
	}
	return found.Read(), err
}

// put puts a local file into the target.
func put(ctx context.Context, target store.Store, key, local string, rows int64) (f *File, err error) {
	file, err := os.Open(local)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	sum := sha256.New()
	size, err := io.Copy(sum, file)
	if err != nil {
		return nil, err
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	if err := target.Put(ctx, key, file, store.CreateOnly); err != nil {
		return nil, err
	}
	return &File{Path: key, Rows: rows, Bytes: size, SHA256: hex.EncodeToString(sum.Sum(nil))}, nil
}

// checkOvertaken looks whether another export has ended since this one was planned, so that this one would no longer continue the last one.
func (e *Export) checkOvertaken(ctx context.Context) error {
	done, err := listEarlier(ctx, e.cfg.Target)
	if err != nil || slices.Equal(done.keys, e.earlier.keys) {
		return err
	}
	last, err := done.lastCommits(ctx, e.manifest.tableNames())
	if err != nil {
		return err
	}
	if err := e.checkContinues(ctx, done, last); err != nil {
		return fmt.Errorf("this export is not made visible, for another one has ended in the meantime: %w", err)
	}
	return nil
}

// putManifest makes the export visible, unless another one has overtaken it. If the answer is lost it reads what is there. Another export of the
// same commits is errOther, and e.existing.
func (e *Export) putManifest(ctx context.Context) error {
	if err := e.checkOvertaken(ctx); err != nil {
		return err
	}
	data, err := e.manifest.encode()
	if err != nil {
		return err
	}
	key := e.manifest.key()
	putErr := e.cfg.Target.Put(ctx, key, bytes.NewReader(data), store.CreateOnly)
	if putErr == nil {
		return nil
	}
	found, err := store.Read(ctx, e.cfg.Target, key)
	switch {
	case err == nil && bytes.Equal(found, data):
		return nil
	case err != nil || !errors.Is(putErr, store.ErrExists):
		return putErr
	}
	other, err := readManifest(ctx, e.cfg.Target, key)
	if err == nil {
		err = e.compareWith(other)
	}
	if err != nil {
		return err
	}
	return errOther
}

// provisional is the query for the number of provisional deals of each feed that has some.
func (e *Export) provisional() string {
	var values []string
	for _, f := range e.manifest.Feeds {
		known := "-infinity"
		if f.Complete != nil {
			known = f.Complete.KnownAt.String()
		}
		values = append(values, fmt.Sprintf("('%s', '%s', '%s', TIMESTAMPTZ '%s')", f.Feed.Service, f.Feed.Market, f.Feed.Kind, known))
	}
	return fmt.Sprintf(`
SELECT d.service || '/' || lower(d.market) || '/' || d.kind, count(*)
FROM deals_as_of(TIMESTAMPTZ '%s') d
JOIN (VALUES %s) f(service, market, kind, known_at)
  ON d.service = f.service AND d.market = f.market AND d.kind = f.kind AND d.valid_from > f.known_at
GROUP BY ALL`, e.manifest.To.KnownAt, strings.Join(values, ", "))
}

// countProvisional fills the feeds' numbers of provisional deals.
func (e *Export) countProvisional(ctx context.Context, db *stdsql.DB) (err error) {
	rows, err := db.QueryContext(ctx, e.provisional())
	if err != nil {
		return fmt.Errorf("provisional deals: %w", err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	counts := map[string]int64{}
	for rows.Next() {
		var feed string
		var deals int64
		if err := rows.Scan(&feed, &deals); err != nil {
			return err
		}
		counts[feed] = deals
	}
	for i := range e.manifest.Feeds {
		f := &e.manifest.Feeds[i]
		f.Provisional = counts[f.Feed.String()]
	}
	return rows.Err()
}
