package longlake

import (
	"time"

	"dealflow/schemas/api"
	"dealflow/serve"
)

// overlap is how much older than the list's first entry the entry is whose link a sync continues from.
const overlap = 2 * time.Second

// updatedSince returns the link from which a sync would continue after reading the complete list, relative to the base;
// "" if there is none.
func (f *feed) updatedSince(records []serve.Record) string {
	if !f.feed.HasUpdatedSince() {
		return ""
	}
	first, _ := f.newest(records, time.Time{})
	if first.IsZero() {
		return ""
	}
	_, link := f.newest(records, first.Add(-overlap))
	return f.base.Relative(link)
}

// newest returns the latest update of a deal with an updatedSince link, and the link. The update is not after bound,
// unless bound is zero. Of deals updated at the same instant the one with the greatest id comes first.
func (f *feed) newest(records []serve.Record, bound time.Time) (time.Time, string) {
	for {
		var found *serve.Record
		for i := range records {
			r := &records[i]
			if (bound.IsZero() || !r.UpdatedAt.After(bound)) && (found == nil || !r.UpdatedAt.Before(found.UpdatedAt)) {
				found = r
			}
		}
		if found == nil {
			return time.Time{}, ""
		}
		record, err := api.ReadRecordID(appendPayload(nil, found.Body), f.feed)
		if at, ok := api.UpdatedSinceTime(record.UpdatedSince); err == nil && ok {
			return at, record.UpdatedSince
		}
		bound = found.UpdatedAt.Add(-time.Nanosecond) // a deal without links: continue with older ones
	}
}
