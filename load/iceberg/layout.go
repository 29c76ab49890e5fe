package iceberg

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"dealflow/load/store"
	"dealflow/schemas/lake"
)

// The keys of the objects that do not belong to one table.
const (
	settingsKey = lake.IcebergSettings
	// PublishedKey is the key of the object that says what is published.
	PublishedKey = lake.IcebergPrefix + "published.json"
)

// statesPrefix begins the keys of states.
const statesPrefix = lake.IcebergPrefix + "states/"

// formatVersion is the version of the settings and of Published, which only this package reads.
const formatVersion = 1

// The namespaces of the tables.
const (
	Current   = "current"   // the lake as of now, with a snapshot for each kept commit: time travel is as-of
	History   = "history"   // every version of every row, as of now
	Snapshots = "snapshots" // the daily snapshots, as of now
)

// Namespaces returns the namespaces. The caller owns the slice.
func Namespaces() []string { return []string{Current, History, Snapshots} }

// Table is one of the tables that are published.
type Table struct {
	Namespace string
	Name      string
	source    string // table in commits, whose files contain the rows
}

func (t Table) String() string { return t.Namespace + "." + t.Name }

// Tables returns all tables. The caller owns the slice.
func Tables() []Table {
	var all []Table
	for _, t := range lake.Tables() {
		all = append(all, Table{Current, t.Name, lake.HistoryTable(t.Name)})
	}
	for _, t := range lake.Tables() {
		all = append(all, Table{History, t.Name, lake.HistoryTable(t.Name)})
	}
	all = append(all, Table{History, lake.DealVersions, lake.HistoryTable(lake.DealVersions)})
	for _, t := range lake.Tables() {
		all = append(all, Table{Snapshots, t.Name, lake.SnapshotTable(t.Name)})
	}
	return all
}

// folder returns the prefix of the keys of the table's objects.
func (t Table) folder() string { return lake.IcebergPrefix + t.Namespace + "/" + t.Name + "/" }

// metadataFolder returns the prefix of the keys of the table's metadata and its hint.
func (t Table) metadataFolder() string { return t.folder() + "metadata/" }

// hintKey returns the key of the object that has the number of the newest metadata.
func (t Table) hintKey() string { return t.metadataFolder() + hintName }

const hintName = "version-hint.text"

// metadataKey returns the key of a version of the table's metadata.
func (t Table) metadataKey(version int64) string {
	return t.metadataFolder() + metadataName(version)
}

func metadataName(version int64) string { return fmt.Sprintf("v%d.metadata.json", version) }

// metadataVersion parses the version in a key of metadataKey's form; false for other keys.
func metadataVersion(key string) (version int64, ok bool) {
	name := key[strings.LastIndexByte(key, '/')+1:]
	if !strings.HasPrefix(name, "v") || !strings.HasSuffix(name, ".metadata.json") {
		return 0, false
	}
	_, err := fmt.Sscanf(name, "v%d.metadata.json", &version)
	return version, err == nil
}

// location returns the absolute URI of a key: readers of the tables need a scheme.
func location(root, key string) string {
	if !strings.Contains(root, "://") {
		root = "file://" + root
	}
	return strings.TrimSuffix(root, "/") + "/" + key
}

// Settings is what the lake remembers of how its tables are published.
type Settings struct {
	FormatVersion int           `json:"format_version"`
	On            bool          `json:"on"`
	KeepAll       bool          `json:"keep_all"` // each commit that added versions stays readable, not only those of keep.go
	Every         time.Duration `json:"every_ns"` // shortest time between two publications after syncs
	// LastVersion is the newest version of any metadata that was removed: later ones go on from it, because engines remember what
	// was at a location.
	LastVersion int64 `json:"last_version,omitempty"`
}

// DefaultEvery is the shortest time between two publications after syncs, if the lake does not say another.
const DefaultEvery = time.Hour

// ReadSettings returns the lake's settings; those of a lake without any if it has none.
func ReadSettings(ctx context.Context, s store.Store) (Settings, error) {
	settings := Settings{FormatVersion: formatVersion, Every: DefaultEvery}
	err := readJSON(ctx, s, settingsKey, &settings)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return settings, err
	}
	if settings.FormatVersion > formatVersion {
		return settings, newer(settingsKey, settings.FormatVersion, formatVersion)
	}
	return settings, nil
}

// WriteSettings replaces the lake's settings.
func WriteSettings(ctx context.Context, s store.Store, settings Settings) error {
	settings.FormatVersion = formatVersion
	return putJSON(ctx, s, settingsKey, settings)
}

// Published says what is published: all tables, for one commit.
type Published struct {
	FormatVersion int `json:"format_version"`
	lake.NamedCommit
	At       lake.Instant     `json:"published_at"` // by the clock of the machine
	Location string           `json:"location"`     // URI of the lake; its tables are only valid there
	State    string           `json:"state"`        // key of what the next publication continues from
	Kept     int              `json:"kept"`         // snapshots of each table of Current
	Tables   []PublishedTable `json:"tables"`
}

// PublishedTable is one table in Published.
type PublishedTable struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	Version   int64  `json:"version"` // of its metadata
	Snapshots int    `json:"snapshots"`
	Objects   int    `json:"objects"` // delete files, manifests, lists, and the metadata that names them
	Bytes     int64  `json:"bytes"`   // of these
}

// Metadata returns the key of the table's metadata.
func (t *PublishedTable) Metadata() string {
	return Table{Namespace: t.Namespace, Name: t.Name}.metadataKey(t.Version)
}

// ReadPublished returns what is published; nil for nothing.
func ReadPublished(ctx context.Context, s store.Store) (*Published, error) {
	var p Published
	err := readJSON(ctx, s, PublishedKey, &p)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return nil, nil //nolint:nilnil // nothing is published
	case p.FormatVersion > formatVersion: // whatever else it says
		return nil, newer(PublishedKey, p.FormatVersion, formatVersion)
	case err != nil:
		return nil, err
	}
	return &p, nil
}

// errNewer is the error of an object that a newer program wrote.
var errNewer = errors.New("use a later dealflow")

func newer(key string, found, known int) error {
	return fmt.Errorf("%s: format version %d, this program reads versions up to %d; %w", key, found, known, errNewer)
}

func readJSON(ctx context.Context, s store.Store, key string, into any) error {
	data, err := store.Read(ctx, s, key)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, into); err != nil {
		return fmt.Errorf("%s: %w", key, err)
	}
	return nil
}

func putJSON(ctx context.Context, s store.Store, key string, value any) error {
	data, err := json.Marshal(value)
	if err != nil {
		return err
	}
	return s.Put(ctx, key, bytes.NewReader(append(data, '\n')), store.Replace)
}
