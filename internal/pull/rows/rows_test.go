package rows_test

import (
	"reflect"
	"testing"

	"dealflow/internal/pull/rows"
	"dealflow/load/parquet"
	"dealflow/schemas/lake"
)

// TestFind asks for stretches of deals in a snapshot with the stretches 1–4 (in two row groups), 5–6 and 7–9.
func TestFind(t *testing.T) {
	groups := []rows.Group{{1, 2}, {3, 4}, {5, 6}, {7, 8, 9}}
	none := parquet.StretchNote{Drift: []lake.Drift{}}
	notes := parquet.StretchNotes{1: none, 5: none, 7: none}
	banks := []parquet.GroupDeals{{MinDealID: 2, MaxDealID: 2}, {MinDealID: 5, MaxDealID: 6}, {MinDealID: 8, MaxDealID: 9}}
	deals := func(ids ...int64) (all []rows.Deal) {
		for _, id := range ids {
			all = append(all, rows.Deal{ID: id, Version: 1, Exact: true})
		}
		return all
	}
	second := deals(5, 6)
	second[1].Version = 2
	fresh := deals(5, 6)
	fresh[0].Fresh = true
	respelt := deals(5, 6)
	respelt[1].Exact = false
	for name, c := range map[string]struct {
		notes   parquet.StretchNotes
		banks   []parquet.GroupDeals
		stretch []rows.Deal
		want    [][]int
	}{
		"of two row groups":                 {notes, banks, deals(1, 2, 3, 4), [][]int{{0, 1}, {0}}},
		"of one":                            {notes, banks, deals(5, 6), [][]int{{2}, {1}}},
		"the last":                          {notes, banks, deals(7, 8, 9), [][]int{{3}, {2}}},
		"without banks":                     {notes, nil, deals(7, 8, 9), [][]int{{3}, nil}},
		"a deal is of another version":      {notes, banks, second, nil},
		"a deal is spelt otherwise":         {notes, banks, respelt, nil},
		"the note is of others":             {parquet.StretchNotes{1: none, 5: {Drift: none.Drift, Others: "some"}, 7: none}, banks, deals(5, 6), nil},
		"a deal is fresh":                   {notes, banks, fresh, nil},
		"a deal is new at the end":          {notes, banks, deals(7, 8, 9, 10), nil},
		"a deal is new at the beginning":    {notes, banks, deals(0, 1, 2, 3, 4), nil},
		"a deal is new within":              {notes, banks, deals(7, 8, 9)[:1:1], nil},
		"the last deal is gone":             {notes, banks, deals(7, 8), nil},
		"the first deal is gone":            {notes, banks, deals(6), nil},
		"a row group of a stretch":          {notes, banks, deals(1, 2), nil},
		"a row group within a stretch":      {notes, banks, deals(3, 4), nil},
		"two stretches":                     {notes, banks, deals(5, 6, 7, 8, 9), nil},
		"none":                              {notes, banks, nil, nil},
		"its drift is not noted":            {parquet.StretchNotes{1: none, 5: {}, 7: none}, banks, deals(5, 6), nil},
		"a row group of banks is of two":    {notes, []parquet.GroupDeals{{MinDealID: 4, MaxDealID: 5}}, deals(5, 6), nil},
		"a row group of banks is of others": {notes, []parquet.GroupDeals{{MinDealID: 6, MaxDealID: 7}}, deals(5, 6), nil},
	} {
		t.Run(name, func(t *testing.T) {
			if got := rows.NewEarlier(groups, c.notes, c.banks).Find(c.stretch); !reflect.DeepEqual(got, c.want) {
				t.Errorf("got the row groups %v, want %v", got, c.want)
			}
		})
	}
}
