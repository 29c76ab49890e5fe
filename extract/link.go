package extract

import "time"

// overlap is how much older than the list's first entry the entry must be whose updatedSince link we keep. The API's
// instants have whole seconds, and "since" may exclude its own second.
const overlap = 2 * time.Second

// linkTracker finds the link to keep from a scan: that of the newest entry that is older than the first entry by the
// overlap. An update after the first page was read is newer than its first entry, so a sweep from the link finds it.
// This holds only for lists in order of update, so the tracker checks the order, too.
type linkTracker struct {
	dated     time.Time // when the first page was answered, by the server's clock; zero if unknown
	first     time.Time // instant of the first entry with a readable link, except entries dated after the answer
	last      time.Time // instant of the previous entry on the same page
	keep      string    // the link, absolute; "" until found
	unordered bool      // an entry is newer than the one before it, by more than the overlap
}

// startPage begins a page. The list may change between pages, so the order is checked within each page only.
func (k *linkTracker) startPage() { k.last = time.Time{} }

// consider adds the next entry: its link, and the instant in the link or the zero time.
func (k *linkTracker) consider(updated time.Time, href string, resolve func(string) (string, error)) (err error) {
	if updated.IsZero() {
		return nil
	}
	if !k.last.IsZero() && updated.After(k.last.Add(overlap)) {
		k.unordered = true
	}
	k.last = updated
	switch {
	case k.first.IsZero() && !k.dated.IsZero() && updated.After(k.dated):
		// An instant in the future must not be the first: the kept link would be too new.
	case k.first.IsZero():
		k.first = updated
	case k.keep == "" && !updated.After(k.first.Add(-overlap)):
		k.keep, err = resolve(href)
	}
	return err
}
