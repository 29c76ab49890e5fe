package sql

import (
	"cmp"
	stdsql "database/sql"
)

// tranche is one tranche of one version of an expected deal, with the values by which a later version's tranche is
// matched.
type tranche struct {
	ordinal    int32
	name       string // as written
	normalName string
	currency   string
	figi       string
	pricedID   stdsql.NullInt64
}

// known is a tranche of earlier versions, as it was in the latest version that contained it.
type known struct {
	tranche
	uid     int32
	version int32 // the latest version that contained it
}

// lineage matches the tranches of one deal from version to version. It works forward only: a tranche's uid depends only
// on this version and earlier ones.
type lineage struct {
	known   []known
	version int32 // the latest that next was called with
}

// matchers are the ways to match a tranche with an earlier one, the most reliable first.
var matchers = []struct {
	name    string
	same    func(now *tranche, was *known) bool
	current bool // compares only with tranches of the version before
}{
	{name: "priced deal", same: func(now *tranche, was *known) bool { return now.pricedID.Valid && now.pricedID == was.pricedID }},
	{name: "figi", same: func(now *tranche, was *known) bool { return now.figi != "" && now.figi == was.figi }},
	{name: "name and currency", same: func(now *tranche, was *known) bool {
		return now.name != "" && now.name == was.name && now.currency == was.currency
	}},
	{name: "name", same: func(now *tranche, was *known) bool { return now.name != "" && now.name == was.name }},
	{name: "normal name and currency", same: func(now *tranche, was *known) bool {
		return now.normalName != "" && now.normalName == was.normalName && now.currency == was.currency
	}},
	{name: "position", same: func(now *tranche, was *known) bool { return now.ordinal == was.ordinal }, current: true},
}

const matchedNew = "new"

// match is the uid of a tranche, and the matcher that found it.
type match struct {
	uid int32
	by  string
}

// next matches a version's tranches and returns a match for each, in the same order. Versions must be passed in
// ascending order.
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

// best returns the known tranche that same accepts and that is not in taken; nil if there is none. Of several it
// prefers the one seen last, then the one at the same position, then the one known first.
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
