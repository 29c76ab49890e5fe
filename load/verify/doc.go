// Package verify checks a lake against its commits.
// Takes: a store. It takes no load.Lake, because a lake with a damaged log cannot be opened.
// Gives: a Report: what was checked, and each finding with what to do.
// Keeps: the lake as it is: it writes nothing. After damage it still checks everything that can be checked. A store
// that does not answer is an error and never a finding.
// Fails: ErrDamage together with the report; load.ErrNoLake, *lake.FormatError, the store's errors, the context's.
// May change here: a new check is a constant and its rule in checks.go; scripts compare the names of checks.
package verify
