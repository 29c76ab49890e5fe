package iceberg

import (
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/google/uuid"

	"dealflow/load/iceberg/manifest"
	"dealflow/schemas/lake"
)

// schemaID is the id of each table's schema: it changes with the columns.
const schemaID = lake.SchemaVersion

// The types of the metadata's JSON, with the names of the Iceberg format, version 2.
type (
	tableMetadata struct {
		FormatVersion   int               `json:"format-version"`
		UUID            string            `json:"table-uuid"`
		Location        string            `json:"location"`
		LastSequence    int64             `json:"last-sequence-number"`
		LastUpdated     int64             `json:"last-updated-ms"`
		LastColumn      int32             `json:"last-column-id"`
		CurrentSchema   int               `json:"current-schema-id"`
		Schemas         []json.RawMessage `json:"schemas"`
		DefaultSpec     int               `json:"default-spec-id"`
		Specs           []partitionSpec   `json:"partition-specs"`
		LastPartition   int               `json:"last-partition-id"`
		DefaultOrder    int               `json:"default-sort-order-id"`
		Orders          []sortOrder       `json:"sort-orders"`
		Properties      map[string]string `json:"properties"`
		CurrentSnapshot int64             `json:"current-snapshot-id"`
		Refs            map[string]ref    `json:"refs"`
		Snapshots       []snapshotEntry   `json:"snapshots"`
		Log             []logEntry        `json:"snapshot-log"`
		MetadataLog     []struct{}        `json:"metadata-log"`
	}
	partitionSpec struct {
		ID     int        `json:"spec-id"`
		Fields []struct{} `json:"fields"`
	}
	sortOrder struct {
		ID     int        `json:"order-id"`
		Fields []struct{} `json:"fields"`
	}
	ref struct {
		Snapshot int64  `json:"snapshot-id"`
		Type     string `json:"type"`
	}
	snapshotEntry struct {
		ID       int64             `json:"snapshot-id"`
		Parent   int64             `json:"parent-snapshot-id,omitempty"`
		Sequence int64             `json:"sequence-number"`
		Time     int64             `json:"timestamp-ms"`
		List     string            `json:"manifest-list"`
		Summary  map[string]string `json:"summary"`
		Schema   int               `json:"schema-id"`
	}
	logEntry struct {
		Time     int64 `json:"timestamp-ms"`
		Snapshot int64 `json:"snapshot-id"`
	}
	schemaJSON struct {
		Type   string        `json:"type"`
		ID     int           `json:"schema-id"`
		Fields []schemaField `json:"fields"`
	}
	schemaField struct {
		ID       int32  `json:"id"`
		Name     string `json:"name"`
		Required bool   `json:"required"`
		Type     string `json:"type"`
		Doc      string `json:"doc,omitempty"`
	}
)

// stateProperty is the property of a table that names the key of the state that it was published with.
const stateProperty = "dealflow.state"

// The properties of a snapshot.
const (
	knownAtProperty = "dealflow.known_at_us"
	hashProperty    = "dealflow.sha256" // the first digits of the commit's hash
)

// hashDigits is the number of digits of a commit's hash in a snapshot: each metadata has one for each kept commit.
const hashDigits = 12

// icebergType returns the name of a column's type.
func icebergType(t lake.Type) string {
	switch t {
	case lake.Int32:
		return "int"
	case lake.Int64:
		return "long"
	case lake.Bool:
		return "boolean"
	case lake.Date:
		return "date"
	case lake.Timestamp:
		return "timestamptz"
	case lake.Hash:
		return "fixed[32]"
	}
	if precision, scale, ok := t.Decimal(); ok {
		return fmt.Sprintf("decimal(%d, %d)", precision, scale)
	}
	return "string"
}

// schemaOf returns the table's schema as JSON, with or without what each column means.
func schemaOf(columns []lake.Column, docs bool) (json.RawMessage, error) {
	schema := schemaJSON{Type: "struct", ID: schemaID}
	for i := range columns {
		c := &columns[i]
		field := schemaField{ID: c.Number, Name: c.Name, Required: c.NotNull, Type: icebergType(c.Type)}
		if docs {
			field.Doc = c.Doc
		}
		schema.Fields = append(schema.Fields, field)
	}
	return json.Marshal(schema)
}

// milliseconds returns the first whole millisecond at or after an instant: the format has no finer ones, and a snapshot must
// not seem to be known before it was.
func milliseconds(i lake.Instant) int64 { return (i.UnixMicro() + 999) / 1000 }

// metadata returns the bytes of the table's metadata with the snapshots of a state. first is the hash of the lake's first
// commit.
func (t Table) metadata(root, first string, s *tableState, stateKey string) ([]byte, error) {
	columns := lake.TableColumns(t.source)
	schema, err := schemaOf(columns, t.Namespace == Current) // the others have the same columns
	if err != nil {
		return nil, err
	}
	newest := s.Snapshots[len(s.Snapshots)-1]
	m := tableMetadata{
		FormatVersion: 2, UUID: uuid.NewSHA1(uuid.NameSpaceURL, []byte(first+"/"+t.String())).String(),
		Location: location(root, t.folder()), LastSequence: manifest.Sequence, LastUpdated: milliseconds(newest.KnownAt),
		CurrentSchema: schemaID, Schemas: []json.RawMessage{schema}, Specs: []partitionSpec{{Fields: []struct{}{}}}, LastPartition: 999,
		Orders:          []sortOrder{{Fields: []struct{}{}}},
		Properties:      map[string]string{"gc.enabled": "false", stateProperty: stateKey},
		CurrentSnapshot: newest.Commit, Refs: map[string]ref{"main": {newest.Commit, "branch"}}, MetadataLog: []struct{}{},
	}
	m.Location = m.Location[:len(m.Location)-1]
	for i := range columns {
		m.LastColumn = max(m.LastColumn, columns[i].Number)
	}
	parent := int64(0)
	for i := range s.Snapshots {
		kept := &s.Snapshots[i]
		m.Snapshots = append(m.Snapshots, snapshotEntry{
			ID: kept.Commit, Parent: parent, Sequence: manifest.Sequence, Time: milliseconds(kept.KnownAt), List: location(root, kept.List.Key), Schema: schemaID,
			Summary: map[string]string{
				"operation": "overwrite", knownAtProperty: strconv.FormatInt(kept.KnownAt.UnixMicro(), 10), hashProperty: kept.SHA256[:min(hashDigits, len(kept.SHA256))],
			},
		})
		m.Log = append(m.Log, logEntry{milliseconds(kept.KnownAt), kept.Commit})
		parent = kept.Commit
	}
	return json.Marshal(&m)
}
