// Package longlake builds a lake with many years of history, for tests and benchmarks that need one as large and as old
// as a real one. Fifteen years of twelve feeds take minutes, because nothing goes over HTTP.
//
// Takes: a Config: a seed, the number of years, and the share of the real numbers of deals.
// Gives: Build, which writes such a lake into a folder; Open, which builds each lake once on a machine and returns
// its folder; Clone, a copy for tests that write; Nights, the nights of a lake; NewMarket, the market from which it was
// built.
// Keeps: transform and load themselves decide versions, flatten rows and commit files, in the order of a real run,
// with the instants of a virtual clock. Equal configurations give equal bytes of every object. A lake from Open is
// shared: tests only read it. Imported by tests only; internal/arch checks it.
// Fails: Build with an error; Open and Clone through testing.TB.
// May change here: anything. If the bytes of a lake change, raise builderVersion: then Open builds it again.
//
// Differences from a lake that runs have filled: the market is read directly, so a feed's run counts no pages,
// requests, bytes or time. A deal is in the lake from its first night on, even if the list omits it that night. Most
// nights have no snapshot, because each is a copy of all deals (see Config.SnapshotMonths): the lake looks as if they
// had expired. The lake has no catalog; a test that needs one builds it.
//
// In full size, with all the defaults, a lake has 243 nights and some 120,000 priced deals. BenchmarkBuild reports how
// long the build takes and how large the lake is.
package longlake
