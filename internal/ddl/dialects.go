package ddl

import (
	"fmt"
	"strings"

	"dealflow/schemas/lake"
)

// dialect is the SQL of a warehouse. Formats have the places that their comments name.
type dialect struct {
	name    string
	types   map[lake.Type]string
	quote   func(name string) string
	columns func(name string) string // quotes in CREATE TABLE; nil: as quote
	null    string                   // of a column that may be NULL: the type with one %s; "" if the type stays as it is
	comment commentStyle
	key     string // a table's constraint, of its columns; "" for none
	suffix  string // after a table's columns, of the key's columns
	like    string // a table with the columns of another: new name, old name
	stage   string // puts the rows of a file into a table: the table, the file's URL, the columns, what is read for them
	files   string // the catalog and schema of tables over files, with a point at the end; "" if they are next to the other tables
	session string // a statement before a load; "" for none
	format  string // of exports that stage reads
	remove  removeStyle
	begin   string // of a transaction; "" if there is none over several statements
	commit  string
	iceberg *registration // nil if there is no such statement
	note    string        // what is particular about values
}

// registration is what registers an Iceberg table where it is. In statements {table} is its quoted name, {namespace} and
// {name} are the parts of that, {schema} is the quoted namespace, {folder} and {metadata} are addresses, {below} is the
// path of the metadata in the lake, {file} is its name.
type registration struct {
	schema string // creates a namespace, unless it exists
	table  string
	local  string // table for a lake in a folder, {folder} without its scheme; "" if it is the same
	remote bool   // the engine reads no folder
	note   string // what to keep in mind; "" for nothing
}

// commentStyle says where a comment is written.
type commentStyle int

const (
	commentOn      commentStyle = iota // COMMENT ON … IS '…', as a statement
	commentInline                      // … COMMENT '…', after the column and after the table
	commentOptions                     // OPTIONS (description = '…')
)

// removeStyle says how rows are deleted whose deals another table has.
type removeStyle int

const (
	removeUsing removeStyle = iota // DELETE … USING
	removeMerge                    // MERGE … WHEN MATCHED THEN DELETE
	removeIn                       // DELETE … WHERE (…) IN
)

func doubleQuotes(name string) string { return `"` + name + `"` }
func upperQuotes(name string) string  { return `"` + strings.ToUpper(name) + `"` }
func backticks(name string) string    { return "`" + name + "`" }

// typesOf returns the types in the order of the parameters; decimals are DECIMAL(p,s).
func typesOf(text, int32Type, int64Type, boolean, timestamp, hash string) map[lake.Type]string {
	return map[lake.Type]string{
		lake.Text: text, lake.Int32: int32Type, lake.Int64: int64Type, lake.Bool: boolean, lake.Date: "DATE", lake.Timestamp: timestamp, lake.Hash: hash,
		lake.Money: "DECIMAL(24,6)", lake.Rate: "DECIMAL(20,10)", lake.Price: "DECIMAL(12,6)",
	}
}

// with replaces some types.
func with(types, other map[lake.Type]string) map[lake.Type]string {
	for t, name := range other {
		types[t] = name
	}
	return types
}

// insertFrom is the stage of dialects that query a file.
func insertFrom(source string) string { return "INSERT INTO %[1]s (%[3]s) SELECT %[3]s FROM " + source }

