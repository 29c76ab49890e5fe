package lake

import (
	"cmp"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"

	"dealflow/schemas/api"
)

// SchemaVersion is the version of the flattened tables' columns and of the rules that fill them. It rises when a column
// is added or gets a wider type, and when a rule or a parser changes. Files of every version stay readable.
const SchemaVersion = 9

// Table is one flattened table: its rows, and the source of each column.
type Table struct {
	Name    string
	Service api.Service
	Kind    api.Kind
	Rows    string   // pointer of the list or map whose entries are the rows; "" for one row per deal
	Map     bool     // Rows is a map: entries are sorted by key, as UTF-8 bytes
	Doc     string   // one sentence
	Columns []Column // documented columns: each has a pointer into the record
	Helpers []Column // helper columns: read from texts of Columns by parsers

	// Since is the schema version that added the table; 0 means the first. Older files of the deals' own table have no rows here.
	Since int

	// Identity names the columns that identify an entry of a list in the deal's next version. If several entries have
	// the same identity, they are matched in order: first with first. TrancheIdentity means the tranche that an entry is
	// or belongs to: by lineage in an expected deal, by id in a priced loan.
	Identity []string
}

// TrancheIdentity is the name in Identity for the tranche that an entry is, or belongs to.
const TrancheIdentity = "tranche"

// The key columns that flattened tables share. Their numbers are less than those of the documented columns, which begin
// at 11.
var (
	columnMarket         = Column{Number: 1, Name: "market", Type: Text, NotNull: true, Doc: "Market of the feed: IG, HY, EM, LL, CF or AF."}
	columnDealID         = Column{Number: 2, Name: "deal_id", Type: Int64, NotNull: true, Distinct: true, Doc: "The source's id of the deal; unique only within service, market and kind."}
	columnVersion        = Column{Number: 3, Name: "version", Type: Int32, NotNull: true, Doc: "Version of the deal: 1, 2, 3 and so on, in the order in which its contents became known."}
	columnTrancheOrdinal = Column{Number: 4, Name: "tranche_ordinal", Type: Int32, NotNull: true, Doc: "Place of the tranche in the deal's list, from 1."}
	columnOrdinal        = Column{Number: 5, Name: "ordinal", Type: Int32, NotNull: true, Doc: "Place of the entry in its list, from 1. Entries of a map are in the order of their keys."}
	columnSnapshotDate   = Column{Number: 6, Name: "snapshot_date", Type: Date, NotNull: true, Doc: "Day of the snapshot: the UTC date of the run's start."}
)

// Depth returns the number of ordinals in the table's key: 0 for one row per deal, 1 for a list of the deal, 2 for a
// list inside a list.
func (t *Table) Depth() int { return pointerDepth(t.Rows) }

// DealsTable returns the table with one row for each deal of the table's service and kind. It may be the table itself.
func (t *Table) DealsTable() *Table {
	i := slices.IndexFunc(tables, func(d *Table) bool { return d.Service == t.Service && d.Kind == t.Kind && d.Rows == "" })
	return tables[i]
}

// KeyColumns returns the columns of the table's key, in order. The caller owns the slice.
func (t *Table) KeyColumns() []Column {
	keys := []Column{columnMarket, columnDealID, columnVersion}
	switch t.Depth() {
	case 1:
		keys = append(keys, columnOrdinal)
	case 2:
		keys = append(keys, columnTrancheOrdinal, columnOrdinal)
	}
	return keys
}

// ValueColumns returns the columns that are not in the key: documented columns, then helpers. The caller owns the
// slice.
func (t *Table) ValueColumns() []Column { return slices.Concat(t.Columns, t.Helpers) }

// HistoryColumns returns the columns of the table's history files: key, documented columns, helpers.
func (t *Table) HistoryColumns() []Column { return append(t.KeyColumns(), t.ValueColumns()...) }

// SnapshotColumns returns the columns of the table's snapshot files: those of history, then
// snapshot_date.
func (t *Table) SnapshotColumns() []Column { return append(t.HistoryColumns(), columnSnapshotDate) }

