package maintain

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"dealflow/load"
	"dealflow/schemas/lake"
)

// compactBytes is 64 MiB, the size from which a history file is large enough: it is not merged any more. Readers gain
// nothing from larger files, and a much smaller size would leave many files. It also bounds what each compaction writes
// again.
const compactBytes = 64 << 20

// compactFiles is the greatest number of files that are merged into one. All of them are open at once, and a merge
// without a bound might never reach its commit.
const compactFiles = 256

// snapshotDays is the age in days of the newest snapshots that are not merged. A day may be pulled again, and most
// readers ask for the newest ones, so that merging them at once would be of little use.
const snapshotDays = 7

// compactable returns what a compaction would merge: groups of small history files of one table and year under the current
// schema. It leaves out a table and year with at most `most` files that no merge has written, except of the oldest past year
// where two are left: a past year gets no more files. Runs so merge a year at a time, and none takes long for the years of an
// older program. A year that cannot be merged keeps runs from later ones: their warning names `dealflow compact`, which goes on.
// year is the present one.
func compactable(log *load.Log, year, most int) [][]lake.File {
	var groups [][]lake.File
	all := smallHistory(log)
	past := min(oldestUnmerged(all), strconv.Itoa(year-1))
	for _, small := range all {
		if n := unmerged(small); n > most || n >= 2 && small[0].Year() <= past {
			groups = append(groups, portions(small, 2)...)
		}
	}
	return slices.DeleteFunc(groups, func(group []lake.File) bool { return unmerged(group) == 0 })
}

// oldestUnmerged returns the first year of which a table has two files that no merge has written.
func oldestUnmerged(groups [][]lake.File) string {
	oldest := "9999"
	for _, small := range groups {
		if unmerged(small) >= 2 {
			oldest = min(oldest, small[0].Year())
		}
	}
	return oldest
}

// unmerged counts the files that no merge has written.
func unmerged(files []lake.File) int {
	return len(slices.DeleteFunc(slices.Clone(files), func(f lake.File) bool { return f.IsShared() }))
}

// smallHistory lists the small history files of the current schema, by table and year.
func smallHistory(log *load.Log) [][]lake.File {
	return groupFiles(log, tableAndTime, func(f *lake.File) bool {
		return strings.HasPrefix(f.Table, lake.HistoryTable("")) && f.SchemaVersion == lake.SchemaVersion && f.Bytes < compactBytes
	})
}

// tableAndTime names a table, a year or day, and a schema version.
func tableAndTime(f *lake.File) string {
	return fmt.Sprintf("%s/%s%s/%d", f.Table, f.Year(), f.Day(), f.SchemaVersion)
}

// groupFiles lists the wanted live files by the name of their group, sorted. The shared files of a group come first.
func groupFiles(log *load.Log, nameOf func(*lake.File) string, wanted func(*lake.File) bool) [][]lake.File {
	byGroup := map[string][]lake.File{}
	var names []string
	for _, f := range log.AllFiles() {
		if !wanted(&f) {
			continue
		}
		name := nameOf(&f)
		if byGroup[name] == nil {
			names = append(names, name)
		}
		byGroup[name] = append(byGroup[name], f)
	}
	slices.Sort(names)
	groups := make([][]lake.File, len(names))
	for i, name := range names {
		slices.SortStableFunc(byGroup[name], func(a, b lake.File) int { return unmerged([]lake.File{a}) - unmerged([]lake.File{b}) })
		groups[i] = byGroup[name]
	}
	return groups
}

// portions splits files into groups that one merge can read. It omits groups of fewer than least files.
func portions(files []lake.File, least int) [][]lake.File {
	var groups [][]lake.File
	for len(files) > 0 {
		n, size := 0, int64(0)
		for n < len(files) && n < compactFiles && size < compactBytes {
			size += files[n].Bytes
			n++
		}
		if n >= least {
			groups = append(groups, files[:n])
		}
		files = files[n:]
	}
	return groups
}

// compactableSnapshots returns the files of each table and day that a compaction would merge: of days older than
// snapshotDays, counted as Retention counts. Files of several schema versions are not merged.
func compactableSnapshots(log *load.Log, now time.Time) ([][]lake.File, error) {
	last, err := lastDay(log, now)
	if err != nil || last.IsZero() {
		return nil, err
	}
	from := last.AddDate(0, 0, -snapshotDays).Format(time.DateOnly)
	groups := groupFiles(log, tableAndTime, func(f *lake.File) bool {
		return strings.HasPrefix(f.Table, lake.SnapshotTable("")) && f.Day() < from && f.SchemaVersion <= lake.SchemaVersion
	})
	return slices.DeleteFunc(groups, func(group []lake.File) bool { return len(group) < 2 || len(group) > compactFiles }), nil
}

func folderOf(f *lake.File) string { return path.Dir(f.Path) }

// outdatedVersions lists the files of deal_versions that have an older schema version, in groups that merge can read.
func outdatedVersions(log *load.Log) [][]lake.File {
	var groups [][]lake.File
	for _, files := range groupFiles(log, folderOf, func(f *lake.File) bool {
		return f.Table == lake.HistoryTable(lake.DealVersions) && f.SchemaVersion < lake.SchemaVersion
	}) {
		groups = append(groups, portions(files, 1)...)
	}
	return groups
}
