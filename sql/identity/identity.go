// Package identity says which tranche of an expected deal is which, from version to version.
// Takes: the tranches of each version of a deal, in order. Gives: Lineage.Next, a number for each tranche, and what it was matched by.
// Keeps: a tranche's number depends only on this version and earlier ones.
// Fails: never.
// May change here: how tranches are matched, with derivationVersion of package sql.
package identity

import (
	"cmp"
	stdsql "database/sql"
)

// Tranche is one tranche of one version of an expected deal, with the values by which a later version's tranche is
// matched.
type Tranche struct {
	Ordinal    int32
	Name       string // as written
	NormalName string
	Currency   string
	FIGI       string
	PricedID   stdsql.NullInt64
}

// Known is a tranche of earlier versions, as it was in the latest version that contained it.
type Known struct {
	Tranche
	UID     int32
	Version int32 // the latest version that contained it
}

// Lineage matches the tranches of one deal from version to version. It works forward only: a tranche's uid depends only
// on this version and earlier ones.
type Lineage struct {
	Known   []Known // by UID, from 1 on without gaps
	Version int32   // the latest that Next was called with
}

// matchers are the ways to match a tranche with an earlier one, the most reliable first.
var matchers = []struct {
	name    string
	same    func(now *Tranche, was *Known) bool
	current bool // compares only with tranches of the version before
}{
	{name: "priced deal", same: func(now *Tranche, was *Known) bool { return now.PricedID.Valid && now.PricedID == was.PricedID }},
	{name: "figi", same: func(now *Tranche, was *Known) bool { return now.FIGI != "" && now.FIGI == was.FIGI }},
	{name: "name and currency", same: func(now *Tranche, was *Known) bool {
		return now.Name != "" && now.Name == was.Name && now.Currency == was.Currency
	}},
	{name: "name", same: func(now *Tranche, was *Known) bool { return now.Name != "" && now.Name == was.Name }},
	{name: "normal name and currency", same: func(now *Tranche, was *Known) bool {
		return now.NormalName != "" && now.NormalName == was.NormalName && now.Currency == was.Currency
	}},
	{name: "position", same: func(now *Tranche, was *Known) bool { return now.Ordinal == was.Ordinal }, current: true},
}

const matchedNew = "new"

// Match is the number of a tranche in its deal, and the matcher that found it.
type Match struct {
	UID int32
	By  string
}

// Next matches a version's tranches and returns a match for each, in the same order. Versions must be passed in
// ascending order.
func (l *Lineage) Next(version int32, tranches []Tranche) []Match {
	matches := make([]Match, len(tranches))
	taken := map[int32]bool{}
	for _, m := range matchers {
		for i := range tranches {
			if matches[i].UID != 0 {
				continue
			}
			best := l.best(&tranches[i], taken, m.same, m.current)
			if best != nil {
				matches[i] = Match{best.UID, m.name}
				taken[best.UID] = true
			}
		}
	}
	for i := range tranches {
		if matches[i].UID == 0 {
			matches[i] = Match{int32(len(l.Known) + 1), matchedNew}
			l.Known = append(l.Known, Known{UID: matches[i].UID})
		}
		l.Known[matches[i].UID-1] = Known{tranches[i], matches[i].UID, version}
	}
	l.Version = version
	return matches
}

// best returns the known tranche that same accepts and that is not in taken; nil if there is none. Of several it
// prefers the one seen last, then the one at the same position, then the one known first.
func (l *Lineage) best(now *Tranche, taken map[int32]bool, same func(*Tranche, *Known) bool, current bool) *Known {
	var best *Known
	for i := range l.Known {
		was := &l.Known[i]
		if taken[was.UID] || current && was.Version != l.Version || !same(now, was) {
			continue
		}
		if best == nil || cmp.Or(-cmp.Compare(was.Version, best.Version), compareBool(was.Ordinal == now.Ordinal, best.Ordinal == now.Ordinal)) < 0 {
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
