package sql

import (
	"cmp"
	stdsql "database/sql"
)

// tranche is one tranche of one version of an expected deal, with what it may be known by later.
type tranche struct {
	ordinal    int32
	name       string // as written
	normalName string
	currency   string
	figi       string
	pricedID   stdsql.NullInt64
}

// known is a tranche of earlier versions of a deal, as it was when last seen.
type known struct {
	tranche
	uid     int32
	version int32 // in which it was last seen
}

// lineage follows the tranches of one deal from version to version: forward, so that what a tranche is
// called in one version hangs on that and earlier versions alone.
type lineage struct {
	known   []known
	version int32 // the newest one
}

// matchers are the ways in which a tranche is known again, the surest first.
var matchers = []struct {
	name    string
	same    func(now *tranche, was *known) bool
	current bool // only tranches of the version before are looked at
}{
	{name: "priced deal", same: func(now *tranche, was *known) bool { return now.pricedID.Valid && now.pricedID == was.pricedID }},
	{name: "figi", same: func(now *tranche, was *known) bool { return now.figi != "" && now.figi == was.figi }},
	{name: "name", same: func(now *tranche, was *known) bool { return now.name != "" && now.name == was.name }},
	{name: "normal name and currency", same: func(now *tranche, was *known) bool {
		return now.normalName != "" && now.normalName == was.normalName && now.currency == was.currency
	}},
	{name: "position", same: func(now *tranche, was *known) bool { return now.ordinal == was.ordinal }, current: true},
}

const matchedNew = "new"

// match is what a tranche of a version was found to be.
type match struct {
	uid int32
	by  string
}

// next takes in a version's tranches, in their order, and says which each is.
func (l *lineage) next(version int32, tranches []tranche) []match {
	matches := make([]match, len(tranches))
	taken := map[int32]bool{}
	for _, m := range matchers {
		for i := range tranches {
			if matches[i].uid != 0 {
				continue
			}
			best := l.best(&tranches[i], taken, m.same, m.current)
			if best != nil {
				matches[i] = match{best.uid, m.name}
				taken[best.uid] = true
			}
		}
	}
	for i := range tranches {
		if matches[i].uid == 0 {
			matches[i] = match{int32(len(l.known) + 1), matchedNew}
			l.known = append(l.known, known{uid: matches[i].uid})
		}
		l.known[matches[i].uid-1] = known{tranches[i], matches[i].uid, version}
	}
	l.version = version
	return matches
}

// best finds, among the tranches that are not taken, the one that is the same: seen last, standing at the
// same place, first known; in this order.
func (l *lineage) best(now *tranche, taken map[int32]bool, same func(*tranche, *known) bool, current bool) *known {
	var best *known
	for i := range l.known {
		was := &l.known[i]
		if taken[was.uid] || current && was.version != l.version || !same(now, was) {
			continue
		}
		if best == nil || cmp.Or(-cmp.Compare(was.version, best.version), compareBool(was.ordinal == now.ordinal, best.ordinal == now.ordinal)) < 0 {
			best = was
		}
	}
	return best
}

// compareBool orders true before false.
func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}
