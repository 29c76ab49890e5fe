package sql

import (
	"context"
	stdsql "database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"dealflow/schemas/api"
	"dealflow/schemas/lake"
	"dealflow/sql/runrows"
)

// baseline is the commit up to which the previous catalog is complete.
type baseline struct {
	commit  int64           // 0: there is no previous catalog
	instant string          // that commit's known_at; -infinity if there is none
	runs    map[string]bool // ids of the runs up to that commit that wrote live files, as far as Catalog.Runs does not have them
}

// errNotExtendable means that the previous catalog cannot be extended.
var errNotExtendable = errors.New("the previous catalog cannot be extended: it is of another lake or program, or older than a replay")

// readBaseline returns the baseline of the opened catalog if it is of this lake and program. A replay may have
// corrected history, so a catalog that is older than a replay is never extended.
func (c *Catalog) readBaseline(ctx context.Context, conn *stdsql.Conn) (from baseline, err error) {
	layout, err := layoutHash(ctx, conn)
	if err != nil {
		return from, err
	}
	var runID string
	err = conn.QueryRowContext(ctx, `
SELECT c."commit", strftime(c.known_at, '%Y-%m-%dT%H:%M:%S.%fZ'), r.run_id
FROM _dealflow.catalog c JOIN main.runs r ON r."commit" = c."commit"
WHERE c.layout = ? AND c.lake_id = ?`, layout, c.lakeID()).Scan(&from.commit, &from.instant, &runID)
	if err != nil {
		return from, fmt.Errorf("%w (%w)", errNotExtendable, err)
	}
	ours := false
	for i := range c.Runs {
		run := &c.Runs[i]
		switch {
		case run.Number == from.commit:
			ours = run.RunID == runID
		case run.Number > from.commit && run.Command == lake.CommandReplay:
			return from, errNotExtendable
		}
	}
	if !ours {
		return from, errNotExtendable
	}
	from.runs, err = runrows.Others(ctx, conn, c.Runs, c.Files)
	return from, err
}

func isHistory(f *lake.File) bool { return strings.HasPrefix(f.Table, lake.HistoryTable("")) }

// newFiles are the history files with versions that are newer than the baseline.
type newFiles struct {
	baseline
	files   map[string][]*lake.File // by table; a file may contain older versions too
	renamed bool                    // the aliases may differ from those of the baseline
}

// newFilesSince returns the history files that were written after the baseline, by pulls and compactions. A file whose
// run id is not in the log is always included: we cannot tell what it adds.
func (c *Catalog) newFilesSince(from baseline) newFiles {
	old := map[string]bool{}
	maps.Copy(old, from.runs)
	pulled := false
	for i := range c.Runs {
		run := &c.Runs[i]
		if run.Number <= from.commit {
			old[run.RunID] = true
		} else if len(run.Feeds) > 0 {
			pulled = true
		}
	}
	found := newFiles{baseline: from}
	if !pulled {
		return found // no later commit added versions
	}
	var files []lake.File
	for i := range c.Files {
		if !old[c.Files[i].RunID()] && isHistory(&c.Files[i]) {
			files = append(files, c.Files[i])
		}
	}
	found.files = filesOf(files)
	return found
}

// inMarket returns the files that have rows of a market. They may have rows of others too.
func (f *newFiles) inMarket(market api.Market) newFiles {
	some := *f
	some.files = map[string][]*lake.File{}
	for table, files := range f.files {
		for _, file := range files {
			if file.HasMarket(market) {
				some.files[table] = append(some.files[table], file)
			}
		}
	}
	return some
}

// rows returns the number of rows in the files of some tables; of all of them if none is named.
func (f *newFiles) rows(tables ...string) (rows int64) {
	for table, files := range f.files {
		if len(tables) > 0 && !slices.Contains(tables, table) {
			continue
		}
		for i := range files {
			rows += files[i].Rows
		}
	}
	return rows
}

// newRows lists the new files of the flattened tables, whose rows the derived tables need. Of deal_versions a catalog
// reads only an index.
func newRows(added newFiles) []lake.File {
	var files []lake.File
	for _, table := range lake.Tables() {
		files = append(files, lake.ValuesOf(added.files[lake.HistoryTable(table.Name)])...)
	}
	return files
}
