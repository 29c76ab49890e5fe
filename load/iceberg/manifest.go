package iceberg

import (
	"cmp"

	"dealflow/load/iceberg/manifest"
	"dealflow/load/parquet"
	"dealflow/schemas/lake"
)

// tableSchema is what manifests say of a table's columns.
type tableSchema struct {
	text           string // the schema as JSON
	market, dealID int32  // field ids
}

func schemaOfTable(t Table) (*tableSchema, error) {
	columns := lake.TableColumns(t.source)
	text, err := schemaOf(columns, false)
	keys := lake.PickColumns(columns, "market", "deal_id")
	return &tableSchema{string(text), keys[0].Number, keys[1].Number}, err
}

// manifestEntries returns the entries of a block's manifest.
func (b *block) manifestEntries(root string, table *tableSchema) []manifest.Entry {
	entries := make([]manifest.Entry, len(b.Entries))
	one, order := int64(manifest.Sequence), int32(0)
	for i := range b.Entries {
		e := &b.Entries[i]
		data := location(root, e.Data)
		f := manifest.File{Content: manifest.ContentData, Path: data, Format: "PARQUET", Rows: e.Rows, Bytes: e.Bytes, SortOrder: &order}
		if b.Kind == dataFiles {
			f.Lower = &[]manifest.Bound{{Field: table.market, Value: []byte(e.Market)}, {Field: table.dealID, Value: manifest.Long(e.MinDealID)}}
			f.Upper = &[]manifest.Bound{{Field: table.market, Value: []byte(cmp.Or(e.MaxMarket, e.Market))}, {Field: table.dealID, Value: manifest.Long(e.MaxDealID)}}
		} else {
			path := []manifest.Bound{{Field: parquet.DeletePathField, Value: []byte(data)}}
			f.Content, f.Path, f.Bytes, f.SortOrder = manifest.ContentDeletes, location(root, e.Deletes.Key), e.Deletes.Bytes, nil
			f.Lower, f.Upper, f.Referenced = &path, &path, &data
		}
		entries[i] = manifest.Entry{Status: manifest.StatusExisting, Snapshot: &b.Lo, Sequence: &one, FileSeq: &one, File: f}
	}
	return entries
}

// manifest returns the bytes of a block's manifest.
func (b *block) manifest(root string, table *tableSchema) ([]byte, error) {
	content := "data"
	if b.Kind != dataFiles {
		content = "deletes"
	}
	return manifest.Encode(content, table.text, schemaID, b.manifestEntries(root, table))
}

// listEntries returns the entries of the manifest list of blocks.
func listEntries(root string, blocks []*block) []manifest.ListEntry {
	entries := make([]manifest.ListEntry, len(blocks))
	for i, b := range blocks {
		entries[i] = manifest.ListEntry{
			Path: location(root, b.Manifest.Key), Length: b.Manifest.Bytes, Content: manifest.ContentData, Sequence: manifest.Sequence, MinSequence: manifest.Sequence,
			AddedBy: b.Lo, Files: int32(len(b.Entries)), Rows: b.rows(),
		}
		if b.Kind != dataFiles {
			entries[i].Content = manifest.ContentDeletes
		}
	}
	return entries
}

// list returns the bytes of the manifest list of blocks.
func list(root string, blocks []*block) ([]byte, error) {
	return manifest.EncodeList(listEntries(root, blocks))
}
