package maintain

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"dealflow/load"
	"dealflow/load/mirror"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
)

// ReplayConfig says what replay rebuilds.
type ReplayConfig struct {
	Config
	Snapshots bool // rebuild the snapshots too
	Force     bool // replace all files, even if their rows are what the payloads say
}

// ReplayResult says what replay found and did. `--json` prints this object; fields are only ever added.
type ReplayResult struct {
	Result
	Equal  bool            `json:"equal"`  // every row was what the payloads say
	Tables []ReplayedTable `json:"tables"` // those that were compared, by name; deal_versions only if it was rewritten
}

// ReplayedTable is what replay found in one table. Table is its name as in commits.
type ReplayedTable struct {
	Table       string   `json:"table"`
	FilesBefore int      `json:"files_before"`
	RowsBefore  int64    `json:"rows_before"`   // except rows of damaged files
	Rows        int64    `json:"rows"`          // from the payloads
	Different   int64    `json:"different"`     // rows that were not what the payloads say, those of damaged files too; 0: equal
	Damaged     int      `json:"damaged_files"` // absent, or different from what was committed
	Replaced    int      `json:"replaced_files"`
	Where       []string `json:"where"`    // the partitions with different rows
	Improved    []string `json:"improved"` // columns that the present rules or parsers read differently, or that came later; such rows still count as equal
}

// Replay rebuilds the history of the flattened tables from the payloads in deal_versions, under the current schema, and
// compares it with the existing files. It replaces the files of a partition if rows differ, or if a file is damaged or
// of an older schema version; with Force it replaces all. All replacements are one commit. If there is nothing to
// replace, nothing is written or committed (lake.OutcomeUnchanged): history is what its payloads say. Files of
// deal_versions are rewritten if they have an older schema version, because their rows name the version of the
// flattening.
//
// If a payload can no longer be read, Replay ends and commits nothing. If another command holds the lease, nothing is
// done (lake.OutcomeSkipped). Errors and the result are those of Compact.
func Replay(ctx context.Context, cfg ReplayConfig) (*ReplayResult, error) {
	result := &ReplayResult{Tables: []ReplayedTable{}}
	begun, err := execute(ctx, cfg.Config, lake.CommandReplay, &result.Result, func(ctx context.Context, w *work) error {
		stored, err := mirror.NewCache(filepath.Join(w.tx.WorkDir(), "stored"), storedBytes)
		if err != nil {
			return err
		}
		p := &replay{work: w, cfg: cfg, live: liveFiles(w.lake.Log()), stored: stored, tables: map[string]*ReplayedTable{}}
		if err := p.rebuildAll(ctx); err != nil {
			return fmt.Errorf("replay: %w", err)
		}
		p.report(result)
		if !p.changed {
			result.Outcome = lake.OutcomeUnchanged
			return nil
		}
		remove, err := TakeOut(ctx, w.lake, w.tx, w.Cache, p.replaced)
		if err != nil {
			return fmt.Errorf("replay: %w", err)
		}
		return w.commitWith(ctx, lake.Commit{Remove: remove, Corrections: lake.Corrections{Restated: p.restated()}}, &result.Result)
	})
	if !begun {
		return nil, err
	}
	return result, err
}

// storedBytes limits the files that replay keeps in the work folder to 1 GiB. It fetches the others for each market.
const storedBytes = 1 << 30

// replay is one execution of Replay.
type replay struct {
	*work
	cfg  ReplayConfig
	live map[tableKey][]lake.File
	// stored has files as the store has them now: several markets compare the same ones. Cache may have copies of earlier
	// commands, which would hide damage.
	stored *mirror.Cache

	mu       sync.Mutex // guards what follows
	replaced []Part
	changed  bool // files were written or are to be removed
	tables   map[string]*ReplayedTable
}

// rebuildAll rebuilds all markets, up to Workers at once.
func (p *replay) rebuildAll(ctx context.Context) error {
	group, workers := errgroup.WithContext(ctx)
	group.SetLimit(p.Workers)
	for _, service := range api.Services() {
		for _, market := range api.Markets(service) {
			feeds := slices.DeleteFunc(api.Feeds(), func(f api.Feed) bool { return f.Market != market })
			group.Go(func() error { return p.market(workers, market, feeds) })
		}
	}
	if err := group.Wait(); err != nil {
		return err
	}
	for _, files := range outdatedVersions(p.lake.Log()) {
		if err := p.mergeVersions(ctx, files); err != nil {
			return err
		}
	}
	return nil
}

// market rebuilds the tables of a market's feeds: the versions of both feeds are in the same files.
func (p *replay) market(ctx context.Context, market api.Market, feeds []api.Feed) error {
	versions := p.files(lake.HistoryTable(lake.DealVersions), market)
	years := map[string]bool{}
	for _, f := range versions {
		years[f.Year()] = true
	}
	for _, feed := range feeds {
		for _, table := range lake.FeedTables(feed) {
			for _, f := range p.files(lake.HistoryTable(table.Name), market) {
				years[f.Year()] = true
			}
		}
	}
	for _, year := range slices.Sorted(maps.Keys(years)) {
		if err := p.year(ctx, year, inYear(versions, year), feeds); err != nil {
			return err
		}
	}
	if !p.cfg.Snapshots {
		return nil
	}
	return p.snapshots(ctx, versions, feeds)
}

