package export

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"dealflow/load"
	"dealflow/load/store"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
)

// Formats are the formats of files.
var Formats = []string{"parquet", "csv", "ndjson"}

// Config says what to export, and where. All fields without a default must be set.
type Config struct {
	Lake            *load.Lake
	Target          store.Store // not in the lake
	Since           Since
	To              int64    // number of a commit; default: the newest
	Tables          []string // default: all; of Since.Last, those of the earlier exports
	Format          string   // one of Formats; default: that of the newest export in the target, or the first of Formats
	IncludeRestated bool     // export tables completely that a replay has restated
	ID              string   // UUIDv7
	Version         string   // of this program
	WorkDir         string   // local folder for unfinished files; default: the system's
}

// RestatedError means that a replay has changed rows of deals that did not change.
type RestatedError struct {
	Commits []int64
	Tables  []string
}

func (e *RestatedError) Error() string {
	commits := strings.Trim(fmt.Sprint(e.Commits), "[]")
	return fmt.Sprintf("replay has restated %s (commit %s): rows of deals that did not change have other values since; run again with --include-restated, which exports these tables completely",
		strings.Join(e.Tables, ", "), commits)
}

// Export is an export that was planned. It is not safe for concurrent use.
type Export struct {
	cfg      Config
	manifest Manifest  // its files and provisional deals come from Write
	earlier  *earlier  // the exports that were there when this one was planned
	existing *Manifest // the same export, which is there already; nil for none
	nothing  bool      // no commit is new
}

// Plan decides what to export. It only reads.
func Plan(ctx context.Context, cfg Config) (*Export, error) {
	if cfg.Format != "" && !slices.Contains(Formats, cfg.Format) {
		return nil, fmt.Errorf("%w: format %q: want %s", ErrUsage, cfg.Format, strings.Join(Formats, ", "))
	}
	if store.Overlap(cfg.Lake.Store(), cfg.Target) {
		return nil, fmt.Errorf("%w: the target must be outside of the lake: name another folder or prefix than %s", ErrUsage, cfg.Target.URL())
	}
	done, err := listEarlier(ctx, cfg.Target)
	if err != nil {
		return nil, err
	}
	newest, err := done.newest(ctx)
	if err == nil && newest != nil {
		err = checkSameLake(ctx, cfg.Lake, newest)
	}
	if err == nil {
		err = cfg.chooseFormat(newest)
	}
	if err != nil {
		return nil, err
	}
	e := &Export{cfg: cfg, earlier: done}
	to, err := commitNamed(ctx, cfg.Lake, cfg.To)
	if err != nil {
		return nil, err
	}
	if err := checkTables(cfg.Tables); err != nil {
		return nil, err
	}
	last, err := done.lastCommits(ctx, cfg.Tables)
	if err != nil {
		return nil, err
	}
	tables := chooseTables(&cfg, last)
	from, err := begin(ctx, cfg.Lake, cfg.Since, tables, last)
	if err == nil && from != nil {
		err = checkFork(ctx, *from, done)
	}
	if err != nil {
		return nil, err
	}
	if from != nil && from.Number > to.Number {
		return nil, fmt.Errorf("%w: it begins after commit %d and ends with commit %d: want a later end", ErrUsage, from.Number, to.Number)
	}
	feeds, err := feedsOf(ctx, cfg.Lake, tables, to.Number)
	if err != nil {
		return nil, err
	}
	e.manifest = Manifest{
		FormatVersion: ManifestVersion, DealflowVersion: cfg.Version, ID: cfg.ID, Lake: cfg.Lake.Store().URL(), From: from, To: to,
		Format: cfg.Format, SchemaVersion: lake.SchemaVersion, Tables: []Table{}, Feeds: feeds,
	}
	restated, err := e.restated(ctx, tables)
	if err != nil {
		return nil, err
	}
	for _, table := range tables {
		t := Table{Table: table.Name, Mode: ModeChanges}
		if from == nil || slices.Contains(restated, table.Name) {
			t.Mode = ModeFull
		}
		e.manifest.Tables = append(e.manifest.Tables, t)
	}
	e.nothing = from != nil && from.Number == to.Number
	if err := e.checkContinues(ctx, done, last); errors.Is(err, errContinuesNothing) {
		return nil, fmt.Errorf("%w: %w", ErrUsage, err)
	} else if err != nil {
		return nil, err
	}
	return e, e.findExisting(ctx, done)
}

// checkSameLake compares the newest export of a target with the lake. A target has the exports of one lake: a loader takes
// whatever manifest continues.
func checkSameLake(ctx context.Context, l *load.Lake, newest *Manifest) error {
	found, _, err := l.Named(ctx, newest.To.Number)
	if err == nil && found.SHA256 != newest.To.SHA256 {
		err = forkError(newest.To, found)
	}
	return err
}

