package state

import (
	"strings"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"dealflow/schemas/api"
	"dealflow/schemas/lake"
)

// Observed finds when the newest version of each deal was observed. It is not safe for concurrent use.
type Observed map[api.Feed]map[int64]time.Time

// ObservedColumns returns the columns of deal_versions that the functions of Observed.Adder read. The caller owns the slice.
func ObservedColumns() []string {
	return []string{"service", "market", "kind", "deal_id", "known_at", "observed_at"}
}

// Adder returns a function that adds rows of deal_versions with ObservedColumns, in any order, except those that became known
// at an instant or before. Its error is always nil.
func (o Observed) Adder(after lake.Instant) func(arrow.Record) error {
	return func(rec arrow.Record) error {
		text := func(i, row int) string { return strings.Clone(rec.Column(i).(*array.String).Value(row)) }
		micros := func(i, row int) int64 { return int64(rec.Column(i).(*array.Timestamp).Value(row)) }
		for row := range int(rec.NumRows()) {
			if micros(4, row) <= after.UnixMicro() {
				continue
			}
			feed := api.Feed{Service: api.Service(text(0, row)), Market: api.Market(text(1, row)), Kind: api.Kind(text(2, row))}
			if o[feed] == nil {
				o[feed] = map[int64]time.Time{}
			}
			id, observed := rec.Column(3).(*array.Int64).Value(row), time.UnixMicro(micros(5, row)).UTC()
			if observed.After(o[feed][id]) {
				o[feed][id] = observed
			}
		}
		return nil
	}
}
