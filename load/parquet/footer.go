package parquet

import (
	"context"
	"fmt"
	"strconv"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/parquet/file"
	"github.com/apache/arrow/go/v17/parquet/pqarrow"

	"dealflow/load/store"
	"dealflow/schemas/lake"
)

// Keys of the metadata that every file of a lake contains.
const (
	metaFormat = "dealflow.format_version"
	metaSchema = "dealflow.schema_version"
	metaTable  = "dealflow.table"
)

// metadataKeys are these keys in the order of a file.
var metadataKeys = []string{metaFormat, metaSchema, metaTable}

// MetadataDifferences says how a file's metadata differs from what it must be in a lake of a format version. A file that
// was taken over from a lake of an older format keeps its bytes, so it names that older version.
func MetadataDifferences(got map[string]string, f lake.File, format int) []string {
	want := Metadata(f)
	if version, err := strconv.Atoi(got[metaFormat]); err == nil && 1 <= version && version < format {
		want[metaFormat] = got[metaFormat]
	} else {
		want[metaFormat] = strconv.Itoa(format)
	}
	var found []string
	for _, key := range metadataKeys {
		if got[key] != want[key] {
			found = append(found, fmt.Sprintf("metadata: %s is %q, want %q", key, got[key], want[key]))
		}
	}
	return found
}

// Metadata returns the metadata, by key, of a file that this program writes.
func Metadata(f lake.File) map[string]string {
	return map[string]string{metaFormat: strconv.Itoa(lake.FormatVersion), metaSchema: strconv.Itoa(f.SchemaVersion), metaTable: f.Table}
}

// Footer is the content of a Parquet file's footer.
type Footer struct {
	Rows     int64
	Schema   *arrow.Schema
	Metadata map[string]string
}

// ReadFooter reads a file's footer and nothing else. The library panics on some damaged footers; here that is an error.
func ReadFooter(ctx context.Context, s store.Store, key string) (footer *Footer, err error) {
	r, err := store.OpenAt(ctx, s, key)
	if err != nil {
		return nil, err
	}
	defer r.Close() // read-only: a failing close loses nothing
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the Parquet footer is not valid: %v", p)
		}
	}()
	pf, err := file.NewParquetReader(r)
	if err != nil {
		return nil, err
	}
	meta := pf.MetaData()
	footer = &Footer{Rows: meta.GetNumRows(), Metadata: map[string]string{}}
	for _, pair := range meta.KeyValueMetadata() {
		footer.Metadata[pair.Key] = pair.GetValue()
	}
	var inGroups int64
	for i := range pf.NumRowGroups() {
		inGroups += meta.RowGroup(i).NumRows()
	}
	if inGroups != footer.Rows {
		return nil, fmt.Errorf("the Parquet footer has %d rows, but its row groups have %d", footer.Rows, inGroups)
	}
	footer.Schema, err = pqarrow.FromParquet(meta.Schema, &pqarrow.ArrowReadProperties{}, nil)
	return footer, err
}