// TableColumns returns the columns of a table, in the present schema version. name is as in commits
// ("history.bond_priced_deals"); nil if no table of Parquet files has it. The caller owns the slice.
func TableColumns(name string) []Column {
	if name == HistoryTable(DealVersions) {
		return DealVersionColumns()
	}
	for _, table := range tables {
		switch name {
		case HistoryTable(table.Name):
			return table.HistoryColumns()
		case SnapshotTable(table.Name):
			return table.SnapshotColumns()
		}
	}
	return nil
}

// ColumnsAt returns the columns that exist in a schema version, with the types that they had then. The caller owns the
// slice.
func ColumnsAt(columns []Column, schemaVersion int) []Column {
	columns = slices.DeleteFunc(slices.Clone(columns), func(c Column) bool { return cmp.Or(c.Since, 1) > schemaVersion })
	for i := range columns {
		columns[i].Type = columns[i].TypeAt(schemaVersion)
	}
	return columns
}

// OneSchemaVersion reports whether all files have the same schema version. No files have.
func OneSchemaVersion(files []File) bool {
	return !slices.ContainsFunc(files, func(f File) bool { return f.SchemaVersion != files[0].SchemaVersion })
}

// PickColumns returns the columns with the given names, in the order of the names. It panics for a name that no column
// has: names are constants of the caller.
func PickColumns(columns []Column, names ...string) []Column {
	picked := make([]Column, len(names))
	for i, name := range names {
		at := slices.IndexFunc(columns, func(c Column) bool { return c.Name == name })
		if at < 0 {
			panic("no column " + name)
		}
		picked[i] = columns[at]
	}
	return picked
}

// ColumnNames returns the names of columns, in order.
func ColumnNames(columns []Column) []string {
	names := make([]string, len(columns))
	for i := range columns {
		names[i] = columns[i].Name
	}
	return names
}

// ArrowSchema returns the Arrow schema of columns, with Parquet field ids.
func ArrowSchema(columns []Column) *arrow.Schema {
	fields := make([]arrow.Field, len(columns))
	for i := range columns {
		fields[i] = columns[i].arrowField()
	}
	return arrow.NewSchema(fields, nil)
}

// BatchSchema returns the Arrow schema of columns before they are written to a file. It is ArrowSchema, except that a
// text column has a dictionary if it has one in the file.
func BatchSchema(columns []Column) *arrow.Schema {
	fields := ArrowSchema(columns).Fields()
	for i := range columns {
		if columns[i].Type == Text && columns[i].HasDictionary() {
			fields[i].Type = &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: fields[i].Type}
		}
	}
	return arrow.NewSchema(fields, nil)
}

var tables = []*Table{
	bondPricedDeals(), bondPricedBanks(), bondPricedPriceEvolution(), bondPricedInvestorTypes(), bondPricedGeographies(),
	bondExpectedDeals(), bondExpectedRegions(), bondExpectedTranches(), bondExpectedDealHistory(),
	loanPricedDeals(), loanPricedSponsors(), loanPricedDealTotalCurrencies(), loanPricedTranches(), loanPricedTrancheBanks(),
	loanExpectedDeals(), loanExpectedSponsors(), loanExpectedTranches(),
}

// Tables returns the flattened tables in the order of testdata/tables.md: for each service and kind the deals
// first, then their children. The tables are shared: do not modify them. The caller owns the slice.
func Tables() []*Table { return append([]*Table(nil), tables...) }

// FeedTables returns the tables that a feed's deals flatten into, the deals' own table first.
func FeedTables(f api.Feed) []*Table {
	var selected []*Table
	for _, t := range tables {
		if t.Service == f.Service && t.Kind == f.Kind {
			selected = append(selected, t)
		}
	}
	return selected
}

// TableByName returns a flattened table; false if there is none with this name.
func TableByName(name string) (*Table, bool) {
	for _, t := range tables {
		if t.Name == name {
			return t, true
		}
	}
	return nil, false
}