var dialects = []dialect{
	{
		name: "snowflake", types: typesOf("VARCHAR", "INTEGER", "BIGINT", "BOOLEAN", "TIMESTAMP_TZ(6)", "BINARY(32)"), quote: upperQuotes, comment: commentInline,
		key: "PRIMARY KEY (%s)", like: "CREATE TABLE %s LIKE %s", format: "parquet", remove: removeMerge, begin: "BEGIN", commit: "COMMIT",
		stage: "COPY INTO %[1]s FROM '%[2]s' FILE_FORMAT = (TYPE = PARQUET USE_LOGICAL_TYPE = TRUE) MATCH_BY_COLUMN_NAME = CASE_INSENSITIVE FORCE = TRUE",
		iceberg: &registration{
			schema: "CREATE SCHEMA IF NOT EXISTS {schema}",
			table:  "CREATE ICEBERG TABLE {table} EXTERNAL_VOLUME = 'dealflow' CATALOG = 'dealflow' METADATA_FILE_PATH = '{below}'",
			remote: true,
			note:   "The external volume dealflow needs the lake's address as its STORAGE_BASE_URL: paths are below it.",
		},
		note: "Keys are not enforced. COPY INTO passes over files that it has loaded before, unless it has FORCE: a load must be repeatable.\n" +
			"It needs a stage or a STORAGE_INTEGRATION that may read the target.",
	},
	{
		name: "bigquery", types: with(typesOf("STRING", "INT64", "INT64", "BOOL", "TIMESTAMP", "BYTES(32)"),
			map[lake.Type]string{lake.Money: "NUMERIC(24,6)", lake.Rate: "BIGNUMERIC(20,10)", lake.Price: "NUMERIC(12,6)"}),
		quote: backticks, comment: commentOptions, key: "PRIMARY KEY (%s) NOT ENFORCED",
		like:   "CREATE TABLE %s AS SELECT * FROM %s WHERE false", // without NOT NULL: LOAD DATA takes all columns of Parquet for nullable
		format: "parquet", remove: removeMerge,
		begin: "BEGIN TRANSACTION", commit: "COMMIT TRANSACTION",
		stage: "LOAD DATA INTO %[1]s FROM FILES (format = 'PARQUET', uris = ['%[2]s'], decimal_target_types = ['NUMERIC', 'BIGNUMERIC'])",
		iceberg: &registration{
			schema: "CREATE SCHEMA IF NOT EXISTS {schema}",
			table:  "CREATE EXTERNAL TABLE {table} OPTIONS (format = 'ICEBERG', uris = ['{metadata}'])",
			remote: true,
		},
		note: "NUMERIC has nine digits after the point, so exchange rates, DECIMAL(20,10), are BIGNUMERIC. LOAD DATA reads gs:// only, or s3:// through BigQuery Omni.",
	},
	{
		name: "redshift", types: typesOf("VARCHAR(65535)", "INTEGER", "BIGINT", "BOOLEAN", "TIMESTAMP", "VARBYTE(32)"), quote: doubleQuotes,
		key: "PRIMARY KEY (%s)", like: "CREATE TABLE %s (LIKE %s)", format: "parquet", remove: removeUsing, begin: "BEGIN", commit: "COMMIT",
		stage: "COPY %[1]s FROM '%[2]s' IAM_ROLE DEFAULT FORMAT AS PARQUET",
		note:  "Keys are not enforced. Instants are TIMESTAMP in UTC, as COPY reads them from Parquet. COPY goes by the order of columns. A text of more than 65,535 bytes ends the load.",
	},
	{
		name: "athena", types: typesOf("string", "int", "bigint", "boolean", "timestamp", "binary"), quote: doubleQuotes, columns: backticks, comment: commentInline,
		suffix: "TBLPROPERTIES ('table_type' = 'ICEBERG')", like: "CREATE TABLE %s WITH (table_type = 'ICEBERG', is_external = false) AS SELECT * FROM %s WITH NO DATA",
		format: "parquet", remove: removeMerge,
		stage: insertFrom("%[1]s_file"),
		note:  "Each table needs a LOCATION of its own, unless the workgroup has one. Instants are timestamp in UTC. Each statement is a transaction of its own: repeat a load that ended early.",
	},
	{
		name: "trino", types: typesOf("VARCHAR", "INTEGER", "BIGINT", "BOOLEAN", "TIMESTAMP(6) WITH TIME ZONE", "VARBINARY"), quote: doubleQuotes, comment: commentInline,
		like: "CREATE TABLE %s (LIKE %s)", format: "parquet", remove: removeMerge,
		files: "hive.dealflow.", session: "SET SESSION hive.timestamp_precision = 'MICROSECONDS'",
		stage: "INSERT INTO %[1]s (%[3]s) SELECT %[4]s FROM hive.dealflow.%[1]s_file",
		iceberg: &registration{
			schema: "CREATE SCHEMA IF NOT EXISTS iceberg.{schema}",
			table:  "CALL iceberg.system.register_table(schema_name => '{namespace}', table_name => '{name}', table_location => '{folder}', metadata_file_name => '{file}')",
			note:   "A catalog named iceberg needs iceberg.register-table-procedure.enabled=true. Forget a table by unregister_table:\nDROP TABLE would delete the lake's metadata of it.",
		},
		note: "The statements are for the Iceberg connector. Each is a transaction of its own: repeat a load that ended early.\n" +
			"A load reads files through a catalog named hive, of the Hive connector, with the schema dealflow and hive.parquet.time-zone=UTC.",
	},
	{
		name: "databricks", types: typesOf("STRING", "INT", "BIGINT", "BOOLEAN", "TIMESTAMP", "BINARY"), quote: backticks, comment: commentInline,
		key: "PRIMARY KEY (%s)", like: "CREATE TABLE %s LIKE %s", format: "parquet", remove: removeMerge,
		stage: insertFrom("parquet.`%[2]s`"),
		note:  "Keys are not enforced. Each statement is a transaction of its own: repeat a load that ended early.",
	},
	{
		name: "clickhouse", types: with(typesOf("String", "Int32", "Int64", "Bool", "DateTime64(6, 'UTC')", "FixedString(32)"),
			map[lake.Type]string{lake.Date: "Date32", lake.Money: "Decimal(24, 6)", lake.Rate: "Decimal(20, 10)", lake.Price: "Decimal(12, 6)"}),
		quote: backticks, null: "Nullable(%s)", comment: commentInline, suffix: "ENGINE = MergeTree ORDER BY (%s)", like: "CREATE TABLE %s AS %s", format: "parquet", remove: removeIn,
		session: "SET insert_deduplicate = 0", // else a replicated table leaves out rows that it had before, also if they were deleted
		stage:   insertFrom("s3('%[2]s', 'Parquet')"),
		iceberg: &registration{
			schema: "CREATE DATABASE IF NOT EXISTS {schema}",
			table:  "CREATE TABLE {table} ENGINE = IcebergS3('{folder}')",
			local:  "CREATE TABLE {table} ENGINE = IcebergLocal('{folder}')",
		},
		note: "Keys only sort. Each statement is a transaction of its own: repeat a load that ended early. Files of a folder must be in user_files of the server.",
	},
	{
		name: "postgres", types: typesOf("TEXT", "INTEGER", "BIGINT", "BOOLEAN", "TIMESTAMPTZ", "BYTEA"), quote: doubleQuotes,
		key: "PRIMARY KEY (%s)", like: "CREATE TABLE %s AS SELECT * FROM %s WHERE false", format: "csv", remove: removeUsing, begin: "BEGIN", commit: "COMMIT",
		stage: "COPY %[1]s (%[3]s) FROM '%[2]s' (FORMAT csv, HEADER)",
		note:  "COPY reads files of the server; psql's \\copy reads yours. No text has U+0000, except in rows of files of schema version 2 or older that no replay has written again.",
	},
}

// Dialects returns the names of the dialects. The caller owns the slice.
func Dialects() []string {
	var names []string
	for i := range dialects {
		names = append(names, dialects[i].name)
	}
	return names
}

// find returns a dialect by its name.
func find(name string) (*dialect, error) {
	for i := range dialects {
		if dialects[i].name == name {
			return &dialects[i], nil
		}
	}
	return nil, fmt.Errorf("there is no dialect %q: want %s", name, strings.Join(Dialects(), ", "))
}
