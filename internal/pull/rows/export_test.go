package rows

import "dealflow/load/parquet"

// Group is the deals of a row group of the deals' own table, each with version 1.
type Group []int64

// NewEarlier returns an Earlier of row groups and notes. banks is what a second table has.
func NewEarlier(groups []Group, noted parquet.StretchNotes, banks []parquet.GroupDeals) *Earlier {
	e := &Earlier{starts: map[int64]int{}, noted: noted, tables: []earlierTable{{}, {deals: banks}}}
	for g, ids := range groups {
		var deals []version
		for _, id := range ids {
			deals = append(deals, version{id, 1})
		}
		e.deals = append(e.deals, deals)
		e.starts[ids[0]] = g
		e.tables[dealsTable].deals = append(e.tables[dealsTable].deals, parquet.GroupDeals{MinDealID: ids[0], MaxDealID: ids[len(ids)-1]})
	}
	return e
}

// Find returns the row groups, by table, of a stretch of deals; nil for none.
func (e *Earlier) Find(stretch []Deal) [][]int {
	if same := e.find(stretch); same != nil {
		return same.groups
	}
	return nil
}
