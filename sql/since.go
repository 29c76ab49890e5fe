package sql

import (
	"context"
	stdsql "database/sql"
	"errors"
	"fmt"
	"strings"

	"dealflow/schemas/lake"
)

// since is up to where an earlier catalog holds.
type since struct {
	commit  int64  // 0: there is none
	instant string // that commit's known_at; before all instants where there is none
}

// errOtherCatalog says that an earlier catalog cannot be gone on from.
var errOtherCatalog = errors.New("it is of another lake or program, or older than a replay")

// goesOn says up to where the opened catalog holds, if it is of this lake and program. A replay may
// have mended history, so no catalog goes on from one that is older.
func (c *Catalog) goesOn(ctx context.Context, conn *stdsql.Conn) (from since, err error) {
	layout, err := layoutHash()
	if err != nil {
		return from, err
	}
	var runID string
	err = conn.QueryRowContext(ctx, `
SELECT c."commit", strftime(c.known_at, '%Y-%m-%dT%H:%M:%S.%fZ'), r.run_id
FROM _dealflow.catalog c JOIN main.runs r ON r."commit" = c."commit"
WHERE c.layout = ?`, layout).Scan(&from.commit, &from.instant, &runID)
	if err != nil {
		return from, fmt.Errorf("%w (%w)", errOtherCatalog, err)
	}
	ours := false
	for i := range c.Runs {
		run := &c.Runs[i]
		switch {
		case run.Number == from.commit:
			ours = run.RunID == runID
		case run.Number > from.commit && run.Command == "replay":
			return from, errOtherCatalog
		}
	}
	if !ours {
		return from, errOtherCatalog
	}
	return from, nil
}

// news is what a catalog takes in: all that came to be known since.
type news struct {
	since
	files map[string][]lake.File // history files that hold it, and perhaps what is older, by table
}

// newsSince finds the files that hold what came since: those of the runs since, the compactions among them.
// Whose run the log does not know may hold anything.
func (c *Catalog) newsSince(from since) news {
	old := map[string]bool{}
	pulled := false
	for i := range c.Runs {
		run := &c.Runs[i]
		if run.Number <= from.commit {
			old[run.RunID] = true
		} else if len(run.Feeds) > 0 {
			pulled = true
		}
	}
	found := news{since: from}
	if !pulled {
		return found // nothing has come to be known
	}
	var files []lake.File
	for i := range c.Files {
		if !old[c.Files[i].RunID()] && strings.HasPrefix(c.Files[i].Table, lake.HistoryTable("")) {
			files = append(files, c.Files[i])
		}
	}
	found.files = filesOf(files)
	return found
}

// newRows lists the files of the flattened tables in news: derived tables are computed from their rows. Of deal_versions
// only an index is read.
func newRows(of news) []lake.File {
	var files []lake.File
	for _, table := range lake.Tables() {
		files = append(files, of.files[lake.HistoryTable(table.Name)]...)
	}
	return files
}
