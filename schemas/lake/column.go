package lake

import (
	"strconv"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"

	"dealflow/schemas/api"
)

// Type is a column's logical type. Each has one Arrow type. There are no floats, nanoseconds, unsigned or nested types,
// so that the columns load into every warehouse.
type Type uint8

// The column types.
const (
	Text      Type = iota + 1 // UTF-8
	Int32                     // 32-bit integer
	Int64                     // 64-bit integer
	Bool                      // true or false
	Date                      // calendar day without a zone
	Timestamp                 // instant, microseconds, UTC
	Money                     // DECIMAL(24,6)
	Rate                      // DECIMAL(20,10), exchange rates
	Price                     // DECIMAL(12,6), prices and percentages
	Hash                      // 32 bytes, SHA-256
)

// Decimal returns a decimal type's precision and scale in digits; ok is false for the other types.
func (t Type) Decimal() (precision, scale int32, ok bool) {
	switch t {
	case Money:
		return 24, 6, true
	case Rate:
		return 20, 10, true
	case Price:
		return 12, 6, true
	}
	return 0, 0, false
}

// Arrow returns the Arrow type of the column.
func (t Type) Arrow() arrow.DataType {
	switch t {
	case Int32:
		return arrow.PrimitiveTypes.Int32
	case Int64:
		return arrow.PrimitiveTypes.Int64
	case Bool:
		return arrow.FixedWidthTypes.Boolean
	case Date:
		return arrow.FixedWidthTypes.Date32
	case Timestamp:
		return &arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: "UTC"}
	case Hash:
		return &arrow.FixedSizeBinaryType{ByteWidth: 32}
	}
	if precision, scale, ok := t.Decimal(); ok {
		return &arrow.Decimal128Type{Precision: precision, Scale: scale}
	}
	return arrow.BinaryTypes.String
}

// SQL returns the name of the type in DuckDB.
func (t Type) SQL() string {
	switch t {
	case Int32:
		return "INTEGER"
	case Int64:
		return "BIGINT"
	case Bool:
		return "BOOLEAN"
	case Date:
		return "DATE"
	case Timestamp:
		return "TIMESTAMPTZ"
	case Hash:
		return "BLOB"
	}
	if precision, scale, ok := t.Decimal(); ok {
		return "DECIMAL(" + strconv.Itoa(int(precision)) + "," + strconv.Itoa(int(scale)) + ")"
	}
	return "VARCHAR"
}

// Part is the part of the value at a column's pointer that the column contains.
type Part uint8

// The parts.
const (
	Value  Part = iota // the value itself
	Key                // the name of the member, for a map entry
	Href               // a link, relative to the API's base URL
	HrefID             // the number at the end of a link's path
)

// Column is one column of a table, as data. The zero value of an optional field means "none".
type Column struct {
	Number  int32  // Parquet field id: unique in its table, never reused, never changed
	Name    string // snake_case; never changes
	Type    Type
	NotNull bool   // keys only: every documented column may be NULL
	Pointer string // JSON pointer of the value in the record, "*" for a list or map entry; "" for keys
	Part    Part
	Unit    string
	Doc     string // what the value is, in one or two sentences
	// Distinct says that hardly any value repeats: files contain the values without a dictionary.
	Distinct bool

	// Markets whose schema has the field; nil: all markets of the table. A value in another market fills the column, and
	// is drift.
	Markets []api.Market
	// Allowed lists the values that schemas/api/openapi.yaml allows, by market. The entry of the empty market is for all
	// markets without their own. nil: any value.
	Allowed map[api.Market][]string
	// Since is the schema version that added the column; 0 means the first.
	Since int
	// Earlier lists the types that the column had in files of older schema versions, oldest first. Each is a decimal of
	// the same scale with fewer digits than the next: a value of the earlier type is one of the present type, unchanged.
	Earlier []EarlierType
	// Parse says how a helper column is read from a text column. It is zero for other columns.
	Parse Parse
}

// EarlierType is a type that a column had in files up to a schema version. A value that did not fit it is NULL there.
type EarlierType struct {
	Until int // the last schema version whose files have the type
	Type  Type
}

// TypeAt returns the column's type in files of a schema version.
func (c *Column) TypeAt(schemaVersion int) Type {
	for _, earlier := range c.Earlier {
		if schemaVersion <= earlier.Until {
			return earlier.Type
		}
	}
	return c.Type
}

// HasDictionary reports whether a file contains each value once, and the rows refer to it by number.
func (c *Column) HasDictionary() bool { return !c.Distinct && c.Type != Bool }

// In reports whether the market's schema has the column.
func (c *Column) In(m api.Market) bool {
	if c.Markets == nil {
		return true
	}
	for _, have := range c.Markets {
		if have == m {
			return true
		}
	}
	return false
}

// AllowedIn returns the values that the column may have in a market; nil: any value. The slice is shared: do not modify
// it.
func (c *Column) AllowedIn(m api.Market) []string {
	if values, ok := c.Allowed[m]; ok {
		return values
	}
	return c.Allowed[""]
}

// fieldIDKey is the Arrow field metadata that the Parquet writer turns into the Parquet field id.
const fieldIDKey = "PARQUET:field_id"

func (c *Column) arrowField() arrow.Field {
	return arrow.Field{
		Name: c.Name, Type: c.Type.Arrow(), Nullable: !c.NotNull,
		Metadata: arrow.NewMetadata([]string{fieldIDKey}, []string{strconv.Itoa(int(c.Number))}),
	}
}

// Short declarations shared by the tables' files.
var (
	emOnly      = []api.Market{api.EM}
	igAndHY     = []api.Market{api.IG, api.HY}
	loanRegions = []string{"LATAM", "CEEMEA", "Western Europe", "Asia Pacific", "North America"}
)

func everywhere(values ...string) map[api.Market][]string {
	return map[api.Market][]string{"": values}
}

// pointerDepth returns the number of lists and maps in a pointer.
func pointerDepth(pointer string) int { return strings.Count(pointer, "*") }
