package export

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"

	"dealflow/load/store"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
)

// ManifestVersion is the version of manifests that this program writes, and the only one that it reads.
const ManifestVersion = 1

// Manifest names the files of one export. It is an object in the target; fields are only ever added.
type Manifest struct {
	FormatVersion   int               `json:"format_version"`
	DealflowVersion string            `json:"dealflow_version"`
	ID              string            `json:"export"` // UUIDv7
	Lake            string            `json:"lake"`   // URL
	From            *lake.NamedCommit `json:"from"`   // null: from the beginning
	To              lake.NamedCommit  `json:"to"`
	Format          string            `json:"format"`         // parquet, csv or ndjson
	SchemaVersion   int               `json:"schema_version"` // of the columns
	Tables          []Table           `json:"tables"`
	Feeds           []Feed            `json:"feeds"`
}

// Table is a table in a manifest. A loader deletes first, then inserts: with ModeFull all rows of the table, else those
// whose (market, deal_id) are in Deletes.
type Table struct {
	Table   string `json:"table"`
	Mode    string `json:"mode"`
	Deletes *File  `json:"deletes"` // tables of one feed kind share a file; null if no deal changed, and from the beginning
	Inserts *File  `json:"inserts"` // null: no rows
}

// The modes of a table.
const (
	ModeChanges = "changes"
	ModeFull    = "full"
)

// File is a file of an export.
type File struct {
	Path   string `json:"path"` // key in the target
	Rows   int64  `json:"rows"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// Feed says which rows of a feed may still be corrected by the next complete snapshot: those with a commit after
// Complete. They came from syncs, which cannot see everything.
type Feed struct {
	Feed        api.Feed          `json:"feed"`
	Complete    *lake.NamedCommit `json:"complete"`          // null: there is none up to the export's last commit
	Provisional int64             `json:"provisional_deals"` // deals as of the export's last commit with a later commit
}

const manifestPrefix = "manifests/"

// dataPrefix begins the keys of the files of an export up to a commit.
func dataPrefix(to int64, id string) string { return fmt.Sprintf("data/%020d/%s/", to, id) }

// manifestKey returns the key of the manifest of an export from a commit (0: the beginning) to another.
func manifestKey(from, to int64) string {
	return fmt.Sprintf("%s%020d-%020d.json", manifestPrefix, from, to)
}

// fromNumber is the number of the commit after which the export begins; 0 for the beginning.
func (m *Manifest) fromNumber() int64 {
	if m.From == nil {
		return 0
	}
	return m.From.Number
}

func (m *Manifest) commits() commitRange { return commitRange{m.fromNumber(), m.To.Number} }

func (m *Manifest) key() string { return m.commits().key() }

// tableNames lists the tables in the order of the manifest.
func (m *Manifest) tableNames() []string {
	var names []string
	for i := range m.Tables {
		names = append(names, m.Tables[i].Table)
	}
	return names
}

// isSame says whether another manifest is of the same commits, tables and format.
func (m *Manifest) isSame(other *Manifest) bool {
	sameFrom := m.From == nil && other.From == nil || m.From != nil && other.From != nil && m.From.SHA256 == other.From.SHA256
	return sameFrom && m.To.SHA256 == other.To.SHA256 && m.Format == other.Format && slices.Equal(m.tableNames(), other.tableNames())
}

// encode returns the manifest's bytes.
func (m *Manifest) encode() ([]byte, error) {
	data, err := json.MarshalIndent(m, "", "  ")
	return append(data, '\n'), err
}

// ReadManifest reads a manifest by its name in the folder of manifests.
func ReadManifest(ctx context.Context, target store.Store, name string) (*Manifest, error) {
	return readManifest(ctx, target, manifestPrefix+name)
}

func readManifest(ctx context.Context, target store.Store, key string) (*Manifest, error) {
	data, err := store.Read(ctx, target, key)
	if err != nil {
		return nil, fmt.Errorf("read %s of %s: %w", key, target.URL(), err)
	}
	var m Manifest
	if err = json.Unmarshal(data, &m); err == nil && m.FormatVersion != ManifestVersion {
		err = fmt.Errorf("format_version is %d, this program knows %d", m.FormatVersion, ManifestVersion)
	}
	if err == nil && m.key() != key {
		err = errors.New("it names other commits than its key")
	}
	if err != nil {
		return nil, fmt.Errorf("%s of %s is no manifest of an export: %w; use another target", key, target.URL(), err)
	}
	return &m, nil
}

// Sums returns the number of files, the number of rows to insert, and the bytes of all files.
func (m *Manifest) Sums() (files int, rows, bytes int64) {
	for f := range m.files() {
		files, bytes = files+1, bytes+f.Bytes
	}
	for i := range m.Tables {
		if f := m.Tables[i].Inserts; f != nil {
			rows += f.Rows
		}
	}
	return files, rows, bytes
}

// files yields each file of the export once.
func (m *Manifest) files() iter.Seq[*File] {
	return func(yield func(*File) bool) {
		met := map[string]bool{}
		for i := range m.Tables {
			for _, f := range []*File{m.Tables[i].Deletes, m.Tables[i].Inserts} {
				if f == nil || met[f.Path] {
					continue
				}
				if met[f.Path] = true; !yield(f) {
					return
				}
			}
		}
	}
}

// Range names the commits of the export for people.
func (m *Manifest) Range() string {
	if m.From == nil {
		return fmt.Sprintf("all up to commit %d", m.To.Number)
	}
	return fmt.Sprintf("the changes after commit %d up to commit %d", m.From.Number, m.To.Number)
}