// chooseFormat sets the format if there is none. All exports of a target have one, because a loader expects it.
func (c *Config) chooseFormat(newest *Manifest) error {
	switch {
	case newest == nil:
		c.Format = cmp.Or(c.Format, Formats[0])
	case c.Format == "":
		c.Format = newest.Format
	case c.Format != newest.Format:
		return fmt.Errorf("%w: the exports in %s are in the format %s, not in %s; use another target", ErrUsage, c.Target.URL(), newest.Format, c.Format)
	}
	return nil
}

// checkContinues refuses an export that does not begin where the earlier ones of its tables in the target have ended. What would follow it continues
// nothing that a loader of these has, so that the loader would wait for ever. The same export again, and one that ends where another of the
// table begins or where all have ended, keeps none waiting.
func (e *Export) checkContinues(ctx context.Context, done *earlier, last map[string]lake.NamedCommit) error {
	own := e.manifest.commits()
	if e.nothing || slices.Contains(done.keys, own) {
		return nil
	}
	waiting := slices.DeleteFunc(e.manifest.tableNames(), func(name string) bool {
		ended, ok := last[name]
		return !ok || ended.Number == own.from || ended.Number == own.to
	})
	if len(waiting) == 0 {
		return nil
	}
	following, err := done.where(ctx, func(r commitRange) bool { return r.from == own.to })
	if err != nil {
		return err
	}
	for _, name := range waiting {
		if !slices.ContainsFunc(following, func(m *Manifest) bool { return slices.Contains(m.tableNames(), name) }) {
			return fmt.Errorf("%w: %s has exports of %s up to commit %d: run `dealflow export --since last` to continue them, or begin again with another target", errContinuesNothing, e.cfg.Target.URL(), name, last[name].Number)
		}
	}
	return nil
}

// errContinuesNothing is the error of an export that no loader could follow.
var errContinuesNothing = errors.New("the export continues nothing")

// findExisting looks whether the export is there already.
func (e *Export) findExisting(ctx context.Context, done *earlier) error {
	m, err := done.find(ctx, e.manifest.commits())
	if err != nil || m == nil {
		return err
	}
	if err := e.compareWith(m); err != nil {
		return err
	}
	return e.checkFiles(ctx, m)
}

// checkFiles looks whether the files of an export are there, with the size that its manifest says.
func (e *Export) checkFiles(ctx context.Context, m *Manifest) error {
	sizes := map[string]int64{}
	for object, err := range e.cfg.Target.List(ctx, dataPrefix(m.To.Number, m.ID)) {
		if err != nil {
			return fmt.Errorf("list the files of %s of %s: %w", m.key(), e.cfg.Target.URL(), err)
		}
		sizes[object.Key] = object.Size
	}
	for f := range m.files() {
		if size, ok := sizes[f.Path]; !ok || size != f.Bytes {
			return fmt.Errorf("%s of %s names %s, which is absent or not of %d bytes; delete that manifest, and export the same again", m.key(), e.cfg.Target.URL(), f.Path, f.Bytes)
		}
	}
	return nil
}

// compareWith takes an export of the same commits for the one that was planned, if it is the same.
func (e *Export) compareWith(m *Manifest) error {
	if !m.isSame(&e.manifest) {
		return fmt.Errorf("%s of %s is an export of the same commits, with other tables, in another format, or of another lake; use another target", m.key(), e.cfg.Target.URL())
	}
	e.existing = m
	return nil
}

// commitNamed names a commit of the log; 0 means the newest.
func commitNamed(ctx context.Context, l *load.Lake, number int64) (lake.NamedCommit, error) {
	if number == 0 {
		return l.Log().Newest(), nil
	}
	named, ok, err := l.Named(ctx, number)
	if err == nil && !ok {
		err = fmt.Errorf("%w: commit %d does not exist: want one from 1 to %d", ErrUsage, number, l.Log().Number)
	}
	return named, err
}

// checkTables returns an error for names that no table has.
func checkTables(names []string) error {
	for _, name := range names {
		if _, ok := lake.TableByName(name); !ok {
			return fmt.Errorf("%w: there is no table %q: want names such as bond_priced_deals", ErrUsage, name)
		}
	}
	return nil
}

// chooseTables returns the tables to export, in their usual order. last has those of the earlier exports.
func chooseTables(cfg *Config, last map[string]lake.NamedCommit) []*lake.Table {
	names := cfg.Tables
	if names == nil && cfg.Since.Last {
		for name := range last {
			names = append(names, name)
		}
	}
	return slices.DeleteFunc(lake.Tables(), func(t *lake.Table) bool { return names != nil && !slices.Contains(names, t.Name) })
}