// tableKey is a table, as commits name it, and a market.
type tableKey struct {
	table  string
	market api.Market
}

func liveFiles(log *load.Log) map[tableKey][]lake.File {
	live := map[tableKey][]lake.File{}
	for _, f := range log.AllFiles() {
		for _, market := range f.Markets() {
			key := tableKey{f.Table, market}
			live[key] = append(live[key], f)
		}
	}
	return live
}

// files lists the live files of a table and market. The slice is shared: do not modify it.
func (p *replay) files(table string, market api.Market) []lake.File {
	return p.live[tableKey{table, market}]
}

func inYear(files []lake.File, year string) []lake.File {
	return slices.DeleteFunc(slices.Clone(files), func(f lake.File) bool { return f.Year() != year })
}

// year rebuilds a year's history from the files of deal_versions of that year.
func (p *replay) year(ctx context.Context, year string, versions []lake.File, feeds []api.Feed) (err error) {
	number, err := strconv.Atoi(year)
	if err != nil {
		return fmt.Errorf("a commit names year %q, want a number; run `dealflow verify`", year)
	}
	parts := make([]*rebuilt, 0, len(feeds))
	defer func() {
		for _, part := range parts {
			err = errors.Join(err, part.end())
		}
	}()
	for _, feed := range feeds {
		part, err := p.newRebuilt(ctx, feed, "market="+string(feed.Market)+"/year="+year, func(table *lake.Table) (string, []lake.File) {
			name := lake.HistoryTable(table.Name)
			return name, inYear(p.files(name, feed.Market), year)
		})
		if err != nil {
			return err
		}
		parts = append(parts, part)
	}
	// Each portion of the versions becomes one file in every table: a merge of all of them would have too many files
	// open.
	for portion := range slices.Chunk(versions, compactFiles) {
		if err := p.portion(ctx, number, portion, parts); err != nil {
			return err
		}
	}
	for _, part := range parts {
		if err := part.compareTables(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (p *replay) portion(ctx context.Context, year int, versions []lake.File, parts []*rebuilt) (err error) {
	copied, err := copyFiles(ctx, p.lake, p.tx, cmp.Or(p.Cache, p.stored), versions)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, copied.close()) }()
	for _, part := range parts {
		part.beginHistory(year)
		err := copied.versions(ctx, part.feed, func(v *storedVersion) error {
			return part.append(v)
		})
		if err != nil {
			return err
		}
		if err := part.stretches.End(); err != nil {
			return err
		}
	}
	return nil
}

// mergeVersions rewrites files of deal_versions under the current schema.
func (p *replay) mergeVersions(ctx context.Context, files []lake.File) error {
	if err := merge(ctx, p.lake, p.tx, merging{files: files, schema: lake.SchemaVersion, cache: p.Cache}); err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	t := p.table(files[0].Table)
	for _, f := range files {
		t.RowsBefore += f.Rows
		t.Rows += f.Rows
	}
	t.FilesBefore += len(files)
	for _, f := range files {
		for _, market := range f.Markets() {
			p.replaced = append(p.replaced, Part{f, market})
		}
	}
	p.changed = true
	t.Replaced += len(files)
	return nil
}

// table returns a table's report, and creates it if it is absent. The caller holds p.mu.
func (p *replay) table(name string) *ReplayedTable {
	if p.tables[name] == nil {
		p.tables[name] = &ReplayedTable{Table: name, Where: []string{}, Improved: []string{}}
	}
	return p.tables[name]
}

// replace records that the rows of a market in files are replaced by what was written. The caller holds p.mu.
func (p *replay) replace(t *ReplayedTable, market api.Market, files []lake.File) {
	p.changed = true
	t.Replaced += len(files)
	for _, f := range files {
		p.replaced = append(p.replaced, Part{f, market})
	}
}

// report fills the result. No other goroutine uses p any more.
func (p *replay) report(result *ReplayResult) {
	result.Equal = true
	for _, name := range slices.Sorted(maps.Keys(p.tables)) {
		t := p.tables[name]
		slices.Sort(t.Where)
		slices.Sort(t.Improved)
		t.Improved = slices.Compact(t.Improved)
		result.Tables = append(result.Tables, *t)
		result.Equal = result.Equal && t.Different == 0
	}
}

// restated names the flattened tables whose history has other values than before. No other goroutine uses p any more.
func (p *replay) restated() []string {
	names := []string{} // not nil: this commit says it
	for _, name := range slices.Sorted(maps.Keys(p.tables)) {
		t := p.tables[name]
		table, history := strings.CutPrefix(name, lake.HistoryTable(""))
		if _, flattened := lake.TableByName(table); history && flattened && (t.Different > 0 || len(t.Improved) > 0) {
			names = append(names, table)
		}
	}
	return names
}
