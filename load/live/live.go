package live

import (
	"slices"
	"strings"

	"dealflow/schemas/lake"
)

// Files are the live files of a log. The zero value has none. Any number of goroutines may read them at once, but not while
// one changes or indexes them. The files that methods return are shared: do not modify them.
type Files struct {
	byPath map[string]*lake.File
	sorted []*lake.File            // by path, when they were last indexed; some may be gone since
	added  []*lake.File            // since, in the order of Put; some may be gone
	tables map[string][]*lake.File // of sorted; nil if there was a change since
}

// New returns Files with room for a number of files.
func New(room int) Files { return Files{byPath: make(map[string]*lake.File, room)} }

// Put adds a file, which Files keeps, or replaces the one with the same path.
func (f *Files) Put(file *lake.File) {
	if f.byPath == nil {
		f.byPath = map[string]*lake.File{}
	}
	f.byPath[file.Path] = file
	f.added, f.tables = append(f.added, file), nil
}

// Remove removes the file with a path, if there is one.
func (f *Files) Remove(path string) {
	delete(f.byPath, path)
	f.tables = nil
}

// Len returns the number of files.
func (f *Files) Len() int { return len(f.byPath) }

// Get returns the file with a path; nil if there is none.
func (f *Files) Get(path string) *lake.File { return f.byPath[path] }

// All returns all files, sorted by path. The slice is shared, too.
func (f *Files) All() []*lake.File {
	sorted, _ := f.ordered()
	return sorted
}

// Of returns the files of a table, as a commit names it, sorted by path. The slice is shared, too.
func (f *Files) Of(table string) []*lake.File {
	_, tables := f.ordered()
	return tables[table]
}

// Index orders the files once. Without it each call of All and Of orders them.
func (f *Files) Index() {
	f.sorted, f.tables = f.ordered()
	f.added = nil
}

// ordered returns the files sorted by path, and those of each table. It merges what was added into what was sorted before.
func (f *Files) ordered() (sorted []*lake.File, tables map[string][]*lake.File) {
	if f.tables != nil {
		return f.sorted, f.tables
	}
	old, added := f.sorted, slices.SortedFunc(slices.Values(f.added), func(a, b *lake.File) int { return strings.Compare(a.Path, b.Path) })
	sorted, tables = make([]*lake.File, 0, len(f.byPath)), map[string][]*lake.File{}
	for len(old)+len(added) > 0 {
		from := &old
		if len(old) == 0 || len(added) > 0 && added[0].Path < old[0].Path {
			from = &added
		}
		file := (*from)[0]
		*from = (*from)[1:]
		if f.byPath[file.Path] == file { // else it was removed or replaced
			sorted, tables[file.Table] = append(sorted, file), append(tables[file.Table], file)
		}
	}
	return sorted, tables
}
