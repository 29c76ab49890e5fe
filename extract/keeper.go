package extract

import "time"

// overlap is how much older than a list's first entry the entry must be whose updatedSince link is
// kept: the API tells whole seconds, and "since" may exclude its own second.
const overlap = 2 * time.Second

// keeper finds the link to keep in a pass: that of the newest entry that is older than the first one
// by the overlap. Whatever is updated after the first page was read is newer than its first entry, so
// following the link finds it. That holds for lists in order of update, so the keeper looks at the
// order as well.
type keeper struct {
	dated time.Time // when the first page was answered, by the server's clock; zero where it does not tell
	first time.Time // of the first entry that has a readable link, but for those dated after the answer
	last  time.Time // of the entry before, on the same page
	keep  string    // absolute; "" until found
	rises bool      // an entry is newer than the one before it, by more than the overlap
}

// page begins a page. Between pages the list may have moved, so the order is judged within each.
func (k *keeper) page() { k.last = time.Time{} }

// consider looks at the next entry: its link and the instant in it, the zero time if there is none.
func (k *keeper) consider(at time.Time, href string, resolve func(string) (string, error)) (err error) {
	if at.IsZero() {
		return nil
	}
	if !k.last.IsZero() && at.After(k.last.Add(overlap)) {
		k.rises = true
	}
	k.last = at
	switch {
	case k.first.IsZero() && !k.dated.IsZero() && at.After(k.dated):
		// Not an instant of the past: as the first entry it would have a link kept that is too young.
	case k.first.IsZero():
		k.first = at
	case k.keep == "" && !at.After(k.first.Add(-overlap)):
		k.keep, err = resolve(href)
	}
	return err
}
