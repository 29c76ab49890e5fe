package manifest

import (
	"encoding/binary"
	"strconv"

	"github.com/hamba/avro/v2"
)

// The schemas of manifests and manifest lists, with the field ids of the Iceberg format, version 2. They leave out fields
// that are optional and that we have no values for.
const (
	entryText = `{"type":"record","name":"manifest_entry","fields":[` +
		`{"name":"status","type":"int","field-id":0},` +
		`{"name":"snapshot_id","type":["null","long"],"default":null,"field-id":1},` +
		`{"name":"sequence_number","type":["null","long"],"default":null,"field-id":3},` +
		`{"name":"file_sequence_number","type":["null","long"],"default":null,"field-id":4},` +
		`{"name":"data_file","field-id":2,"type":{"type":"record","name":"r2","fields":[` +
		`{"name":"content","type":"int","field-id":134},` +
		`{"name":"file_path","type":"string","field-id":100},` +
		`{"name":"file_format","type":"string","field-id":101},` +
		`{"name":"partition","type":{"type":"record","name":"r102","fields":[]},"field-id":102},` +
		`{"name":"record_count","type":"long","field-id":103},` +
		`{"name":"file_size_in_bytes","type":"long","field-id":104},` +
		`{"name":"lower_bounds","type":["null",{"type":"array","logicalType":"map","items":{"type":"record","name":"k126_v127","fields":[` +
		`{"name":"key","type":"int","field-id":126},{"name":"value","type":"bytes","field-id":127}]}}],"default":null,"field-id":125},` +
		`{"name":"upper_bounds","type":["null",{"type":"array","logicalType":"map","items":{"type":"record","name":"k129_v130","fields":[` +
		`{"name":"key","type":"int","field-id":129},{"name":"value","type":"bytes","field-id":130}]}}],"default":null,"field-id":128},` +
		`{"name":"sort_order_id","type":["null","int"],"default":null,"field-id":140},` +
		`{"name":"referenced_data_file","type":["null","string"],"default":null,"field-id":143}` +
		`]}}]}`
	listText = `{"type":"record","name":"manifest_file","fields":[` +
		`{"name":"manifest_path","type":"string","field-id":500},` +
		`{"name":"manifest_length","type":"long","field-id":501},` +
		`{"name":"partition_spec_id","type":"int","field-id":502},` +
		`{"name":"content","type":"int","field-id":517},` +
		`{"name":"sequence_number","type":"long","field-id":515},` +
		`{"name":"min_sequence_number","type":"long","field-id":516},` +
		`{"name":"added_snapshot_id","type":"long","field-id":503},` +
		`{"name":"added_files_count","type":"int","field-id":504},` +
		`{"name":"existing_files_count","type":"int","field-id":505},` +
		`{"name":"deleted_files_count","type":"int","field-id":506},` +
		`{"name":"added_rows_count","type":"long","field-id":512},` +
		`{"name":"existing_rows_count","type":"long","field-id":513},` +
		`{"name":"deleted_rows_count","type":"long","field-id":514}` +
		`]}`
)

var (
	entrySchema = avro.MustParse(entryText)
	listSchema  = avro.MustParse(listText)
)

// Sequence is the sequence number of all files and deletes: so each delete applies to each data file that it names.
const Sequence = 1

// StatusExisting says that a file was added by an earlier snapshot.
const StatusExisting = 0

// The contents of manifests and of the files in them.
const (
	ContentData    = 0
	ContentDeletes = 1
)

// Entry is an entry of a manifest.
type Entry struct {
	Status   int32  `avro:"status"`
	Snapshot *int64 `avro:"snapshot_id"`
	Sequence *int64 `avro:"sequence_number"`
	FileSeq  *int64 `avro:"file_sequence_number"`
	File     File   `avro:"data_file"`
}

// File is what an entry says of a data file, or of a file of deletes.
type File struct {
	Content    int32    `avro:"content"`
	Path       string   `avro:"file_path"`
	Format     string   `avro:"file_format"`
	Partition  struct{} `avro:"partition"`
	Rows       int64    `avro:"record_count"`
	Bytes      int64    `avro:"file_size_in_bytes"`
	Lower      *[]Bound `avro:"lower_bounds"`
	Upper      *[]Bound `avro:"upper_bounds"`
	SortOrder  *int32   `avro:"sort_order_id"`
	Referenced *string  `avro:"referenced_data_file"`
}

// Bound is the least or greatest value of a column in a file, in the format's single-value form.
type Bound struct {
	Field int32  `avro:"key"`
	Value []byte `avro:"value"`
}

// ListEntry is an entry of a manifest list.
type ListEntry struct {
	Path         string `avro:"manifest_path"`
	Length       int64  `avro:"manifest_length"`
	Spec         int32  `avro:"partition_spec_id"`
	Content      int32  `avro:"content"`
	Sequence     int64  `avro:"sequence_number"`
	MinSequence  int64  `avro:"min_sequence_number"`
	AddedBy      int64  `avro:"added_snapshot_id"`
	AddedFiles   int32  `avro:"added_files_count"`
	Files        int32  `avro:"existing_files_count"`
	DeletedFiles int32  `avro:"deleted_files_count"`
	AddedRows    int64  `avro:"added_rows_count"`
	Rows         int64  `avro:"existing_rows_count"`
	DeletedRows  int64  `avro:"deleted_rows_count"`
}

// Long returns the single-value form of a number.
func Long(n int64) []byte { return binary.LittleEndian.AppendUint64(nil, uint64(n)) }

// Encode returns the bytes of a manifest of a table without partitions. content is a word: data or deletes. schema is the
// table's, as JSON.
func Encode(content, schema string, schemaID int, entries []Entry) ([]byte, error) {
	return avroFile(entrySchema, entryText, []pair{
		{"schema", schema}, {"schema-id", strconv.Itoa(schemaID)}, {"partition-spec", "[]"}, {"partition-spec-id", "0"},
		{"format-version", "2"}, {"content", content},
	}, entries)
}

// EncodeList returns the bytes of a manifest list.
func EncodeList(entries []ListEntry) ([]byte, error) {
	return avroFile(listSchema, listText, []pair{{"format-version", "2"}}, entries)
}