// begin returns the commit after which the export begins; nil for the beginning. last has the commits with which the earlier exports of each table ended.
func begin(ctx context.Context, l *load.Lake, since Since, tables []*lake.Table, last map[string]lake.NamedCommit) (*lake.NamedCommit, error) {
	if since.Full {
		return nil, nil
	}
	wanted := lake.NamedCommit{Number: since.Number, SHA256: since.SHA256}
	if since.Last {
		var err error
		if wanted, err = lastOf(tables, last); err != nil {
			return nil, err
		}
	}
	found, ok, err := l.Named(ctx, wanted.Number)
	if err != nil {
		return nil, err
	}
	if !ok && wanted.SHA256 == "" {
		return nil, fmt.Errorf("%w: commit %d does not exist: want one from 1 to %d", ErrUsage, wanted.Number, l.Log().Number)
	}
	if !ok || !strings.HasPrefix(found.SHA256, wanted.SHA256) {
		return nil, forkError(wanted, found)
	}
	return &found, nil
}

// checkFork compares the commit after which an export begins with the exports that ended with it.
func checkFork(ctx context.Context, from lake.NamedCommit, done *earlier) error {
	manifests, err := done.where(ctx, func(r commitRange) bool { return r.to == from.Number })
	for _, m := range manifests {
		if err == nil && m.To.SHA256 != from.SHA256 {
			err = forkError(m.To, from)
		}
	}
	return err
}

// lastOf returns the commit with which the newest export of all the tables ended.
func lastOf(tables []*lake.Table, last map[string]lake.NamedCommit) (lake.NamedCommit, error) {
	var first lake.NamedCommit
	for i, table := range tables {
		named, ok := last[table.Name]
		if !ok {
			return first, fmt.Errorf("%w: the target has no export of %s to continue from; begin with --full", ErrUsage, table.Name)
		}
		if i == 0 {
			first = named
		}
		if named.Number != first.Number {
			return first, fmt.Errorf("%w: %s was exported up to commit %d, and %s up to commit %d; name --since and --tables for each", ErrUsage, tables[0].Name, first.Number, table.Name, named.Number)
		}
	}
	return first, nil
}

// restated returns the tables to export completely, because a replay has restated them. Without IncludeRestated it is
// an error if there are any.
func (e *Export) restated(ctx context.Context, tables []*lake.Table) ([]string, error) {
	if e.manifest.From == nil {
		return nil, nil
	}
	found := map[string]bool{}
	var commits []int64
	for i := range e.cfg.Lake.Log().Commits {
		c := &e.cfg.Lake.Log().Commits[i]
		if c.Command != lake.CommandReplay || c.Number <= e.manifest.From.Number || c.Number > e.manifest.To.Number {
			continue
		}
		names, err := restatedBy(ctx, e.cfg.Lake.Store(), c)
		if err != nil {
			return nil, err
		}
		concerned := false
		for _, t := range tables {
			if slices.Contains(names, t.Name) {
				found[t.Name], concerned = true, true
			}
		}
		if concerned {
			commits = append(commits, c.Number)
		}
	}
	names := slices.Sorted(maps.Keys(found))
	if len(names) > 0 && !e.cfg.IncludeRestated {
		return nil, &RestatedError{Commits: commits, Tables: names}
	}
	return names, nil
}

// restatedBy returns the flattened tables that a replay has restated. Of a replay by a program that did not say it, these
// are all that it has written.
func restatedBy(ctx context.Context, s store.Store, c *lake.Commit) ([]string, error) {
	if c.Restated != nil {
		return c.Restated, nil
	}
	data, err := store.Read(ctx, s, lake.CommitKey(c.Number))
	var whole *lake.Commit
	if err == nil {
		whole, err = lake.DecodeCommit(data)
	}
	if err != nil {
		return nil, fmt.Errorf("find the tables that commit %d has restated: %w", c.Number, err)
	}
	var names []string
	for i := range whole.Add {
		if name, ok := strings.CutPrefix(whole.Add[i].Table, lake.HistoryTable("")); ok {
			names = append(names, name)
		}
	}
	return names, nil
}

// feedsOf returns the feeds of tables, each with its last complete snapshot up to a commit that was not taken back.
func feedsOf(ctx context.Context, l *load.Lake, tables []*lake.Table, to int64) ([]Feed, error) {
	feeds := []Feed{}
	for _, feed := range api.Feeds() {
		if !slices.ContainsFunc(tables, func(t *lake.Table) bool { return t.Service == feed.Service && t.Kind == feed.Kind }) {
			continue
		}
		f := Feed{Feed: feed}
		for c := range l.Log().FeedRuns(feed, lake.OutcomeDone) { // a long log has all commits with a snapshot, too
			if c.Number > to {
				continue
			}
			named, ok, err := l.Named(ctx, c.Number)
			if err != nil {
				return nil, err
			}
			if ok {
				f.Complete = &named
			}
			break
		}
		feeds = append(feeds, f)
	}
	return feeds, nil
}
